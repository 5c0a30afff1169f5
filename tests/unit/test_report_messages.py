"""What a person reads of a verdict: the verdict first, then the evidence, then the remedy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from _pytest.mark.expression import Expression

from pytest_rmsperf.kernels.rms_scaled_softmax import OPERATOR
from pytest_rmsperf.measurement import Measurement, Resources
from pytest_rmsperf.report.messages import (
    headline,
    microseconds,
    percent,
    selector,
    verdict_message,
)
from pytest_rmsperf.verdict import Status, Thresholds, Verdict, judge

Measured = Callable[..., Measurement]
Judged = Callable[..., Verdict]

COSTS = Resources(40, 1024, 16384, 0, 8, 32)
CASE_IDS = [case.id for case in OPERATOR.cases()]
ACCEPT = 'pytest --rmsperf-save -k "softmax/online-graph/16x1024"'


def lines_of(verdict: Verdict) -> list[str]:
    return verdict_message(verdict).splitlines()


@pytest.mark.parametrize(
    ("nanoseconds", "text"),
    [(None, "-"), (0, "0.00"), (4, "0.00"), (8230, "8.23"), (1_200_000, "1200.00")],
)
def test_every_time_is_in_microseconds(nanoseconds: int | None, text: str) -> None:
    assert microseconds(nanoseconds) == text


@pytest.mark.parametrize(
    ("change", "text"), [(None, "-"), (0.0, "+0.0 %"), (0.099, "+9.9 %"), (-0.5, "-50.0 %")]
)
def test_a_change_is_a_signed_percentage(change: float | None, text: str) -> None:
    assert percent(change) == text


# ---- the headline ----------------------------------------------------------------------------


def test_a_slower_device_time_is_the_first_thing_said(judged: Judged) -> None:
    assert headline(judged((8230,), (9050,))) == (
        "slower by 10.0 % (device time): device time 8.23 -> 9.05 us, "
        "host completion 20.00 -> 20.00 us (limit +3.0 %)"
    )


def test_a_slower_host_completion_is_told_with_its_own_change_and_limit(judged: Judged) -> None:
    verdict = judged((8230,), (8230,), host=((20_000,), (30_000,)))

    assert headline(verdict) == (
        "slower by 50.0 % (host completion): device time 8.23 -> 8.23 us, "
        "host completion 20.00 -> 30.00 us (limit +25.0 %)"
    )


def test_faster_is_told_without_a_sign(judged: Judged) -> None:
    assert headline(judged((10_000,), (8000,))).startswith("faster by 20.0 % (device time): ")


@pytest.mark.parametrize("status", sorted(set(Status) - {Status.SLOWER, Status.FASTER}))
def test_any_other_verdict_is_followed_by_its_reason(measured: Measured, status: Status) -> None:
    verdict = Verdict("case", status, "a reason", measured(), measured(), Thresholds())

    assert headline(verdict) == f"{status.value}: a reason"


# ---- the whole message -----------------------------------------------------------------------


def test_a_message_is_verdict_evidence_remedy(measured: Measured) -> None:
    baseline = measured((8190, 8230, 8350), resources=replace(COSTS, registers_per_thread=32))
    current = measured((9010, 9050, 9120), copy_ns=7014, resources=COSTS)

    assert lines_of(judge(baseline.case_id, current, baseline, Thresholds())) == [
        (
            "slower by 10.0 % (device time): device time 8.23 -> 9.05 us, "
            "host completion 13.70 -> 13.70 us (limit +3.0 %)"
        ),
        (
            "  baseline   8.23 us [8.19 .. 8.35] device, 3 sessions, 2026-11-30, driver 580.159, "
            "commit 1a2b3c4"
        ),
        (
            "  current    9.05 us [9.01 .. 9.12] device, 3 sessions, 2026-11-30, driver 580.159, "
            "commit 1a2b3c4; the copy probe moved by +0.2 %"
        ),
        "  because    registers per thread 32 -> 40",
        f"accept it with: {ACCEPT}",
    ]


@pytest.mark.parametrize(
    ("status", "remedy"),
    [
        (Status.SLOWER, f"accept it with: {ACCEPT}"),
        (Status.FASTER, f"accept it with: {ACCEPT}"),
        (Status.MISSING, f"create it with: {ACCEPT}"),
        (Status.INCOMPARABLE, f"measure a new baseline with: {ACCEPT}"),
        (Status.INVALID, "measure again with: pytest --rmsperf --lf"),
        (Status.UNCHANGED, "nothing to do"),
        (Status.INCONCLUSIVE, "nothing to do"),
    ],
)
def test_the_last_line_is_the_remedy(measured: Measured, status: Status, remedy: str) -> None:
    one = measured()

    assert lines_of(Verdict(one.case_id, status, "", one, one, Thresholds()))[-1] == remedy


def test_a_missing_baseline_names_the_devices_that_have_one(measured: Measured) -> None:
    verdict = judge("softmax/online-graph/16x1024", measured(), None, Thresholds())

    text = verdict_message(verdict, stored_on=("nvidia-h100-80gb", "nvidia-l4"))

    assert "  stored     only for nvidia-h100-80gb, nvidia-l4" in text.splitlines()


def test_other_devices_are_not_named_where_a_baseline_was_compared(judged: Judged) -> None:
    assert "stored" not in verdict_message(judged((8000,), (9000,)), stored_on=("nvidia-l4",))


def test_no_samples_at_all_still_make_a_message() -> None:
    assert lines_of(judge("softmax/online-graph/16x1024", None, None, Thresholds())) == [
        "invalid: no samples",
        "measure again with: pytest --rmsperf --lf",
    ]


def test_a_measurement_without_sessions_still_makes_a_message(measured: Measured) -> None:
    verdict = judge("softmax/online-graph/16x1024", measured(()), measured(), Thresholds())

    assert lines_of(verdict)[0] == "invalid: no samples"


def test_published_figures_are_shown_as_host_completion(measured: Measured) -> None:
    published = measured((None,), completion_ns=(18_600,))
    published = replace(published, run=replace(published.run, source="published", driver=None))

    shown = lines_of(judge(published.case_id, measured(), published, Thresholds()))[1]

    assert shown.startswith("  baseline   18.60 us [18.60 .. 18.60] host, 1 session, ")


@pytest.mark.parametrize(
    ("commit", "dirty", "shown"),
    [
        ("1a2b3c4", False, "commit 1a2b3c4"),
        ("1a2b3c4", True, "commit 1a2b3c4 with changes"),
        (None, None, "commit unknown"),
    ],
)
def test_the_code_of_a_baseline_is_shown(
    measured: Measured, commit: str | None, shown: str, *, dirty: bool | None
) -> None:
    old = measured((8000,))
    provenance = replace(old.run.provenance, commit=commit, dirty=dirty)
    old = replace(old, run=replace(old.run, provenance=provenance))

    assert lines_of(judge(old.case_id, measured(), old, Thresholds()))[1].endswith(shown)


def test_a_change_of_driver_is_seen_in_the_evidence(measured: Measured) -> None:
    old = measured((8000,))
    old = replace(old, run=replace(old.run, driver="550.54"))

    baseline, current = lines_of(judge(old.case_id, measured((9000,)), old, Thresholds()))[1:3]

    assert ("driver 550.54" in baseline, "driver 580.159" in current) == (True, True)


# ---- because ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "because"),
    [
        (COSTS, "the kernel's resources are the same"),
        (replace(COSTS, static_smem_bytes=0), "static shared bytes 0 -> 1024"),
        (replace(COSTS, dynamic_smem_bytes=0), "dynamic shared bytes 0 -> 16384"),
        (replace(COSTS, local_bytes=8), "local bytes 8 -> 0"),
        (
            replace(COSTS, registers_per_thread=32, blocks_per_sm=4),
            "registers per thread 32 -> 40, blocks per SM 4 -> 8",
        ),
    ],
)
def test_a_change_is_explained_by_what_the_kernel_costs(
    measured: Measured, before: Resources, because: str
) -> None:
    old, new = measured((8000,), resources=before), measured((9000,), resources=COSTS)

    assert f"  because    {because}" in lines_of(judge("a/b", new, old, Thresholds()))


@pytest.mark.parametrize(("before", "after"), [(None, COSTS), (COSTS, None)])
def test_costs_known_on_one_side_explain_nothing(
    measured: Measured, before: Resources | None, after: Resources | None
) -> None:
    old, new = measured((8000,), resources=before), measured((9000,), resources=after)

    assert "because" not in verdict_message(judge("a/b", new, old, Thresholds()))


def test_what_did_not_change_needs_no_explanation(measured: Measured) -> None:
    old, new = measured(resources=replace(COSTS, local_bytes=8)), measured(resources=COSTS)

    assert "because" not in verdict_message(judge("a/b", new, old, Thresholds()))


# ---- the selector ----------------------------------------------------------------------------


@pytest.mark.parametrize("case_id", CASE_IDS)
def test_the_remedy_selects_one_case_of_the_bundled_operator(case_id: str) -> None:
    selected = [one for one in CASE_IDS if selector(case_id) in f"test_latency[{one}]"]

    assert selected == [case_id]


@pytest.mark.parametrize("case_id", CASE_IDS)
def test_the_remedy_is_one_word_of_the_language_of_k(case_id: str) -> None:
    asked: list[str] = []

    def matches(part: str, /, **unused: str | int | bool | None) -> bool:
        asked.append(part)
        return True

    assert Expression.compile(selector(case_id)).evaluate(matches)
    assert asked == [case_id]


def test_the_remedy_does_not_select_a_variant_whose_name_ends_alike() -> None:
    assert selector("softmax/row-graph/1x4") not in "test_latency[softmax/long_row-graph/1x4]"
