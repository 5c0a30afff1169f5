"""One run's work: what is measured once, what is measured again, and what stops it beforehand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from bench import PROTOCOL, Bench
from costs import H200, check_of, cost_of, fit_of_device, launch_of, resources_of
from fake_instrument import NO_DEVICE, FakeInstrument
from pytest_rmsperf.cases import load_operator
from pytest_rmsperf.checks import SessionResult
from pytest_rmsperf.device.profiles import profiles_named
from pytest_rmsperf.errors import BaselineError
from pytest_rmsperf.judge.ordering import Ordering, OrderStatus
from pytest_rmsperf.judge.policy import Status
from pytest_rmsperf.measurement import Measurement
from pytest_rmsperf.questions import Overrides
from pytest_rmsperf.settings import Settings
from static_gates import STATIC
from static_instrument import StaticInstrument

FAULTY = load_operator(Path(__file__).parent / "data" / "faulty")
FIRST, SECOND = FAULTY.cases()[:2]
ORDERING = Ordering(FIRST, SECOND)


@pytest.fixture
def bench(default_settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    monkeypatch.setenv("RMSPERF_COMMIT", "1a2b3c4")  # the folder is in no git repository
    return Bench(replace(default_settings, protocol=PROTOCOL), tmp_path)


def cases_of(session: Sequence[str]) -> list[str]:
    return [one for one in session if not one.startswith("probe")]


# ---- rounds ----------------------------------------------------------------------------------


def test_what_did_not_change_is_measured_in_one_round(bench: Bench) -> None:
    bench.keep(FIRST, SECOND)
    instrument = FakeInstrument()

    results = bench.answer(instrument, FIRST, SECOND)

    assert len(instrument.sessions) == 3
    assert {one.status for one in results.findings.verdicts.values()} == {Status.UNCHANGED}


def test_a_suspect_alone_is_measured_again(bench: Bench) -> None:
    bench.keep(FIRST, SECOND)
    instrument = FakeInstrument(device_ns={FIRST.id: (9000,)})

    results = bench.answer(instrument, FIRST, SECOND)

    assert [cases_of(one) for one in instrument.sessions[3:]] == [[FIRST.id]] * 3
    assert results.findings.verdicts[FIRST.id].status is Status.SLOWER


def test_an_alarm_that_the_second_round_does_not_bear_out_is_cleared(bench: Bench) -> None:
    bench.keep(FIRST)
    instrument = FakeInstrument(device_ns={FIRST.id: (9000, 9000, 9000, 8000)})

    verdict = bench.answer(instrument, FIRST).findings.verdicts[FIRST.id]

    assert verdict.status is Status.UNCHANGED
    assert verdict.cleared == pytest.approx(0.125)


def test_cases_of_orderings_alone_are_timed_and_not_judged(bench: Bench) -> None:
    instrument = FakeInstrument()

    results = bench.answer(instrument, orderings=[ORDERING])

    assert [cases_of(one) for one in instrument.sessions] == [[FIRST.id, SECOND.id]] * 3
    assert results.findings.verdicts == {}
    assert results.findings.ordered[ORDERING.id].status is OrderStatus.HOLDS


def test_a_save_measures_every_case_in_two_rounds(bench: Bench) -> None:
    instrument = FakeInstrument()

    bench.answer(instrument, FIRST, SECOND, save=True)

    assert [cases_of(one) for one in instrument.sessions] == [[FIRST.id, SECOND.id]] * 6


def test_case_that_failed_is_not_measured_again_by_a_save(bench: Bench) -> None:
    instrument = FakeInstrument(lost={1: FIRST.id})

    bench.answer(instrument, FIRST, SECOND, save=True)

    assert [cases_of(one) for one in instrument.sessions[1:]] == [[SECOND.id]] * 5


def test_marker_gives_its_case_a_threshold(bench: Bench) -> None:
    bench.keep(FIRST)
    instrument = FakeInstrument(device_ns={FIRST.id: (9000,)})

    results = bench.answer(instrument, FIRST, said=Overrides(threshold=13))

    assert results.findings.verdicts[FIRST.id].status is Status.UNCHANGED


# ---- static costs ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("devices", "status"), [("h200", Status.VIOLATED), ("h100-sxm", Status.MISSING)]
)
def test_clusters_that_a_device_of_interest_once_counted_are_known_without_it(
    bench: Bench, measured: Callable[..., Measurement], devices: str, status: Status
) -> None:
    clusters = launch_of(blocks=512, cluster=8)
    too_few = fit_of_device(H200, replace(clusters, active_clusters=63))
    stored = replace(measured(), case_id=FIRST.id, resources=resources_of(fit=too_few))
    bench.store.write("nvidia-h200", "faulty", {FIRST.id: stored})
    cost = cost_of(fit_of_device(H200, clusters), case_id=FIRST.id)
    instrument = StaticInstrument(static={FIRST.id: (check_of(cost),)})

    found = bench.answer(
        instrument, FIRST, fixtures=STATIC, devices=profiles_named(devices), static=True
    )

    assert found.findings.costs[FIRST.id].status is status


# ---- what stops a run, and what it leaves ----------------------------------------------------


def test_baseline_that_cannot_be_read_stops_the_run_before_anything_is_measured(
    bench: Bench,
) -> None:
    bench.keep(FIRST)
    path = bench.store.path("nvidia-h200", "faulty")
    path.write_text("{", encoding="utf-8")
    instrument = FakeInstrument()

    with pytest.raises(BaselineError):
        bench.answer(instrument, FIRST)

    assert instrument.asked == []


def test_without_a_device_no_baseline_is_read(bench: Bench) -> None:
    bench.keep(FIRST)
    bench.store.path("nvidia-h200", "faulty").write_text("{", encoding="utf-8")

    results = bench.answer(FakeInstrument(NO_DEVICE), FIRST)

    assert results.findings.verdicts == {}


def test_interrupted_run_leaves_what_was_known(bench: Bench) -> None:
    class Interrupted(FakeInstrument):
        def measure(self, *_: object) -> SessionResult:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        bench.answer(Interrupted(), FIRST)

    assert list(bench.run_file()["checked"]) == [FIRST.id]


def test_finished_run_leaves_its_verdicts(bench: Bench) -> None:
    bench.answer(FakeInstrument(), FIRST)

    assert list(bench.run_file()["verdicts"]) == [FIRST.id]
