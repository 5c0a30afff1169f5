"""Whether launches are resident as a whole: borders in pairs, and what a refusal says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from fake_device import Fake, FakeModule
from pytest_rmsperf.cases import Case
from pytest_rmsperf.device import session
from pytest_rmsperf.errors import GateFailure
from pytest_rmsperf.launch import KernelLaunch, LaunchPlan
from pytest_rmsperf.numerics import prepare
from pytest_rmsperf.residency import LaunchResidency, Residency, check_residency
from pytest_rmsperf.resources import CompiledKernel, CompiledModule
from workshop import Workshop, case_of

# 4 blocks on each of 132 SMs are 528.
FULL = KernelLaunch("row", 528, 256, (), dynamic_smem_bytes=16384, cooperative=True)
ONE_MORE = replace(FULL, blocks=529)
TWO_MORE = replace(FULL, blocks=530)
PLAIN = replace(FULL, blocks=10**6, cooperative=False)

Hold = Callable[..., Residency]


def test_a_cooperative_launch_of_as_many_blocks_as_fit_passes(residency: Hold) -> None:
    residency(4, FULL).require()


def test_a_cooperative_launch_of_one_block_more_fails(residency: Hold) -> None:
    with pytest.raises(GateFailure, match="does not fit fake device: 1 block too many"):
        residency(4, ONE_MORE).require()


def test_a_hand_made_barrier_needs_residency_like_a_cooperative_launch(residency: Hold) -> None:
    spinning = replace(ONE_MORE, cooperative=False, waits_on_blocks=True)

    assert not residency(4, spinning).fits


def test_blocks_that_wait_for_nobody_need_not_be_resident(residency: Hold) -> None:
    assert residency(4, PLAIN).fits


def test_a_kernel_of_which_no_block_fits_never_fits(residency: Hold) -> None:
    with pytest.raises(GateFailure, match="does not fit fake device: not even one block per SM"):
        residency(0, PLAIN).require()


def test_blocks_beyond_the_launch_bounds_are_refused_for_that_reason() -> None:
    bounded = replace(CompiledKernel("row", 40, 128, 0, 0, 0), max_threads_per_block=128)
    refused = Residency("fake device", "driver", "row", (LaunchResidency(PLAIN, bounded, 0, 132),))

    assert str(refused).splitlines()[2:] == [
        (
            "  because    40 registers per thread, 256 threads and 16512 shared bytes "
            "(16384 of them dynamic) per block; its __launch_bounds__ allow 128 threads"
        ),
        "  would fit  0 rows per launch (1 block per row)",
        "the driver refuses such a launch; make the block smaller, then: pytest --rmsperf --lf",
    ]


@pytest.mark.parametrize(
    ("launch", "spare"), [(FULL, 0), (ONE_MORE, -1), (replace(FULL, blocks=1), 527)]
)
def test_headroom_is_what_fits_beyond_what_is_asked(
    residency: Hold, launch: KernelLaunch, spare: int
) -> None:
    assert residency(4, launch).headroom_blocks == spare


def test_headroom_is_unknown_where_no_launch_waits(residency: Hold) -> None:
    assert residency(4, PLAIN).headroom_blocks is None


def test_the_tightest_launch_is_one_that_must_be_resident(residency: Hold) -> None:
    small = replace(FULL, blocks=8)

    assert residency(4, PLAIN, small, FULL).tightest.launch is FULL


def test_where_no_launch_waits_the_tightest_is_the_one_of_fewest_blocks_per_sm() -> None:
    kernel = CompiledKernel("row", 40, 128, 0, 0, 0)
    launches = tuple(LaunchResidency(PLAIN, kernel, blocks, 132) for blocks in (8, 4, 6))

    assert Residency("fake device", "driver", "row", launches).tightest is launches[1]


def test_one_launch_too_large_makes_the_whole_plan_unfit(residency: Hold) -> None:
    assert not residency(4, FULL, ONE_MORE, FULL).fits


def test_a_refusal_says_both_numbers_their_causes_and_what_would_fit(residency: Hold) -> None:
    wide = replace(TWO_MORE, blocks_per_unit=32)

    assert str(residency(4, wide)).splitlines() == [
        "does not fit fake device: 2 blocks too many (driver)",
        "  row asks for 530 blocks at once; 4 blocks per SM x 132 SMs = 528 fit",
        (
            "  because    40 registers per thread, 256 threads and 16512 shared bytes "
            "(16384 of them dynamic) per block"
        ),
        "  would fit  16 rows per launch (32 blocks per row)",
        (
            "a launch that waits on blocks which are not resident never ends; split its rows into "
            "more launches or make the block smaller, then: pytest --rmsperf --lf"
        ),
    ]


def test_a_refusal_never_suggests_to_drop_the_cooperative_attribute(residency: Hold) -> None:
    assert "cooperative" not in str(residency(4, ONE_MORE)).lower()


def test_a_fit_says_how_many_blocks_are_to_spare(residency: Hold) -> None:
    assert str(residency(4, replace(FULL, blocks=500))) == (
        "fits fake device (driver): 500 of 528 blocks, 28 to spare"
    )


def test_a_fit_of_launches_that_wait_for_nobody_says_so(residency: Hold) -> None:
    assert str(residency(4, PLAIN)) == "fits fake device (driver): no launch waits on other blocks"


def test_a_launch_of_a_kernel_that_the_source_lacks_names_those_it_has(residency: Hold) -> None:
    with pytest.raises(GateFailure, match=r"no kernel 'column' in row\.cu; it defines: row"):
        residency(4, replace(FULL, kernel="column"))


# ---- clusters --------------------------------------------------------------------------------

# 1 block on each of 132 SMs gives 16 whole clusters of 8, if the SMs are in the right places.
CLUSTERS = KernelLaunch(
    "row", 128, 1024, (), waits_on_blocks=True, blocks_per_unit=8, blocks_per_cluster=8
)
ONE_CLUSTER_MORE = replace(CLUSTERS, blocks=136)


class Board:
    """A device of 132 SMs with one block each, whose driver holds so many clusters.

    None stands for a profile, which does not know. `asked` are the launches it was asked of.
    """

    device = "fake device"
    sms = 132

    def __init__(self, clusters: int | None) -> None:
        self.clusters = clusters
        self.asked: list[KernelLaunch] = []

    def blocks_per_sm(self, *_: object) -> int:
        return 1

    def active_clusters(self, launch: KernelLaunch) -> int | None:
        self.asked.append(launch)
        return self.clusters


def module_of(kernel: str) -> CompiledModule:
    compiled = CompiledKernel(kernel, 40, 128, 0, 0, 0)
    return CompiledModule("k.cu", (), "key", b"", (compiled,), from_cache=False)


def held(clusters: int | None, launch: KernelLaunch) -> Residency:
    """Hold one launch against a board."""
    plan = LaunchPlan((launch,), (), (), "a test asks for it", unit="cluster")
    source = "computed" if clusters is None else "driver"
    return check_residency(plan, module_of("row"), Board(clusters), source=source)


def test_blocks_of_clusters_are_counted_in_whole_clusters() -> None:
    assert held(None, CLUSTERS).tightest.limit_blocks == 128


@pytest.mark.parametrize(("launch", "fits"), [(CLUSTERS, True), (ONE_CLUSTER_MORE, False)])
def test_where_nobody_was_asked_as_many_clusters_fit_as_the_blocks_make(
    launch: KernelLaunch, *, fits: bool
) -> None:
    assert held(None, launch).fits == fits


@pytest.mark.parametrize(("clusters", "fits"), [(16, True), (15, False)])
def test_what_the_driver_says_of_clusters_counts_and_not_what_the_blocks_make(
    clusters: int, *, fits: bool
) -> None:
    assert held(clusters, CLUSTERS).fits == fits


@pytest.mark.parametrize(("clusters", "spare"), [(None, 0), (17, 8), (16, 0), (15, -8)])
def test_headroom_of_clusters_is_what_the_device_holds_beyond_what_is_asked(
    clusters: int | None, spare: int
) -> None:
    assert held(clusters, CLUSTERS).headroom_blocks == spare


@pytest.mark.parametrize(("clusters", "fits"), [(1, True), (0, False)])
def test_clusters_that_wait_for_nobody_need_one_that_is_resident(
    clusters: int, *, fits: bool
) -> None:
    apart = replace(ONE_CLUSTER_MORE, waits_on_blocks=False)

    assert held(clusters, apart).fits == fits


@pytest.mark.parametrize(
    ("clusters", "blocks_per_cluster", "is_bound"),
    [(None, 8, True), (16, 8, False), (None, 1, False)],
)
def test_only_clusters_that_nobody_was_asked_of_are_an_upper_bound(
    clusters: int | None, blocks_per_cluster: int, *, is_bound: bool
) -> None:
    launch = replace(CLUSTERS, blocks_per_cluster=blocks_per_cluster)

    assert held(clusters, launch).tightest.is_upper_bound == is_bound


@pytest.mark.parametrize(
    ("clusters", "fitting"),
    [
        (15, "15 clusters of 8 = 120 fit"),
        (None, "16 clusters of 8 = 128 fit at most (1 blocks per SM x 132 SMs)"),
    ],
)
def test_a_refusal_counts_clusters_and_says_of_a_bound_that_it_is_one(
    clusters: int | None, fitting: str
) -> None:
    evidence = str(held(clusters, ONE_CLUSTER_MORE)).splitlines()[1]

    assert evidence == f"  row asks for 136 blocks at once; {fitting}"


@pytest.mark.parametrize(
    ("clusters", "spare"), [(17, "136 blocks, 8"), (None, "at most 128 blocks, 0")]
)
def test_a_fit_says_of_a_bound_that_it_is_one(clusters: int | None, spare: str) -> None:
    assert str(held(clusters, CLUSTERS)).endswith(f": 128 of {spare} to spare")


def test_where_not_one_cluster_fits_nobody_is_told_of_blocks_too_many() -> None:
    apart = replace(CLUSTERS, waits_on_blocks=False)

    assert str(held(0, apart)).startswith("does not fit fake device: not even one cluster (driver)")


@pytest.mark.parametrize(("blocks_per_cluster", "times"), [(1, 0), (2, 1)])
def test_a_device_is_asked_of_clusters_where_there_are_any(
    blocks_per_cluster: int, times: int
) -> None:
    board = Board(64)
    launch = replace(CLUSTERS, blocks_per_cluster=blocks_per_cluster)
    plan = LaunchPlan((launch,), (), (), "a test asks for it")

    check_residency(plan, module_of("row"), board, source="driver")

    assert board.asked == [launch] * times


# ---- before anything is launched -------------------------------------------------------------


def too_large() -> Case:
    """A case of one block more than both fake devices hold, 8 on each of 132 SMs."""
    case = case_of()
    sound = case.variant.plan

    def plan(*asked: Any) -> LaunchPlan:
        found = sound(*asked)
        launch = replace(found.launches[0], blocks=8 * 132 + 1, cooperative=True)
        return replace(found, launches=(launch,))

    return replace(case, variant=replace(case.variant, plan=plan))


def test_nothing_is_prepared_for_numerics_that_does_not_fit() -> None:
    case, fake = too_large(), Fake()
    loaded: Any = FakeModule(fake, module_of("small"))

    with pytest.raises(GateFailure, match="1 block too many"):
        prepare(case, case.problem, loaded, {})

    assert fake.asked == []


def test_nothing_is_prepared_for_timing_that_does_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    workshop, prepared = Workshop.opened(monkeypatch), list[object]()
    monkeypatch.setattr(session, "Invocation", lambda *arguments: prepared.append(arguments))

    with pytest.raises(GateFailure, match="1 block too many"):
        workshop.prepare(too_large())

    assert prepared == []
