"""The instrument makes ahead what checks need, in workers that touch no device, or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from fake_worker import FakeWorker
from pytest_rmsperf.cases import Case, load_operator
from pytest_rmsperf.checks import CheckedCase, Stage
from pytest_rmsperf.device.profiles import profiles_named
from pytest_rmsperf.environment import DeviceChoice
from pytest_rmsperf.instrument import WorkerInstrument
from pytest_rmsperf.messages import (
    Chore,
    Compile,
    Disassemble,
    Outstanding,
    Request,
    WorkerSettings,
)
from pytest_rmsperf.supervisor import Deadlines, Loss, LostCase

FAULTY = load_operator(Path(__file__).parent / "data" / "faulty")
GENEROUS = Deadlines(step_s=120)
SETTINGS = WorkerSettings("sm_90", devices=profiles_named("l4, h100-sxm, a100-sxm-80gb"))
INSTRUMENT = "pytest_rmsperf.instrument"


def case_of(variant: str) -> Case:
    return next(one for one in FAULTY.cases() if one.variant.name == variant)


SOUND, BROKEN = case_of("sound"), case_of("does_not_compile")
ARCHS = ("sm_90", "sm_89", "sm_80")
CHORES: tuple[Chore, ...] = (
    *(Compile(SOUND.reference, arch) for arch in ARCHS),
    *(Disassemble((SOUND.reference,), arch) for arch in ARCHS),
)


def silent(_: str) -> None:
    """Say nothing."""


# ---- with workers that are none --------------------------------------------------------------


Fake = Callable[..., tuple[WorkerInstrument, list[str], list[WorkerSettings]]]


@pytest.fixture
def faked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Fake]:
    """Makes an instrument that finds chores, the log of its workers, and what those are told."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1})
    made: list[WorkerInstrument] = []

    def make(*chores: Chore) -> tuple[WorkerInstrument, list[str], list[WorkerSettings]]:
        log: list[str] = []
        hired: list[WorkerSettings] = []

        def hire(settings: WorkerSettings, _: Deadlines) -> FakeWorker:
            hired.append(settings)
            return FakeWorker({}, log)

        monkeypatch.setattr(f"{INSTRUMENT}.WorkerProcess", lambda *_: FakeWorker({}, log, chores))
        monkeypatch.setattr(f"{INSTRUMENT}.HandProcess", hire)
        made.append(WorkerInstrument(SETTINGS, GENEROUS, silent))
        return made[-1], log, hired

    yield make
    for one in made:
        one.close()


def test_chores_are_done_by_workers_of_their_own_that_end_before_the_checks(faked: Fake) -> None:
    instrument, log, hired = faked(*CHORES)

    instrument.prepare([SOUND], silent)

    assert {f"{kind} {arch}" for kind in ("Compile", "Disassemble") for arch in ARCHS} <= set(log)
    assert 1 <= len(hired) <= 2
    assert log.count("end") == len(hired)


def test_workers_that_compile_use_no_device_though_the_run_began_on_one(faked: Fake) -> None:
    instrument, _, hired = faked(*CHORES)
    assert instrument.machine().device is not None

    instrument.prepare([SOUND], silent)

    assert {(one.device, one.needs_device) for one in hired} == {(DeviceChoice.NONE, False)}


@pytest.mark.parametrize("count", [0, 4])
def test_a_few_chores_are_left_to_the_checks(faked: Fake, count: int) -> None:
    instrument, log, hired = faked(*CHORES[:count])

    instrument.prepare([SOUND], silent)

    assert (log, hired) == (["start"], [])


def test_a_worker_lost_over_the_question_is_replaced_for_the_checks(
    faked: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = FakeWorker.ask

    def ask(self: FakeWorker, request: Request, on_progress: object = None) -> object:
        if isinstance(request, Outstanding):
            raise LostCase("died", case_id="", step="start", loss=Loss.CRASH)
        return answer(self, request, on_progress)

    monkeypatch.setattr(FakeWorker, "ask", ask)
    instrument, log, _ = faked(*CHORES)

    instrument.prepare([SOUND], silent)

    assert instrument.check(SOUND, silent, numerics=False) == CheckedCase(SOUND.id)
    assert log == ["start", "end", "start"]


# ---- with real ones --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[str], dict[str, CheckedCase]]:
    """What was said while a sound and a broken variant were prepared, and their checks."""
    said: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("empty")))
        patch.setattr("os.sched_getaffinity", lambda _: {0, 1})
        settings = replace(SETTINGS, device=DeviceChoice.NONE)
        instrument = WorkerInstrument(settings, GENEROUS, silent)
        instrument.prepare([SOUND, BROKEN], said.append)
        checks = {
            one.variant.name: instrument.check(one, silent, numerics=False)
            for one in (SOUND, BROKEN)
        }
        instrument.close()
    return said, checks


Prepared = tuple[list[str], dict[str, CheckedCase]]


def test_every_missing_cubin_is_named_by_variant_and_arch(prepared: Prepared) -> None:
    said, _ = prepared

    compiled = sorted(one.partition(": ")[2] for one in said if one.startswith("compile"))
    assert compiled == sorted(
        f"{variant} for {arch}" for variant in ("sound", "does_not_compile") for arch in ARCHS
    )


def test_the_check_finds_what_was_made_ahead(prepared: Prepared) -> None:
    _, checks = prepared

    compiled = checks["sound"].compiled
    assert compiled is not None
    assert compiled.from_cache


def test_what_could_not_be_made_is_told_by_the_check_of_its_case(prepared: Prepared) -> None:
    _, checks = prepared

    failure = checks["does_not_compile"].failure
    assert failure is not None
    assert failure.stage is Stage.COMPILE
    assert failure.message.startswith("does not compile: ")
