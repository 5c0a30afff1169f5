"""What is computed without a device, against the driver's answers; `pytest -s` shows the tables."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from pytest_rmsperf.kernels.rms_scaled_softmax import OPERATOR
from pytest_rmsperf.selftest import faults

if TYPE_CHECKING:
    from .conftest import Program

PLANS_OF_OPERATORS = sum(
    len(one.variants) * len(one.problems) for one in (OPERATOR, faults.OPERATOR)
)


def show(*rows: Iterable[object]) -> None:
    """Print the rows as a table."""
    for row in rows:
        print("  ".join(f"{one!s:>9}" for one in row))


def test_registers_shared_local_and_largest_block_of_each_kernel_are_the_drivers(
    program: Program,
) -> None:
    found = program("attributes.py", "kernels")["found"]

    show(found[0]["driver"], *((*one["driver"].values(), one["kernel"]) for one in found))
    assert len(found) >= 12
    assert [one for one in found if one["computed"] != one["driver"]] == []


def test_blocks_per_sm_of_each_launch_of_each_plan_are_the_drivers(program: Program) -> None:
    found = program("attributes.py", "launches")["found"]

    show(list(found[0])[1:], *((*list(one.values())[1:], one["launch"]) for one in found))
    assert len(found) >= PLANS_OF_OPERATORS
    assert [one for one in found if one["computed"] != one["driver"]] == []


def test_each_plan_and_its_fit_are_the_same_by_profile_as_by_driver(program: Program) -> None:
    answer = program("attributes.py", "plans")

    found = answer["found"]
    print("profile:", answer["profile"])
    for one in found:
        show([one["launches"], one["limit_blocks"], one["headroom_blocks"], one["plan"]])
    assert len(found) >= PLANS_OF_OPERATORS
    assert [one for one in found if not one["same_plan"]] == []
    assert [one for one in found if one["computed"] != one["driver"]] == []


def test_occupancy_of_kernels_that_nobody_tuned_for_it_is_the_drivers(program: Program) -> None:
    found = program("static_sweep.py")

    answers = [(one["kernel"], *each) for one in found for each in one["occupancies"]]
    fitting = [one for one in answers if one[-1]]
    print(f"{len(answers)} configurations compared; in {len(fitting)} of them blocks fit")
    assert len(fitting) >= 500
    assert [one for one in answers if one[-2] != one[-1]] == []


def test_figures_of_kernels_that_spill_or_are_bounded_are_the_drivers(program: Program) -> None:
    found = program("static_sweep.py")

    for one in found:
        show([*(theirs for _, theirs in one["figures"].values()), one["kernel"]])
    differing = [one for one in found if any(a != b for a, b in one["figures"].values())]
    assert any(one["figures"]["local_bytes"][1] for one in found)
    assert differing == []


def test_active_clusters_are_never_more_than_our_bound_and_are_stored(program: Program) -> None:
    rows = program("static_clusters.py")["rows"]

    show(list(rows[0])[:5], *(list(one.values())[:5] for one in rows))
    assert [one for one in rows if one["driver"] > one["bound"]] == []
    clusters = [one for one in rows if one["size"] > 1]
    assert [one["stored"] for one in clusters] == [one["driver"] for one in clusters]


def test_as_many_clusters_as_the_driver_says_run_and_one_more_is_refused_before_a_launch(
    program: Program,
) -> None:
    rows = program("static_clusters.py")["rows"]

    print(next(one["one_more"]["message"] for one in rows if one["size"] > 1))
    assert [one["whole"]["message"] for one in rows] == [None] * len(rows)
    assert all(one["whole"]["launches"] > 50 for one in rows)
    for one in rows:
        if one["size"] == 1:  # a plain launch, whose blocks are not counted in clusters
            continue
        refused, limit = one["one_more"], one["driver"] * one["size"]
        assert refused["steps"] == ["compile", "plan", "residency"]
        assert f"asks for {limit + one['size']} blocks at once" in refused["message"]
        assert f"= {limit} fit" in refused["message"]


def test_a_cluster_that_is_not_portable_is_refused_and_costs_the_next_case_nothing(
    program: Program,
) -> None:
    found = program("static_clusters.py")

    refused = found["too_large"]
    assert refused["stage"] == "residency"
    assert refused["message"].startswith("cannot be launched on ")
    assert "clusters of 16 blocks, and 8 are portable" in refused["message"]
    assert not refused["fatal"]
    assert found["after"]["message"] is None
