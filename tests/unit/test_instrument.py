"""The instrument: a bad case costs itself, and every session has a worker of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from fake_worker import FakeWorker
from pytest_rmsperf.cases import Case, load_operator
from pytest_rmsperf.checks import CheckedCase, Failure, Stage, Turn
from pytest_rmsperf.environment import DeviceState
from pytest_rmsperf.errors import GateFailure, RmsperfError
from pytest_rmsperf.instrument import WorkerInstrument
from pytest_rmsperf.messages import Measure, ReadState, Request, WorkerSettings
from pytest_rmsperf.protocol import Protocol
from pytest_rmsperf.supervisor import Deadlines, Loss, LostCase

FAULTY = load_operator(Path(__file__).parent / "data" / "faulty")
GENEROUS = Deadlines(step_s=120)
SETTINGS = WorkerSettings("sm_90")
INSTRUMENT = "pytest_rmsperf.instrument"


def case_of(variant: str) -> Case:
    return next(one for one in FAULTY.cases() if one.variant.name == variant)


@pytest.fixture(scope="module")
def after_each_fault(tmp_path_factory: pytest.TempPathFactory) -> dict[str, CheckedCase]:
    """What one instrument said of each variant, one after the other, and again of a sound one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CUDA_VISIBLE_DEVICES", "")
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "cubins"))
        instrument = WorkerInstrument(SETTINGS, GENEROUS, lambda _: None)
        found = {}
        for variant in ("raises", "sleeps", "crashes", "refuses"):
            found[f"before {variant}"] = instrument.check(
                case_of("sound"), lambda _: None, numerics=False
            )
            assert instrument._worker is not None
            if variant == "sleeps":
                instrument._worker._deadlines = Deadlines(step_s=0.5)
            found[variant] = instrument.check(case_of(variant), lambda _: None, numerics=False)
        found["at the end"] = instrument.check(case_of("sound"), lambda _: None, numerics=False)
        instrument.close()
    return found


def failure_of(checked: CheckedCase) -> Failure:
    assert checked.failure is not None
    return checked.failure


@pytest.mark.parametrize(
    ("variant", "headline"),
    [
        ("raises", "the worker died in step 'plan' with exit code 1"),
        ("crashes", "the worker died in step 'plan' with signal SIGSEGV"),
        ("sleeps", "no sign of life for 0.5 s in step 'plan': killed ("),
    ],
)
def test_lost_case_fails_by_its_name_and_the_step_it_was_lost_in(
    after_each_fault: dict[str, CheckedCase], variant: str, headline: str
) -> None:
    failure = failure_of(after_each_fault[variant])

    assert (failure.stage, failure.fatal) == (Stage.PLAN, True)
    opening = f"lost: faulty/{variant}-direct/3 in step 'plan': {headline}"
    assert failure.message.startswith(opening)


def test_lost_case_keeps_the_workers_last_words(after_each_fault: dict[str, CheckedCase]) -> None:
    lines = failure_of(after_each_fault["raises"]).message.splitlines()

    assert lines[-2] == "  worker     LookupError: nobody expected this"


@pytest.mark.parametrize(
    ("variant", "remedy"),
    [
        ("raises", "mend what the message names, then: pytest --rmsperf --lf"),
        ("crashes", "run the case alone under compute-sanitizer "),
        ("sleeps", "run the case alone under compute-sanitizer "),
    ],
)
def test_remedy_is_a_sanitizer_only_where_native_code_is_at_fault(
    after_each_fault: dict[str, CheckedCase], variant: str, remedy: str
) -> None:
    assert failure_of(after_each_fault[variant]).message.splitlines()[-1].startswith(remedy)


@pytest.mark.parametrize(
    "moment", ["before sleeps", "before crashes", "before refuses", "at the end"]
)
def test_case_after_a_fault_is_as_sound_as_before(
    after_each_fault: dict[str, CheckedCase], moment: str
) -> None:
    first = after_each_fault["before raises"]
    later = after_each_fault[moment]

    assert (later.failure, later.plan, later.residency) == (None, first.plan, first.residency)


def test_refusal_costs_the_case_and_not_the_worker(
    after_each_fault: dict[str, CheckedCase],
) -> None:
    failure = failure_of(after_each_fault["refuses"])

    assert (failure.stage, failure.fatal) == (Stage.PLAN, False)


Fake = Callable[..., tuple[WorkerInstrument, list[str]]]


@pytest.fixture
def faked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Fake]:
    """Makes an instrument over fake workers, which lose the given cases, and their log."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    made: list[WorkerInstrument] = []

    def make(*lost: str | Case, case_id: str | None = None) -> tuple[WorkerInstrument, list[str]]:
        log: list[str] = []
        ids = [(one if isinstance(one, Case) else case_of(one)).id for one in lost]
        losses = {
            one: LostCase(
                "no sign",
                case_id=one if case_id is None else case_id,
                step="time",
                loss=Loss.SILENCE,
            )
            for one in ids
        }
        monkeypatch.setattr(f"{INSTRUMENT}.WorkerProcess", lambda *_: FakeWorker(losses, log))
        made.append(WorkerInstrument(SETTINGS, GENEROUS, lambda _: None))
        return made[-1], log

    yield make
    for one in made:
        one.close()


SOUND, SLEEPS = case_of("sound"), case_of("sleeps")


def test_machine_is_asked_once(faked: Fake) -> None:
    instrument, log = faked()

    assert instrument.machine() is instrument.machine()
    assert log == ["start"]


def test_checks_share_one_worker(faked: Fake) -> None:
    instrument, log = faked()

    instrument.check(SOUND, lambda _: None, numerics=True)
    instrument.check(SLEEPS, lambda _: None, numerics=True)

    assert log == ["start"]


def test_session_has_a_worker_of_its_own_after_the_checking_one_has_ended(faked: Fake) -> None:
    instrument, log = faked()
    instrument.check(SOUND, lambda _: None, numerics=True)

    instrument.measure([SOUND, SLEEPS], Protocol(), say=lambda _: None)

    assert log == ["start", "end", "start", "sound-direct sleeps-direct", "end"]


def test_session_brings_the_state_of_the_device_before_and_after(faked: Fake) -> None:
    instrument, _ = faked()

    session = instrument.measure([SOUND], Protocol(), say=lambda _: None)

    assert session.before == session.after == DeviceState(sm_mhz=1980)


def test_the_device_is_read_before_anything_is_launched(
    faked: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer, asked = FakeWorker.ask, list[str]()

    def ask(self: FakeWorker, request: Request, on_progress: object = None) -> object:
        asked.append(type(request).__name__)
        return answer(self, request, on_progress)

    monkeypatch.setattr(FakeWorker, "ask", ask)
    instrument, _ = faked()

    instrument.measure([SOUND], Protocol(), say=lambda _: None)

    assert asked == ["ReadState", "Measure", "ReadState"]


def test_session_brings_the_order_in_which_its_cases_took_turns(faked: Fake) -> None:
    instrument, _ = faked()

    session = instrument.measure([SOUND, SLEEPS], Protocol(), say=lambda _: None)

    assert session.timed.order == (SOUND.id, SLEEPS.id)
    assert session.timed.turns == (Turn(0, backwards=False),)


@pytest.mark.parametrize(("lost", "kept"), [("", "1a2b3c4"), ("1a2b3c4", "")])
def test_the_twin_of_a_lost_case_is_kept(faked: Fake, lost: str, kept: str) -> None:
    mine, twin = (replace(SLEEPS, origin=origin) for origin in (lost, kept))
    instrument, _ = faked(mine)

    session = instrument.measure([mine, twin], Protocol(), say=lambda _: None)

    assert (list(session.samples), list(session.failures)) == ([twin.id], [mine.id])


def test_lost_session_starts_again_without_the_case_that_lost_it(faked: Fake) -> None:
    instrument, log = faked("sleeps")

    session = instrument.measure([SLEEPS, SOUND], Protocol(), say=lambda _: None)

    assert list(session.samples) == [SOUND.id]
    assert session.failures[SLEEPS.id].stage is Stage.TIME
    assert log == ["start", "sleeps-direct sound-direct", "end", "start", "sound-direct", "end"]


def test_session_that_loses_every_case_has_no_samples(faked: Fake) -> None:
    instrument, _ = faked("sleeps")

    session = instrument.measure([SLEEPS], Protocol(), say=lambda _: None)

    assert (session.samples, list(session.failures)) == ({}, [SLEEPS.id])


def test_session_lost_on_no_case_in_particular_is_an_error_and_no_endless_loop(
    faked: Fake,
) -> None:
    instrument, _ = faked("sleeps", case_id="")

    with pytest.raises(RmsperfError, match="no session can be measured here: no sign"):
        instrument.measure([SLEEPS], Protocol(), say=lambda _: None)


def test_launch_returns_the_outputs(faked: Fake) -> None:
    instrument, _ = faked()

    outputs = instrument.launch(SOUND, SOUND.problem, FAULTY.input_sets[0].make(SOUND.problem))

    assert outputs["x"].shape == (3, 32)


def test_lost_launch_fails_the_test_and_costs_the_worker(faked: Fake) -> None:
    instrument, log = faked("sleeps")

    with pytest.raises(GateFailure, match=f"lost: {SLEEPS.id} in step 'time': no sign"):
        instrument.launch(SLEEPS, SLEEPS.problem, {})

    assert log == ["start", "end"]


def test_run_ends_when_no_case_can_be_blamed_for_the_loss_of_a_worker(faked: Fake) -> None:
    instrument, _ = faked("sound", case_id="")

    with pytest.raises(RmsperfError, match=r"^no case can be checked here: no sign"):
        instrument.check(SOUND, lambda _: None, numerics=True)


def test_worker_that_dies_of_the_last_look_at_the_device_keeps_its_samples(
    faked: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer, asked = FakeWorker.ask, list[Request]()

    def ask(self: FakeWorker, request: Request, on_progress: object = None) -> object:
        asked.append(request)
        if isinstance(request, ReadState) and any(isinstance(one, Measure) for one in asked):
            raise LostCase("NVML hangs", case_id="", step="start", loss=Loss.SILENCE)
        return answer(self, request, on_progress)

    monkeypatch.setattr(FakeWorker, "ask", ask)
    instrument, _ = faked()

    result = instrument.measure([SOUND], Protocol(), lambda _: None)

    assert list(result.samples) == [SOUND.id]
    assert result.after is not None
    assert result.after.notes == ("every field: NVML hangs",)
