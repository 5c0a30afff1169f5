"""Which measurements may be compared: the same device, measured in the same way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_rmsperf.environment import DeviceIdentity
from pytest_rmsperf.judge.comparability import incomparable, incomparable_builds, same_device
from pytest_rmsperf.judge.policy import Status
from pytest_rmsperf.judge.thresholds import STORED
from pytest_rmsperf.judge.verdict import Round, judge
from pytest_rmsperf.measurement import Conditions, Measurement
from pytest_rmsperf.protocol import Cache, Protocol, StopReason
from pytest_rmsperf.samples import Timing
from pytest_rmsperf.storing.baselines import BaselineStore

Measured = Callable[..., Measurement]

H200 = DeviceIdentity("NVIDIA H200", 132, "9.0", 100_000)


@pytest.mark.parametrize(
    ("memory_mib", "same"), [(97_000, True), (96_999, False), (103_092, True), (103_094, False)]
)
def test_memory_may_differ_by_three_percent_of_the_larger(memory_mib: int, *, same: bool) -> None:
    assert same_device(H200, replace(H200, memory_mib=memory_mib)) is same


@pytest.mark.parametrize(
    "other",
    [
        replace(H200, name="NVIDIA H200 NVL"),
        replace(H200, sms=131),
        replace(H200, compute_capability="9.1"),
    ],
)
def test_name_sms_and_compute_capability_make_a_device(other: DeviceIdentity) -> None:
    assert not same_device(H200, other)


def test_a_slice_that_keeps_the_name_is_another_device() -> None:
    assert not same_device(H200, replace(H200, sms=16, memory_mib=18_000))


def test_being_the_same_device_has_no_direction() -> None:
    larger = replace(H200, memory_mib=103_000)

    assert same_device(H200, larger) is same_device(larger, H200) is True


def test_the_same_way_on_the_same_device_is_comparable(measured: Measured) -> None:
    assert incomparable(measured((9000,) * 3), measured((8000,) * 3)) is None


def change_run(measurement: Measurement, **changes: Any) -> Measurement:
    return replace(measurement, run=replace(measurement.run, **changes))


@pytest.mark.parametrize(
    "changes",
    [
        {"driver": "999.0"},
        {"driver": None},
        {"cuda": "99.0"},
        {"power_limit_mw": 500_000},
        {"conditions": (Conditions(15, StopReason.BUDGET, median_sm_mhz=345),)},
        {"protocol": Protocol(sessions=9)},
        {"protocol": Protocol(precision_ppm=1)},
        {"protocol": Protocol(budget_ms=1)},
    ],
    ids=str,
)
def test_what_a_machine_changes_by_itself_leaves_figures_comparable(
    measured: Measured, changes: dict[str, object]
) -> None:
    assert incomparable(measured(), change_run(measured(), **changes)) is None


def test_code_and_date_of_a_baseline_leave_figures_comparable(measured: Measured) -> None:
    other = replace(measured().run.provenance, date="2020-01-01T00:00:00Z", commit=None, dirty=True)

    assert incomparable(measured(), change_run(measured(), provenance=other)) is None


def test_another_device_is_named_with_what_makes_it_another(measured: Measured) -> None:
    slice_of_it = DeviceIdentity("NVIDIA H200", 16, "9.0", 18_000)

    reason = incomparable(measured(), change_run(measured(), device=slice_of_it))

    assert reason == (
        "other device: NVIDIA H200 (16 SMs, 18000 MiB) -> NVIDIA H200 (132 SMs, 143771 MiB)"
    )


def test_published_figures_are_no_baseline_to_judge_by(measured: Measured) -> None:
    reason = incomparable(measured(), change_run(measured(), source="published"))

    assert reason == "the baseline's figures are published, not measured by this protocol"


def test_published_figures_judge_nothing(measured: Measured, repository: Path) -> None:
    stored = BaselineStore(repository / "baselines").read("nvidia-h100-80gb", "rms_scaled_softmax")

    verdicts = {judge(one, [Round(measured())], stored[one], STORED).status for one in stored}

    assert verdicts == {Status.INCOMPARABLE}


@pytest.mark.parametrize(
    ("protocol", "reason"),
    [
        (Protocol(version=1), "other protocol: version 1 -> 2"),
        (Protocol(cache=Cache.COLD), "other protocol: cache cold -> warm"),
        (Protocol(cooldown_ms=50), "other protocol: cooldown_ms 50 -> 0"),
    ],
)
def test_another_protocol_is_named_with_both_values(
    measured: Measured, protocol: Protocol, reason: str
) -> None:
    assert incomparable(measured(), change_run(measured(), protocol=protocol)) == reason


def test_other_inputs_are_named(measured: Measured) -> None:
    zeros = replace(measured(), inputs="zeros")

    assert incomparable(measured(), zeros) == "other inputs: zeros -> random rows"


def test_other_compiler_flags_are_named(measured: Measured) -> None:
    fast = replace(measured(), flags=("--use_fast_math", "-lineinfo"))

    assert incomparable(measured(), fast) == (
        "other compiler flags: --use_fast_math -lineinfo -> none"
    )


@pytest.mark.parametrize(
    ("compiler", "reason"),
    [
        ((("nvrtc", "12.8.93"),), "other compiler: nvrtc 12.8.93 -> 13.0.88"),
        ((), "other compiler: nvrtc none -> 13.0.88"),
        ((("nvrtc", "13.0.88"), ("cccl", "3.0")), "other compiler: cccl 3.0 -> none"),
    ],
    ids=["other version", "unknown before", "unknown now"],
)
def test_another_compiler_is_named_with_both_versions(
    measured: Measured, compiler: tuple[tuple[str, str], ...], reason: str
) -> None:
    assert incomparable(measured(), change_run(measured(), compiler=compiler)) == reason


def test_the_order_in_which_compiler_parts_are_listed_means_nothing(measured: Measured) -> None:
    parts = (("cccl", "3.0"), ("nvrtc", "13.0.88"))
    one, other = (change_run(measured(), compiler=order) for order in (parts, parts[::-1]))

    assert incomparable(one, other) is None


# ---- timing --------------------------------------------------------------------------


def queued(measurement: Measurement, *places: int) -> Measurement:
    """The same with the launches of these sessions queued one by one."""
    sessions = tuple(
        replace(one, timing=Timing.QUEUED) if place in places else one
        for place, one in enumerate(measurement.sessions)
    )
    return replace(measurement, sessions=sessions)


@pytest.mark.parametrize(
    ("places", "reason"),
    [
        ((), None),
        ((0, 1, 2), "other timing: queued -> graph"),
        ((1,), "other timing: graph, queued -> graph"),
    ],
)
def test_launches_queued_in_another_way_are_named(
    measured: Measured, places: tuple[int, ...], reason: str | None
) -> None:
    assert incomparable(measured(), queued(measured(), *places)) == reason


# ---- a baseline against which nothing could be proven --------------------------------


@pytest.mark.parametrize(
    ("device_ns", "reason"),
    [
        ((8000, 8000), None),
        (
            (8000,),
            "the baseline has one session, and one tells nothing of how far sessions differ",
        ),
        ((), "the baseline has no device time"),
        ((None, None, None), "the baseline has no device time"),
        ((8000, 0, 8000), "the baseline has a device time of 0 ns"),
        ((8000, -3, 8000), "the baseline has a device time of -3 ns"),
    ],
    ids=["two sessions", "one", "none", "no device time", "zero", "negative"],
)
def test_baseline_that_proves_nothing_is_never_a_pass(
    measured: Measured, device_ns: tuple[int | None, ...], reason: str | None
) -> None:
    assert incomparable(measured(), measured(device_ns)) == reason


def test_baseline_with_an_impossible_host_completion_is_named(measured: Measured) -> None:
    baseline = measured((8000, 8000), completion_ns=(13_000, 0))

    assert incomparable(measured(), baseline) == "the baseline has a host completion of 0 ns"


# ---- builds measured in one process --------------------------------------------------


@pytest.mark.parametrize(
    "changes",
    [{"flags": ("-G",)}, {"case_id": "softmax/online-graph/16x1024@1a2b3c4"}, {"resources": None}],
    ids=str,
)
def test_builds_may_differ_in_what_is_compared(
    measured: Measured, changes: dict[str, object]
) -> None:
    changed: Any = changes

    assert incomparable_builds(measured(), replace(measured(), **changed)) is None


def test_builds_on_other_inputs_are_no_pair(measured: Measured) -> None:
    reason = incomparable_builds(measured(), replace(measured(), inputs="zeros"))

    assert reason == "other inputs: zeros -> random rows"


def test_builds_timed_in_two_ways_are_no_pair(measured: Measured) -> None:
    reason = incomparable_builds(measured(), queued(measured(), 0, 1, 2))

    assert reason == "other timing: queued -> graph"
