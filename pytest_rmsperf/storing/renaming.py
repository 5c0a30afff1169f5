"""Giving stored cases another name, so that a renamed variant keeps its history.

Only keys change: figures, notes, anchors and noise stay as they are. It needs no GPU.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher, get_close_matches
from pathlib import Path

from pytest_rmsperf.errors import SettingError
from pytest_rmsperf.protocol import Cache
from pytest_rmsperf.storing.baselines import CASE_ID, BaselineStore, Cases, Edit, apply

OPTION = "--rmsperf-rename"
VARIANT = re.compile(r"\w+/\w+", re.ASCII)
RULE = "operator/variant or a whole case id, operator/variant-submission/problem"


@dataclass(frozen=True, slots=True)
class Holding:
    """One baseline file: where it is, and the cases in it."""

    store: BaselineStore
    device_key: str
    operator: str
    cases: Cases


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
    """Rename stored cases on all devices, with a warm and with a cold cache; return what was done.

    All pairs are applied at once, so two cases can change names with each other. Raises
    SettingError for an OLD that is stored nowhere, for two pairs that speak of one case, and for a
    NEW that is taken, and BaselineError for a file that cannot be read or written. Then nothing is
    renamed.
    """
    operators = {old.split("/")[0] for old, _ in pairs}
    holdings = [one for operator in sorted(operators) for one in _holdings(folder, operator)]
    _refuse_unknown(pairs, holdings)
    edits: list[Edit] = []
    lines: list[str] = []
    for one in holdings:
        names = _new_names(pairs, one.cases)
        if not names:
            continue
        path = one.store.path(one.device_key, one.operator)
        edits.append(Edit(one.store, one.device_key, one.operator, _Renaming(pairs, path)))
        lines += [f"renamed: {old} -> {new} in {path}" for old, new in names.items()]
    apply(edits)
    return lines


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
    """The change of the file `path`; cases that no pair speaks of stay."""

    pairs: Sequence[tuple[str, str]]
    path: Path

    def __call__(self, stored: Cases) -> Cases:
        names = _new_names(self.pairs, stored)
        _refuse_taken(names, stored, self.path)
        renamed = {names.get(case_id, case_id): one for case_id, one in stored.items()}
        return {case_id: replace(one, case_id=case_id) for case_id, one in renamed.items()}


def _holdings(folder: Path, operator: str) -> list[Holding]:
    stores = [BaselineStore(folder, cache) for cache in Cache]
    return [
        Holding(store, device_key, operator, store.read(device_key, operator))
        for store in stores
        for device_key in store.devices(operator)
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
    stored = {case_id for one in holdings for case_id in one.cases}
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


def _refuse_taken(names: Mapping[str, str], cases: Cases, path: Path) -> None:
    after = Counter(names.get(case_id, case_id) for case_id in cases)
    for old, new in names.items():
        if after[new] > 1:
            raise SettingError(
                f"{OPTION}={old}={new}: {new} is taken in {path}, and its figures would be lost; "
                "give the two different names"
            )


def _rests(variant: str, case_ids: Iterable[str]) -> set[str]:
    """Return the submissions and problems of a variant."""
    return {one.removeprefix(variant) for one in case_ids if variant_of(one) == variant}


def _bad(text: str, why: str) -> SettingError:
    return SettingError(f"{OPTION}={text}: {why}; write {OPTION}=OLD=NEW, both {RULE}")
