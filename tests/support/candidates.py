"""Cases, measurements and candidates for a baseline, of an operator called softmax."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from pytest_rmsperf import Case, InputSet, LaunchPlan, Operator, Problem, Submission, Tolerance
from pytest_rmsperf.cases import Variant
from pytest_rmsperf.costs import DeviceFit, PlannedLaunch, Resources
from pytest_rmsperf.environment import DeviceIdentity, Provenance
from pytest_rmsperf.judge.thresholds import Limit, Thresholds
from pytest_rmsperf.judge.verdict import Round, judge, together
from pytest_rmsperf.measurement import Measurement, Run, SessionFigures
from pytest_rmsperf.protocol import Protocol
from pytest_rmsperf.resources import CompiledKernel, MachineCode
from pytest_rmsperf.samples import Quartiles
from pytest_rmsperf.storing.admission import Candidate

GRAPH, DIRECT = "softmax/online-graph/16x1024", "softmax/online-direct/16x1024"
DEVICE, OPERATOR = "nvidia-h200", "softmax"
LIMITS = Thresholds(Limit(0.03, 50), Limit(0.25, 1000))
THEN = Provenance("2026-11-01T12:00:00Z", "0ld0ld0", False, "3.11.9", "0.1.0", ())  # noqa: FBT003
NOW = replace(THEN, date="2026-11-30T12:00:00Z", commit="1a2b3c4")
RUN = Run(
    device=DeviceIdentity("NVIDIA H200", 132, "9.0", 143_771),
    driver="580.159",
    cuda="13.0",
    compiler=(("nvrtc", "13.0.88"),),
    protocol=Protocol(),
    provenance=NOW,
)
OLD_RUN = replace(RUN, provenance=THEN)
ROW = CompiledKernel(
    name="row",
    registers_per_thread=40,
    static_smem_bytes=16,
    local_bytes=0,
    spill_store_bytes=0,
    spill_load_bytes=0,
    max_threads_per_block=256,
    code=MachineCode(4096, "3f" * 32, 240, (("barrier", 2), ("global load 128", 4))),
)
ROWS = CompiledKernel("rows", 24, 0, 8, 8, 4)
RESOURCES = Resources(
    kernels=(ROW, ROWS),
    fit=DeviceFit(
        device="NVIDIA H200",
        sms=132,
        launches=(
            PlannedLaunch("row", 512, 256, 32768, 8, must_be_resident=True, blocks_per_sm=4),
            PlannedLaunch("rows", 16, 32, 0, 1, must_be_resident=False, blocks_per_sm=32),
        ),
        facts=(("tile", 4096), ("reload", 0)),
    ),
)


def case(case_id: str = GRAPH) -> Case:
    """The case with this id; its sizes are called a, b and so on."""
    operator, name, label = case_id.split("/")
    variant, submission = name.split("-")
    one = Variant(variant, Path(f"{variant}.cu"), lambda *_: LaunchPlan((), (), (), "never made"))
    problem = Problem(tuple(zip("abc", map(int, label.split("x")), strict=False)))
    whole = Operator(
        name=operator,
        folder=Path(operator),
        variants=(one,),
        problems=(problem,),
        tensors=lambda _: (),
        reference=lambda arrays, _: arrays,
        input_sets=(InputSet("ones", lambda _: {}),),
        tolerance=Tolerance(relative=1e-6, floor=1e-6),
    )
    return Case(whole, one, Submission(submission), problem)


def measurement(
    device_ns: Sequence[int] = (8000,) * 3,
    completion_ns: Sequence[int] | None = None,
    *,
    case_id: str = GRAPH,
    run: Run = RUN,
) -> Measurement:
    """One session for each of these medians; host completion is 13 us if nothing else is said."""
    return Measurement(
        case_id=case_id,
        run=run,
        inputs="ones",
        flags=(),
        sessions=tuple(
            SessionFigures(Quartiles(ns, ns, ns), Quartiles(host, host, host), 100, None, None)
            for ns, host in zip(device_ns, completion_ns or [13_000] * len(device_ns), strict=True)
        ),
        resources=None,
    )


def candidate(
    baseline: Measurement | None,
    device_ns: int = 8000,
    completion_ns: int = 13_000,
    *,
    rounds: int = 2,
    run: Run = RUN,
    case_id: str = GRAPH,
) -> Candidate:
    """A measurement of rounds of three equal sessions, judged against a baseline."""
    one = measurement((device_ns,) * 3, (completion_ns,) * 3, case_id=case_id, run=run)
    return judged(baseline, *[one] * rounds)


def judged(baseline: Measurement | None, *rounds: Measurement) -> Candidate:
    """The measurement of these rounds, judged against a baseline."""
    whole = together([Round(one) for one in rounds])
    assert whole is not None
    verdict = judge(whole.case_id, [Round(one) for one in rounds], baseline, LIMITS)
    return Candidate(case(whole.case_id), whole, verdict)


def stored(device_ns: int = 8000, completion_ns: int = 13_000) -> Measurement:
    """A baseline of six equal sessions, of another commit some weeks ago."""
    return measurement((device_ns,) * 6, (completion_ns,) * 6, run=OLD_RUN)
