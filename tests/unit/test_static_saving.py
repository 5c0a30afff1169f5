"""Accepting what cases cost: what reaches which file, what is kept, what is refused and said."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from candidates import DIRECT, GRAPH, OPERATOR
from costs import H100, H200, L4, check_of, cost_of, fit_of_device, kernel_of
from pytest_rmsperf.costs import StaticCost
from pytest_rmsperf.errors import BaselineError, RmsperfError
from pytest_rmsperf.judge.cost import CostLimits, judge_cost
from pytest_rmsperf.judge.policy import Status
from pytest_rmsperf.storing.static_saving import CostCandidate, save_costs
from pytest_rmsperf.storing.static_store import StaticStore

ARCH = "sm_90"
SAVE = "pytest --rmsperf-static --rmsperf-save"
SOUND = cost_of(fit_of_device(H100), fit_of_device(H200))
FEWER = fit_of_device(H200, blocks_per_sm=5)
COSTLIER = replace(SOUND, fits=(SOUND.fits[0], FEWER))
OTHER_TILE = (("tile", 8192), ("rows_per_launch", 16))
OTHER_PLAN = replace(SOUND, fits=tuple(replace(one, facts=OTHER_TILE) for one in SOUND.fits))
Candidates = Callable[..., CostCandidate]


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StaticStore:
    """An empty store."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return StaticStore(tmp_path / "baselines")


@pytest.fixture
def candidate(store: StaticStore) -> Candidates:
    """Judges the costs of one case, one per arch, against what is stored now."""

    def judged(
        *costs: StaticCost, violations: tuple[tuple[str, str], ...] = (), may_loosen: bool = False
    ) -> CostCandidate:
        case_id = costs[0].case_id
        operator = case_id.split("/", maxsplit=1)[0]
        found = {one.arch: store.read(one.arch, operator).get(case_id) for one in costs}
        verdict = judge_cost(
            case_id,
            [check_of(one, *violations) for one in costs],
            {arch: one for arch, one in found.items() if one is not None},
            CostLimits(),
        )
        return CostCandidate(case_id, operator, costs, verdict, may_loosen)

    return judged


@pytest.fixture
def full(store: StaticStore) -> StaticStore:
    """A store that holds GRAPH and DIRECT for sm_90, each on two devices."""
    store.write(ARCH, OPERATOR, {one: replace(SOUND, case_id=one) for one in (GRAPH, DIRECT)})
    return store


def of(store: StaticStore, case_id: str = GRAPH, arch: str = ARCH) -> StaticCost:
    return store.read(arch, OPERATOR)[case_id]


def file_of(store: StaticStore) -> Path:
    return store.path(ARCH, OPERATOR)


# ---- what is stored --------------------------------------------------------------------------


def test_first_costs_are_stored_and_the_file_is_named(
    store: StaticStore, candidate: Candidates
) -> None:
    lines = save_costs(store, [candidate(SOUND)])

    assert of(store) == SOUND
    assert lines == [f"saved 1 static baseline in {file_of(store)}"]


def test_saving_again_without_a_change_leaves_every_byte_and_is_one_line(
    full: StaticStore, candidate: Candidates
) -> None:
    before = file_of(full).read_bytes()

    lines = save_costs(full, [candidate(of(full, one)) for one in (GRAPH, DIRECT)])

    assert file_of(full).read_bytes() == before
    assert lines == [f"unchanged: 2 static baselines in {file_of(full)}"]


def test_order_in_which_devices_are_named_does_not_show_in_the_file(
    full: StaticStore, candidate: Candidates
) -> None:
    before = file_of(full).read_bytes()

    save_costs(full, [candidate(replace(SOUND, fits=SOUND.fits[::-1]))])

    assert file_of(full).read_bytes() == before


def test_each_arch_has_a_file_of_its_own(store: StaticStore, candidate: Candidates) -> None:
    ada = cost_of(fit_of_device(L4), arch="sm_89")

    lines = save_costs(store, [candidate(SOUND, ada)])

    assert (of(store), of(store, arch="sm_89")) == (SOUND, ada)
    assert lines[1] == f"saved 1 static baseline in {store.path('sm_89', OPERATOR)}"


def test_cases_that_were_not_looked_at_keep_their_costs(
    full: StaticStore, candidate: Candidates
) -> None:
    save_costs(full, [candidate(OTHER_PLAN)])

    assert (of(full), of(full, DIRECT)) == (OTHER_PLAN, replace(SOUND, case_id=DIRECT))


def test_nothing_to_save_is_nothing_to_say(store: StaticStore) -> None:
    assert save_costs(store, []) == []


# ---- what is said of it ----------------------------------------------------------------------


def test_changed_case_is_told_with_what_changed_and_the_others_are_counted(
    full: StaticStore, candidate: Candidates
) -> None:
    found = [candidate(OTHER_PLAN), candidate(of(full, DIRECT))]

    lines = save_costs(full, found)

    (finding,) = found[0].findings(Status.CHANGED)
    assert lines == [
        f"saved 1 static baseline in {file_of(full)}, 1 more unchanged",
        f"changed: {GRAPH}: {finding}",
    ]


def test_accepted_loss_is_stored_and_shown_as_loosened(
    full: StaticStore, candidate: Candidates
) -> None:
    lines = save_costs(full, [candidate(COSTLIER, may_loosen=True)])

    assert of(full) == COSTLIER
    assert lines[1].startswith(f"loosened: {GRAPH}: NVIDIA H200: 6 -> 5 blocks per SM of row")


def test_cases_that_lose_the_same_are_told_together(
    full: StaticStore, candidate: Candidates
) -> None:
    both = [replace(COSTLIER, case_id=one) for one in (GRAPH, DIRECT)]

    lines = save_costs(full, [candidate(one, may_loosen=True) for one in both])

    assert [line[: line.index(": NVIDIA")] for line in lines[1:]] == [
        f"loosened: {GRAPH} and 1 more"
    ]


# ---- devices that were not looked at ---------------------------------------------------------


def alone(*, registers: int = 40) -> StaticCost:
    """What GRAPH costs where an H100 alone is of interest."""
    return cost_of(fit_of_device(H100), kernels=[kernel_of(registers=registers)])


def test_plan_on_a_device_that_was_not_looked_at_stays_with_the_same_kernels(
    full: StaticStore, candidate: Candidates
) -> None:
    lines = save_costs(full, [candidate(alone())])

    assert of(full) == SOUND
    assert lines == [f"unchanged: 1 static baseline in {file_of(full)}"]


def test_dropped_plan_is_told_with_what_stores_it_again(
    full: StaticStore, candidate: Candidates
) -> None:
    lines = save_costs(full, [candidate(alone(registers=41))])

    assert of(full) == alone(registers=41)
    assert lines[-1] == (
        f"dropped: {H200} from 1 case in {file_of(full)}: it was not looked at, and the machine "
        "code is another; name it in --rmsperf-devices and save again"
    )


# ---- all or nothing --------------------------------------------------------------------------


def test_loss_is_refused_with_the_commands_that_accept_it_and_nothing_is_stored(
    full: StaticStore, candidate: Candidates
) -> None:
    before = file_of(full).read_bytes()
    sound = candidate(replace(OTHER_PLAN, case_id=DIRECT))

    with pytest.raises(RmsperfError) as caught:
        save_costs(full, [sound, candidate(COSTLIER)])

    lines = str(caught.value).split("\n")
    assert (lines[0], lines[1][: lines[1].index(" of row")], lines[2]) == (
        "costlier than what was accepted before: 1 case",
        f"  {GRAPH}: NVIDIA H200: 6 -> 5 blocks per SM",
        (
            f'name the case to accept it: {SAVE} -k "{GRAPH}"; or accept all with: {SAVE} '
            "--rmsperf-accept-slower"
        ),
    )
    assert file_of(full).read_bytes() == before


def test_violation_is_refused_even_where_losses_are_accepted(
    full: StaticStore, candidate: Candidates
) -> None:
    message = f"does not fit {H200}: 12 blocks too many (computed)\n  because    of a test"

    with pytest.raises(RmsperfError) as caught:
        save_costs(full, [candidate(SOUND, violations=((H200, message),), may_loosen=True)])

    assert str(caught.value).split("\n") == [
        "violated on a device of interest: 1 case",
        f"  {GRAPH}: {H200}: does not fit: 12 blocks too many (computed)",
        f"mend it, or leave the device out of --rmsperf-devices, then: {SAVE}",
    ]


def test_refusal_holds_every_reason(full: StaticStore, candidate: Candidates) -> None:
    broken = candidate(replace(SOUND, case_id=DIRECT), violations=((H200, "does not fit"),))

    with pytest.raises(RmsperfError) as caught:
        save_costs(full, [candidate(COSTLIER), broken])

    heads = [line.split(":")[0] for line in str(caught.value).split("\n")[::3]]
    assert heads == ["violated on a device of interest", "costlier than what was accepted before"]


def test_baseline_that_changed_while_this_run_compiled_is_not_overwritten(
    full: StaticStore, candidate: Candidates
) -> None:
    one = candidate(SOUND)
    full.write(ARCH, OPERATOR, {GRAPH: OTHER_PLAN})

    with pytest.raises(RmsperfError, match=f"of {GRAPH} for sm_90 was changed by another run"):
        save_costs(full, [one])

    assert of(full) == OTHER_PLAN


def test_no_arch_is_stored_where_the_file_of_another_cannot_be_read(
    full: StaticStore, candidate: Candidates
) -> None:
    before = file_of(full).read_bytes()
    both = candidate(OTHER_PLAN, cost_of(fit_of_device(L4), arch="sm_89"))
    full.path("sm_89", OPERATOR).parent.mkdir()
    full.path("sm_89", OPERATOR).write_text("{", encoding="utf-8")

    with pytest.raises(BaselineError, match="cannot read baseline"):
        save_costs(full, [both])

    assert file_of(full).read_bytes() == before
