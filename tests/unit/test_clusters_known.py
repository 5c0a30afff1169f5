"""What a device once said of clusters, where it is not asked."""

from __future__ import annotations

from dataclasses import replace

import pytest

from costs import H100, H200, check_of, cost_of, fit_of_device, launch_of
from pytest_rmsperf.costs import DeviceFit, PlannedLaunch, StaticCheck
from pytest_rmsperf.judge.clusters import with_known_clusters

# 6 blocks per SM on 132 SMs are 99 clusters of 8 by computation; the device held 64 of them.
PLANNED = launch_of(blocks=512, cluster=8)
ANSWERED = replace(PLANNED, active_clusters=64)
CHECK = check_of(cost_of(fit_of_device(H200, PLANNED)))


def informed(check: StaticCheck, *measured: DeviceFit) -> StaticCheck:
    return with_known_clusters(check, {one.device: one for one in measured})


def answer(check: StaticCheck) -> int | None:
    assert check.cost is not None
    return check.cost.fits[0].launches[0].active_clusters


def asking_for(blocks: int, *, waits: bool = True) -> StaticCheck:
    launch = replace(PLANNED, blocks=blocks, must_be_resident=waits)
    return check_of(cost_of(fit_of_device(H200, launch)))


def test_a_launch_of_the_same_shape_takes_the_answer_of_the_device() -> None:
    found = informed(CHECK, fit_of_device(H200, ANSWERED))

    assert answer(found) == 64


def test_an_answer_holds_for_another_grid() -> None:
    assert answer(informed(asking_for(256), fit_of_device(H200, ANSWERED))) == 64


@pytest.mark.parametrize(
    "measured",
    [
        replace(ANSWERED, kernel="tiles"),
        replace(ANSWERED, threads_per_block=128),
        replace(ANSWERED, dynamic_smem_bytes=0),
        replace(ANSWERED, blocks_per_cluster=4),
        replace(ANSWERED, blocks_per_sm=5),
        replace(ANSWERED, active_clusters=None),
    ],
    ids=["kernel", "threads", "shared bytes", "cluster", "blocks per SM", "not asked"],
)
def test_the_answer_to_another_question_is_not_taken(measured: PlannedLaunch) -> None:
    assert informed(CHECK, fit_of_device(H200, measured)) == CHECK


@pytest.mark.parametrize(
    "measured",
    [fit_of_device(H100, ANSWERED), fit_of_device(H200, ANSWERED, sms=60)],
    ids=["another device", "a part of it"],
)
def test_the_answer_of_another_device_is_not_taken(measured: DeviceFit) -> None:
    assert informed(CHECK, measured) == CHECK


def test_a_launch_without_clusters_takes_nothing() -> None:
    check = check_of(cost_of(fit_of_device(H200, replace(PLANNED, blocks_per_cluster=1))))

    assert informed(check, fit_of_device(H200, replace(ANSWERED, blocks_per_cluster=1))) == check


@pytest.mark.parametrize(("blocks", "is_violated"), [(512, False), (520, True)])
def test_more_clusters_than_the_device_holds_together_do_not_fit(
    blocks: int, *, is_violated: bool
) -> None:
    found = informed(asking_for(blocks), fit_of_device(H200, ANSWERED))

    assert bool(found.violations) is is_violated


def test_a_violation_says_what_was_asked_for_and_what_the_device_said() -> None:
    [(device, message)] = informed(asking_for(520), fit_of_device(H200, ANSWERED)).violations

    verdict = message.partition("\n")[0]
    assert device == H200
    assert verdict == (
        f"does not fit {H200}: row asks for 65 clusters of 8 blocks; 64 are resident together "
        "(asked of the device, by its stored measurement)"
    )


@pytest.mark.parametrize(("active", "is_violated"), [(1, False), (0, True)])
def test_a_launch_that_waits_for_nobody_needs_one_cluster(
    active: int, *, is_violated: bool
) -> None:
    measured = fit_of_device(H200, replace(ANSWERED, active_clusters=active))

    found = informed(asking_for(520, waits=False), measured)

    assert bool(found.violations) is is_violated


def test_a_launch_that_waits_for_nobody_is_not_said_to_hang() -> None:
    measured = fit_of_device(H200, replace(ANSWERED, active_clusters=0))

    [(_, message)] = informed(asking_for(520, waits=False), measured).violations

    assert message.splitlines() == [
        (
            f"does not fit {H200}: not even one cluster of 8 blocks of row is resident "
            "(asked of the device, by its stored measurement)"
        ),
        "the driver refuses such a launch; make the block smaller, then: pytest --rmsperf --lf",
    ]


def test_a_device_that_does_not_fit_anyway_keeps_its_message() -> None:
    check = replace(asking_for(520), violations=((H200, "does not fit"),))

    assert informed(check, fit_of_device(H200, ANSWERED)).violations == check.violations


def test_what_does_not_compile_stays_as_it_is() -> None:
    check = StaticCheck("sm_90", None, "does not compile")

    assert informed(check, fit_of_device(H200, ANSWERED)) is check
