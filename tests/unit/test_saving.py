"""Accepting measurements: what reaches which file, and what is said of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from candidates import (
    DEVICE,
    DIRECT,
    GRAPH,
    LIMITS,
    OPERATOR,
    RUN,
    THEN,
    candidate,
    measurement,
    stored,
)
from pytest_rmsperf import provenance
from pytest_rmsperf.errors import BaselineError, RmsperfError
from pytest_rmsperf.judge.comparability import incomparable
from pytest_rmsperf.judge.policy import Status
from pytest_rmsperf.judge.verdict import Round, judge
from pytest_rmsperf.measurement import Measurement, Noise
from pytest_rmsperf.protocol import Cache, Protocol
from pytest_rmsperf.storing.admission import Candidate, admitted
from pytest_rmsperf.storing.baselines import BaselineStore
from pytest_rmsperf.storing.saving import Rules, save_baselines

STRICT = Rules(accept_slower=False, accept_dirty=False, named=frozenset(), not_passed=0)
LENIENT = replace(STRICT, accept_slower=True)
OTHER = "rows/online-graph/16x1024"


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> BaselineStore:
    """An empty store."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return BaselineStore(tmp_path / "baselines")


@pytest.fixture
def full(store: BaselineStore) -> BaselineStore:
    """A store that holds GRAPH and DIRECT with 8 us of device time each."""
    store.write(DEVICE, OPERATOR, {one: replace(stored(), case_id=one) for one in (GRAPH, DIRECT)})
    return store


def of(store: BaselineStore, case_id: str = GRAPH) -> Measurement:
    return store.read(DEVICE, case_id.split("/", maxsplit=1)[0])[case_id]


# ---- what is stored --------------------------------------------------------------------------


def test_first_figures_are_stored_and_the_file_is_named(store: BaselineStore) -> None:
    one = candidate(None)

    lines = save_baselines(store, [one], STRICT, None)

    assert of(store) == admitted(one)
    assert lines == [f"saved 1 baseline in {store.path(DEVICE, OPERATOR)}"]


def test_unchanged_figures_are_refreshed(full: BaselineStore) -> None:
    save_baselines(full, [candidate(of(full), 8100)], STRICT, None)

    assert of(full).device_ns == 8100


def test_incomparable_figures_are_measured_anew(full: BaselineStore) -> None:
    old = replace(of(full), run=replace(RUN, protocol=Protocol(version=1)), note="kept")
    full.write(DEVICE, OPERATOR, {GRAPH: old})

    save_baselines(full, [candidate(old, 9000)], STRICT, None)

    assert (of(full).device_ns, of(full).run.protocol, of(full).note) == (9000, Protocol(), "kept")


def test_cases_that_were_not_measured_keep_their_figures(full: BaselineStore) -> None:
    before = of(full, DIRECT)

    save_baselines(full, [candidate(of(full), 8100)], STRICT, None)

    assert of(full, DIRECT) == before


def test_note_and_noise_outlive_a_save(full: BaselineStore) -> None:
    noise = Noise(12, 4100, 9000, 81_000, 260_000)
    old = replace(of(full), note="accepted with the wider tile", noise=noise)
    full.write(DEVICE, OPERATOR, {GRAPH: old})

    save_baselines(full, [candidate(old, 8100)], STRICT, None)

    assert (of(full).note, of(full).noise) == ("accepted with the wider tile", noise)


def test_operators_have_files_of_their_own(store: BaselineStore) -> None:
    lines = save_baselines(store, [candidate(None), candidate(None, case_id=OTHER)], STRICT, None)

    assert lines == [
        f"saved 1 baseline in {store.path(DEVICE, OPERATOR)}",
        f"saved 1 baseline in {store.path(DEVICE, 'rows')}",
    ]


def test_cold_figures_go_into_the_file_of_the_cold_protocol(store: BaselineStore) -> None:
    run = replace(RUN, protocol=Protocol(cache=Cache.COLD))

    save_baselines(
        BaselineStore(store.folder, Cache.COLD), [candidate(None, run=run)], STRICT, None
    )

    assert (store.folder / DEVICE / "softmax.cold.json").is_file()


def test_nothing_measured_is_nothing_to_say(store: BaselineStore) -> None:
    assert save_baselines(store, [], STRICT, None) == []


def test_saving_the_same_figures_again_leaves_every_byte(store: BaselineStore) -> None:
    save_baselines(store, [candidate(None)], STRICT, None)
    before = store.path(DEVICE, OPERATOR).read_bytes()

    save_baselines(store, [candidate(of(store))], STRICT, None)

    assert store.path(DEVICE, OPERATOR).read_bytes() == before


def test_saved_baseline_is_compared_with_the_next_run_and_unchanged(store: BaselineStore) -> None:
    save_baselines(store, [candidate(None)], STRICT, None)

    verdict = judge(GRAPH, [Round(measurement())], of(store), LIMITS)

    assert verdict.status is Status.UNCHANGED


def test_saved_baseline_is_no_yardstick_for_other_settings(store: BaselineStore) -> None:
    save_baselines(store, [candidate(None)], STRICT, None)
    other = measurement(run=replace(RUN, protocol=Protocol(blocks=5)))

    assert incomparable(other, of(store)) == "other protocol: blocks 15 -> 5"


# ---- gains and losses ------------------------------------------------------------------------


def test_repeated_gain_is_stored(full: BaselineStore) -> None:
    save_baselines(full, [candidate(of(full), 7200)], STRICT, None)

    assert of(full).device_ns == 7200


def test_gain_that_was_not_repeated_is_kept_back_and_said_so(full: BaselineStore) -> None:
    before = full.path(DEVICE, OPERATOR).read_bytes()

    lines = save_baselines(full, [candidate(of(full), 7200, rounds=1)], STRICT, None)

    assert full.path(DEVICE, OPERATOR).read_bytes() == before
    assert lines == [
        f"kept: {GRAPH} 8.00 us; the gain to 7.20 us (-10.0 %) was not repeated by a second round"
    ]


def test_accepted_loss_is_stored_and_shown_as_loosened(full: BaselineStore) -> None:
    lines = save_baselines(full, [candidate(of(full), 8800)], LENIENT, None)

    assert of(full).device_ns == 8800
    assert lines[1] == f"loosened: {GRAPH} 8.00 -> 8.80 us (+10.0 %)"


def test_many_small_steps_are_stopped_where_they_add_up_to_a_loss(store: BaselineStore) -> None:
    save_baselines(store, [candidate(None, 8000)], STRICT, None)
    save_baselines(store, [candidate(of(store), 8160)], STRICT, None)

    with pytest.raises(RmsperfError, match=r"slower than .*\n.* 8.00 -> 8.32 us .* small steps"):
        save_baselines(store, [candidate(of(store), 8320)], STRICT, None)


def test_after_an_accepted_loss_small_steps_are_counted_from_there(full: BaselineStore) -> None:
    save_baselines(full, [candidate(of(full), 8800)], LENIENT, None)

    save_baselines(full, [candidate(of(full), 8960)], STRICT, None)

    assert of(full).device_ns == 8960


# ---- all or nothing --------------------------------------------------------------------------


def test_one_slower_case_keeps_all_others_from_being_stored(full: BaselineStore) -> None:
    before = full.path(DEVICE, OPERATOR).read_bytes()
    slower = candidate(of(full), 8800)
    sound = candidate(of(full, DIRECT), 8100, case_id=DIRECT)

    with pytest.raises(RmsperfError, match="slower than what was accepted before: 1 case"):
        save_baselines(full, [sound, slower], STRICT, None)

    assert full.path(DEVICE, OPERATOR).read_bytes() == before


def test_refusal_holds_every_reason(full: BaselineStore) -> None:
    rules = replace(STRICT, not_passed=1)

    with pytest.raises(RmsperfError) as caught:
        save_baselines(full, [candidate(of(full), 8800)], rules, "throttled")

    lines = str(caught.value).split("\n")
    assert [lines[number] for number in (0, 2, 4)] == [
        "1 test did not pass",
        "throttled",
        "slower than what was accepted before: 1 case",
    ]


def test_failed_test_refuses_even_where_nothing_was_measured(store: BaselineStore) -> None:
    with pytest.raises(RmsperfError, match="1 test did not pass"):
        save_baselines(store, [], replace(STRICT, not_passed=1), None)


def test_baseline_that_changed_while_this_run_measured_is_not_overwritten(
    full: BaselineStore,
) -> None:
    one = candidate(of(full), 8100)
    full.write(DEVICE, OPERATOR, {GRAPH: replace(of(full), note="by another run")})

    with pytest.raises(RmsperfError, match=f"the baseline of {GRAPH} was changed by another run"):
        save_baselines(full, [one], STRICT, None)

    assert of(full).note == "by another run"


def test_no_operator_is_stored_where_the_file_of_another_cannot_be_read(
    full: BaselineStore,
) -> None:
    full.path(DEVICE, "rows").write_text("{", encoding="utf-8")
    before = full.path(DEVICE, OPERATOR).read_bytes()
    both = [candidate(of(full), 8100), candidate(None, case_id=OTHER)]

    with pytest.raises(BaselineError, match="cannot read baseline"):
        save_baselines(full, both, STRICT, None)

    assert full.path(DEVICE, OPERATOR).read_bytes() == before


def with_packages(one: Candidate, *packages: tuple[str, str]) -> Candidate:
    run = replace(RUN, provenance=replace(THEN, packages=packages))
    return replace(one, measured=replace(one.measured, run=run))


def test_run_that_json_cannot_hold_is_not_stored(store: BaselineStore) -> None:
    odd = with_packages(candidate(None), ("numpy", Path("2.4.6")))  # type: ignore[arg-type]

    with pytest.raises(BaselineError, match="must be a plain int, str, bool or None"):
        save_baselines(store, [odd], STRICT, None)

    assert store.devices(OPERATOR) == ()


def test_variable_that_names_the_commit_is_the_one_of_the_refusal(store: BaselineStore) -> None:
    nameless = replace(RUN, provenance=replace(RUN.provenance, commit=None))

    with pytest.raises(RmsperfError, match=f"{provenance.COMMIT_VARIABLE}="):
        save_baselines(store, [candidate(None, run=nameless)], STRICT, None)
