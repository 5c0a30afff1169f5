"""Giving stored cases another name, so that a renamed variant keeps its history.

Only keys change: figures, notes, anchors and noise stay as they are. It needs no GPU.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher, get_close_matches
from pathlib import Path

from pytest_rmsperf.errors import SettingError
from pytest_rmsperf.protocol import Cache
from pytest_rmsperf.storing.baselines import BaselineStore
from pytest_rmsperf.storing.case_store import CASE_ID, Entry, apply
from pytest_rmsperf.storing.static_store import SAVE, StaticStore

OPTION = "--rmsperf-rename"
VARIANT = re.compile(r"\w+/\w+", re.ASCII)
RULE = "operator/variant or a whole case id, operator/variant-submission/problem"
# A cost can be had again, so the one under the old name may go; a latency's history cannot.
_OR = {
    BaselineStore: "",
    StaticStore: f", or let stale costs go first: {SAVE}",
}


@dataclass(frozen=True, slots=True)
class Holding:
    """One file: where it is, and the ids of the cases in it."""

    store: BaselineStore | StaticStore
    target: str
    operator: str
    case_ids: tuple[str, ...]

    @property
    def path(self) -> Path:
        return self.store.path(self.target, self.operator)


def parse_pair(text: str) -> tuple[str, str]:
    """Read `OLD=NEW`; SettingError says what is wrong with it.

    Both are whole case ids, or both `operator/variant`, which means every submission and problem of
    the variant. They belong to one operator.
    """
    old, equals, new = (part.strip() for part in text.partition("="))
    if not equals or "=" in new:
        raise _bad(text, "is not OLD=NEW")
    for one in (old, new):
        if not (CASE_ID.fullmatch(one) or VARIANT.fullmatch(one)):
            raise _bad(text, f"{one!r} is neither {RULE}")
    if old.count("/") != new.count("/"):
        raise _bad(text, "one side is a whole case id and the other is not")
    if old.split("/")[0] != new.split("/")[0]:
        raise _bad(
            text,
            "the operators differ: an operator's cases lie in a file of its own; rename the file "
            "and the operator in its case ids, or measure anew with pytest --rmsperf-save",
        )
    if old == new:
        raise _bad(text, "both names are the same")
    return old, new


def rename_cases(folder: Path, pairs: Sequence[tuple[str, str]]) -> list[str]:
    """Rename stored cases everywhere, and return what was done.

    That is on all devices, with a warm and with a cold cache, and in the static baselines of all
    archs. All pairs are applied at once, so two cases can change names with each other. Raises
    SettingError for an OLD that is stored nowhere, for two pairs that speak of one case, and for a
    NEW that is taken, and BaselineError for a file that cannot be read or written. Then nothing is
    renamed.
    """
    operators = {old.split("/")[0] for old, _ in pairs}
    holdings = [one for operator in sorted(operators) for one in _holdings(folder, operator)]
    _refuse_unknown(pairs, holdings)
    concerned = [(one, names) for one in holdings if (names := _new_names(pairs, one.case_ids))]
    apply([one.store.edit(one.target, one.operator, _Renaming(pairs, one)) for one, _ in concerned])
    return [
        f"renamed: {old} -> {new} in {one.path}"
        for one, names in concerned
        for old, new in names.items()
    ]


def likely_renames(stale: Iterable[str], missing: Iterable[str]) -> list[tuple[str, str]]:
    """Return pairs of ids that may be one case under an old and a new name.

    Cases whose variant alone differs, by the greatest likeness of the names. Empty unless every
    stale case finds a partner of its own among as many missing ones.
    """
    old_ids, new_ids = sorted(set(stale)), set(missing)
    if len(old_ids) != len(new_ids):
        return []
    variants = {variant_of(one) for one in new_ids}
    partners: dict[str, str] = {}  # of variants: all cases of one go the same way
    for old in sorted({variant_of(one) for one in old_ids}):
        fitting = [
            new
            for new in sorted(variants - set(partners.values()))
            if _rests(old, old_ids) == _rests(new, new_ids)
        ]
        if not fitting:
            return []
        partners[old] = max(fitting, key=lambda new: SequenceMatcher(None, old, new).ratio())
    return [(one, one.replace(variant_of(one), partners[variant_of(one)], 1)) for one in old_ids]


def variant_of(case_id: str) -> str:
    """Return the `operator/variant` of a case id."""
    return case_id.rsplit("/", 1)[0].rsplit("-", 1)[0]


@dataclass(frozen=True, slots=True)
class _Renaming:
    """The change of one file; cases that no pair speaks of stay."""

    pairs: Sequence[tuple[str, str]]
    holding: Holding

    def __call__(self, stored: dict[str, Entry]) -> dict[str, Entry]:
        names = _new_names(self.pairs, stored)
        _refuse_taken(names, stored, self.holding)
        renamed = {names.get(case_id, case_id): one for case_id, one in stored.items()}
        return {case_id: replace(one, case_id=case_id) for case_id, one in renamed.items()}


def _holdings(folder: Path, operator: str) -> list[Holding]:
    stores: list[BaselineStore | StaticStore] = [BaselineStore(folder, one) for one in Cache]
    stores.append(StaticStore(folder))
    return [
        Holding(store, target, operator, tuple(store.read(target, operator)))
        for store in stores
        for target in store.targets(operator)
    ]


def _new_names(pairs: Sequence[tuple[str, str]], cases: Iterable[str]) -> dict[str, str]:
    """Return old id -> new id of every case that a pair speaks of; SettingError where two do."""
    found: dict[str, str] = {}
    for old, new in pairs:
        for case_id in sorted(cases):
            if not _is_meant(old, case_id):
                continue
            if case_id in found:
                raise SettingError(f"{OPTION}={old}={new}: {case_id} is renamed twice")
            found[case_id] = new + case_id.removeprefix(old)
    return found


def _is_meant(old: str, case_id: str) -> bool:
    return case_id == old or case_id.startswith(f"{old}-")


def _refuse_unknown(pairs: Sequence[tuple[str, str]], holdings: Sequence[Holding]) -> None:
    stored = {case_id for one in holdings for case_id in one.case_ids}
    for old, new in pairs:
        if any(_is_meant(old, case_id) for case_id in stored):
            continue
        whole = old.count("/") > 1
        known = stored if whole else {variant_of(case_id) for case_id in stored}
        near = get_close_matches(old, sorted(known), n=3) or sorted(known)[:3]
        raise SettingError(
            f"{OPTION}={old}={new}: no stored case is called {old}; "
            + (f"there is {', '.join(near)}" if near else "its operator has no baselines")
        )


def _refuse_taken(names: Mapping[str, str], cases: Collection[str], holding: Holding) -> None:
    after = Counter(names.get(case_id, case_id) for case_id in cases)
    for old, new in names.items():
        if after[new] > 1:
            raise SettingError(
                f"{OPTION}={old}={new}: {new} is taken in {holding.path}, and its figures would be "
                f"lost; give the two different names{_OR[type(holding.store)]}"
            )


def _rests(variant: str, case_ids: Iterable[str]) -> set[str]:
    """Return the submissions and problems of a variant."""
    return {one.removeprefix(variant) for one in case_ids if variant_of(one) == variant}


def _bad(text: str, why: str) -> SettingError:
    return SettingError(f"{OPTION}={text}: {why}; write {OPTION}=OLD=NEW, both {RULE}")
