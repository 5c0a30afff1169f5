"""Builders that several test files share, as fixtures: in importlib mode nothing else is seen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pytest

from gates import Build, builder, short
from pytest_rmsperf.checks import CheckedCase
from pytest_rmsperf.costs import Resources
from pytest_rmsperf.device.compiler import Recipe, compile_recipe
from pytest_rmsperf.device.profiles import profile_for_arch
from pytest_rmsperf.environment import DeviceChoice, DeviceIdentity, Provenance
from pytest_rmsperf.judge.policy import Policy
from pytest_rmsperf.judge.thresholds import Limit, Thresholds
from pytest_rmsperf.judge.verdict import Round, Verdict, judge
from pytest_rmsperf.launch import KernelLaunch, LaunchPlan
from pytest_rmsperf.measurement import Measurement, ProbeFigures, Run, SessionFigures
from pytest_rmsperf.protocol import Protocol
from pytest_rmsperf.residency import Residency, check_residency
from pytest_rmsperf.resources import Capacity, CompiledKernel, CompiledModule
from pytest_rmsperf.samples import Quartiles
from pytest_rmsperf.settings import Settings

CASE_ID = "softmax/online-graph/16x1024"
THRESHOLDS = Thresholds(Limit(0.03, 50), Limit(0.25, 1000))
RUN = Run(
    device=DeviceIdentity("NVIDIA H200", 132, "9.0", 143_771),
    driver="580.159",
    cuda="13.0",
    compiler=(("nvrtc", "13.0.88"),),
    protocol=Protocol(),
    provenance=Provenance(
        date="2026-11-30T12:00:00Z",
        commit="1a2b3c4",
        dirty=False,
        python="3.11.9",
        rmsperf="0.1.0",
        packages=(),
    ),
)


def spread_around(median_ns: int) -> Quartiles:
    """Quartiles 7 ns to each side, as far as times are positive."""
    return Quartiles(min(median_ns, max(1, median_ns - 7)), median_ns, median_ns + 7)


def session_of(
    device_ns: int | None, completion_ns: int, null_ns: int | None, copy_ns: int | None
) -> SessionFigures:
    """One session with these medians."""
    return SessionFigures(
        device=None if device_ns is None else spread_around(device_ns),
        completion=spread_around(completion_ns),
        launches_per_graph=100,
        null=None if null_ns is None else ProbeFigures(1000, null_ns),
        copy=None if copy_ns is None else ProbeFigures(copy_ns, copy_ns + 5000),
    )


def measurement_of(
    device_ns: Sequence[int | None] = (8230, 8230, 8230),
    *,
    completion_ns: Sequence[int] | None = None,
    null_ns: int | None = 6000,
    copy_ns: int | None = 7000,
    run: Run = RUN,
    resources: Resources | None = None,
) -> Measurement:
    """One measurement with a session per entry of `device_ns`."""
    completions = completion_ns if completion_ns is not None else [13_700] * len(device_ns)
    return Measurement(
        case_id=CASE_ID,
        run=run,
        inputs="random rows",
        flags=(),
        sessions=tuple(
            session_of(device, completion, null_ns, copy_ns)
            for device, completion in zip(device_ns, completions, strict=True)
        ),
        resources=resources,
    )


def judge_medians(
    before: Sequence[int],
    after: Sequence[int],
    second: Sequence[int] = (),
    *,
    host: tuple[Sequence[int], Sequence[int]] | None = None,
    null: tuple[int | None, int | None] = (6000, 6000),
    unfit: str | None = None,
) -> Verdict:
    """Judge by thresholds of 3 % and 50 ns device time, 25 % and 1000 ns host completion.

    `second` is a confirming round, whose host completions are the first's.
    """
    old, new = host or ([20_000] * len(before), [20_000] * len(after))
    baseline = measurement_of(before, completion_ns=old, null_ns=null[0])
    rounds = [Round(measurement_of(after, completion_ns=new, null_ns=null[1]), unfit=unfit)]
    if second:
        again = measurement_of(second, completion_ns=new[: len(second)], null_ns=null[1])
        rounds.append(Round(again))
    return judge(CASE_ID, rounds, baseline, THRESHOLDS)


class OneKernel:
    """A device of 132 SMs that holds the same number of blocks of any kernel."""

    device = "fake device"

    def __init__(self, blocks_per_sm: int, sms: int = 132) -> None:
        self.sms = sms
        self._blocks_per_sm = blocks_per_sm

    def blocks_per_sm(
        self,
        kernel: str,  # noqa: ARG002
        threads_per_block: int,  # noqa: ARG002
        dynamic_smem_bytes: int,  # noqa: ARG002
    ) -> int:
        return self._blocks_per_sm

    def active_clusters(self, launch: KernelLaunch) -> int | None:  # noqa: ARG002
        return None


def checked_of(case_id: str, blocks_per_sm: int, *launches: KernelLaunch) -> CheckedCase:
    """A case that launches a kernel `row` on a device of 132 SMs; units are rows."""
    kernel = CompiledKernel("row", 40, 128, 0, 0, 0)
    module = CompiledModule("row.cu", (), "key", b"", (kernel,), from_cache=False)
    plan = LaunchPlan(launches, (), (), "a test asks for it")
    fits = check_residency(plan, module, OneKernel(blocks_per_sm), source="driver")
    return CheckedCase(case_id, module, plan, fits)


def residency_of(blocks_per_sm: int, *launches: KernelLaunch) -> Residency:
    """Hold launches of a kernel `row` against a device of 132 SMs; units are rows."""
    found = checked_of(CASE_ID, blocks_per_sm, *launches).residency
    assert found is not None
    return found


@pytest.fixture
def measured() -> Callable[..., Measurement]:
    """Builds a measurement of one case on an H200: `measured((8000, 8100, 8200))`."""
    return measurement_of


@pytest.fixture
def judged() -> Callable[..., Verdict]:
    """Judges session medians in ns: `judged((8000,), (8100,))`, or the same with host times."""
    return judge_medians


@pytest.fixture
def residency() -> Callable[..., Residency]:
    """Builds a residency: `residency(8, launch)`."""
    return residency_of


@pytest.fixture
def checked() -> Callable[..., CheckedCase]:
    """Builds a case that came as far as its residency: `checked(case_id, 8, launch)`."""
    return checked_of


@pytest.fixture
def capacity() -> Callable[..., Capacity]:
    """Builds a device by its resident blocks per SM: `capacity(8)`, `capacity(8, sms=14)`."""
    return OneKernel


@pytest.fixture
def repository() -> Path:
    """The root of the checkout."""
    return Path(__file__).parents[2]


@pytest.fixture
def default_settings(tmp_path: Path) -> Settings:
    """The settings of a run without options or ini keys, with its baselines in `tmp_path`."""
    return Settings(
        static=False,
        save=False,
        calibrate=False,
        baselines=tmp_path / "baselines",
        device=DeviceChoice.AUTO,
        emulated_seed=0,
        emulated_schedules=4,
        require_gpu=False,
        expect_gpu=None,
        arch="sm_90",
        devices=(profile_for_arch("sm_90"),),
        headroom_loss=0.1,
        details=False,
        protocol=Protocol(),
        deadline_s=30.0,
        against=None,
        thresholds=THRESHOLDS,
        policy=Policy(),
        power_limit_mw=None,
        accept_slower=False,
        accept_dirty=False,
        json=None,
    )


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str], Path]:
    """Write a file below the test's source folder and return its path."""

    def writer(name: str, text: str) -> Path:
        file = tmp_path / "kernels" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    return writer


@pytest.fixture
def rotate(write: Callable[[str, str], Path]) -> Callable[..., Recipe]:
    """Write `data/rotate.cu` as a test's own source: `rotate(flags=("-G",))`."""
    text = (Path(__file__).parent / "data" / "rotate.cu").read_text(encoding="utf-8")

    def recipe(*, flags: tuple[str, ...] = ()) -> Recipe:
        return Recipe(write("rotate.cu", text), "sm_90", flags=flags)

    return recipe


@pytest.fixture
def cache_dir(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture
def compiled(cache_dir: Path) -> Callable[[Recipe], CompiledModule]:
    """Compile a recipe through the cache of the test."""
    return partial(compile_recipe, cache_dir=cache_dir)


@pytest.fixture
def gate(default_settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Build:
    """Makes gates with a short protocol whose files lie in a folder of this test."""
    return builder(short(default_settings), tmp_path, monkeypatch)
