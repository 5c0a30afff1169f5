"""What the collected tests ask, and the selection of cases that answers them all."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pytest_rmsperf.campaign import Selection
from pytest_rmsperf.cases import Case
from pytest_rmsperf.errors import SettingError
from pytest_rmsperf.judge.ordering import Ordering

NUMERICS_FIXTURE = "rmsperf_numerics"
LATENCY_FIXTURE = "rmsperf_latency"
STATIC_FIXTURE = "rmsperf_static"


@dataclass(frozen=True, slots=True)
class Overrides:
    """What a test's marker says of its case: thresholds of its own, or why it is waived."""

    threshold: float | None = None  # percent
    floor: float | None = None  # microseconds
    completion_threshold: float | None = None  # percent
    waive: str | None = None

    @classmethod
    def of(cls, test: str, entries: dict[str, object]) -> Overrides:
        """Check a marker's keywords; SettingError names the test, the keyword and its value."""
        rules = {
            "threshold": "a percentage",
            "floor": "a time in microseconds",
            "completion_threshold": "a percentage",
        }
        for key, value in entries.items():
            if key == "waive":
                if not isinstance(value, str) or not value.strip():
                    raise _refusal(test, key, value, "a reason, as text that is not empty")
            elif key not in rules:
                known = ", ".join((*rules, "waive"))
                raise _refusal(test, key, value, f"known to the marker; it knows {known}")
            elif not _is_positive(value):
                raise _refusal(test, key, value, f"{rules[key]} above 0")
        return cls(**entries)  # type: ignore[arg-type]


def _is_positive(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return 0 < value < float("inf")


def _refusal(test: str, key: str, value: object, rule: str) -> SettingError:
    return SettingError(
        f"{test}: {key}={value!r} of the marker rmsperf must be {rule}; "
        f"correct @pytest.mark.rmsperf({key}=...)"
    )


@dataclass(frozen=True, slots=True)
class Question:
    """What one test asks: its case or its ordering, and the fixtures through which it asks."""

    case: Case | None
    fixtures: frozenset[str]
    ordering: Ordering | None = None
    test: str = ""
    overrides: Overrides = field(default_factory=Overrides)

    @property
    def asks_latency(self) -> bool:
        return self.case is not None and LATENCY_FIXTURE in self.fixtures

    @property
    def asks_static(self) -> bool:
        return self.case is not None and STATIC_FIXTURE in self.fixtures

    @property
    def cases(self) -> tuple[Case, ...]:
        """The cases this test needs."""
        ordered = () if self.ordering is None else (self.ordering.fast, self.ordering.slow)
        return ordered if self.case is None else (self.case, *ordered)


@dataclass(frozen=True, slots=True)
class Asked:
    """Everything that the tests of a run ask, added up.

    `with_static` are the ids of the cases whose static cost is judged for a test; `said` is what
    markers say of cases whose latency is asked for.
    """

    selection: Selection
    with_static: frozenset[str] = frozenset()
    orderings: tuple[Ordering, ...] = ()
    said: Mapping[str, Overrides] = field(default_factory=dict)

    @property
    def with_latency(self) -> frozenset[str]:
        return self.selection.with_latency


NOTHING = Asked(Selection((), frozenset(), frozenset()))


def asked_by(questions: Sequence[Question]) -> Asked:
    """Return what these tests ask.

    Raises SettingError when two operators give two different cases one id, and when two tests of
    one case say different things of it.
    """
    return Asked(
        selection=select(questions),
        with_static=_ids(one.case for one in questions if one.asks_static),
        orderings=orderings_of(questions),
        said=overrides_of(questions),
    )


def select(questions: Sequence[Question]) -> Selection:
    """Return the cases asked about, each once, and what is asked of them.

    Raises SettingError when two operators give two different cases one id: they would share a
    baseline.
    """
    cases = [case for one in questions for case in one.cases]
    _refuse_shared_ids(cases)
    asked = [one for one in questions if one.case is not None]
    return Selection(
        cases=tuple({one.id: one for one in cases}.values()),
        with_numerics=_ids(one.case for one in asked if NUMERICS_FIXTURE in one.fixtures),
        with_latency=_ids(one.case for one in asked if one.asks_latency),
        with_order=frozenset(
            case.id
            for one in questions
            if one.ordering is not None
            for case in (one.ordering.fast, one.ordering.slow)
        ),
    )


def overrides_of(questions: Iterable[Question]) -> dict[str, Overrides]:
    """Return what markers say of each case whose latency is asked for.

    Raises SettingError when two tests of one case say different things: it is judged once.
    """
    found: dict[str, tuple[Overrides, str]] = {}
    for one in questions:
        if one.case is None or not one.asks_latency:
            continue
        said, test = found.setdefault(one.case.id, (one.overrides, one.test))
        if said != one.overrides:
            raise SettingError(
                f"{one.test} and {test} give {one.case.id} different settings by their markers; "
                "a case is judged once: make @pytest.mark.rmsperf(...) of both the same"
            )
    return {case_id: said for case_id, (said, _) in found.items()}


def orderings_of(questions: Iterable[Question]) -> tuple[Ordering, ...]:
    """Return each ordering that some test states, once."""
    found = (one.ordering for one in questions)
    return tuple({one.id: one for one in found if one is not None}.values())


def is_named(case: Case, selector: str) -> bool:
    """Say whether the command line names this case, or its variant, and not one whose name is like.

    Names are whole words: the path `tests/row/` and the case `op/long_row-graph/1x4` name no `row`.
    """
    operator, variant, label = map(
        re.escape, (case.operator.name, case.variant.name, case.problem.label)
    )
    name = rf"({operator}/)?{variant}(-{case.submission.value}(/{label})?)?"
    return re.search(rf"(?<![\w/-]){name}(?![\w/-])", selector) is not None


def _ids(cases: Iterable[Case | None]) -> frozenset[str]:
    return frozenset(one.id for one in cases if one is not None)


def _refuse_shared_ids(cases: Iterable[Case]) -> None:
    folders: dict[str, Case] = {}
    for one in cases:
        other = folders.setdefault(one.id, one)
        if other.operator.folder.resolve() != one.operator.folder.resolve():
            raise SettingError(
                f"two operators have a case {one.id}: {other.operator.folder} and "
                f"{one.operator.folder}; rename one of the operators, for they share a baseline"
            )
