"""The table of devices, and the line on the tightest of all."""

from __future__ import annotations

from dataclasses import replace

from costs import CASE_ID, H100, L4, check_of, cost_of, fit_of_device, kernel_of, launch_of
from pytest_rmsperf.costs import StaticCheck
from pytest_rmsperf.report.devices import (
    CLUSTERS,
    COLUMNS,
    HIDDEN_IF_EMPTY,
    LEGEND,
    device_table,
    tightest_line,
)

DIRECT = CASE_ID.replace("-graph", "-direct")
FOLDED = CASE_ID.replace("-graph", "-direct|graph")
UNFIT = f"does not fit {L4}: 3 blocks too many (computed)\n  row asks for 293 blocks at once"
ADA = cost_of(fit_of_device(L4, blocks=286, blocks_per_sm=5), arch="sm_89")
TIPS = "one more register per thread: 6 -> 5 blocks per SM"


def cells_of(check: StaticCheck) -> dict[str, str]:
    """Return the first row of a table by its columns."""
    head, _, row, *_ = device_table([(CASE_ID, (check,))])
    titles = [one for one in COLUMNS if f" {one} " in f"{head} "]
    return dict(zip(titles, row.replace("NVIDIA ", "").split(), strict=False))


def test_nothing_checked_makes_no_table() -> None:
    assert device_table([]) == []
    assert device_table([(CASE_ID, ())]) == []


def test_names_stand_to_the_left_and_numbers_to_the_right() -> None:
    checks = (check_of(cost_of(fit_of_device(H100, launch_of(blocks=8)))), check_of(ADA))

    head, heading, *rows = device_table([(CASE_ID, checks)])

    assert [head[:60], heading, *(row[:60] for row in rows[:2])] == [
        "  device                 arch   regs  shared  per SM  blocks",
        CASE_ID,
        "  NVIDIA H100 80GB HBM3  sm_90    40   17408       6       8",
        "  NVIDIA L4              sm_89    40   17408       5     286",
    ]
    assert rows[2:] == list(LEGEND)


def test_columns_without_anything_in_them_are_left_out() -> None:
    head = device_table([(CASE_ID, (check_of(cost_of(fit_of_device(facts=()))),))])[0]

    assert tuple(head.replace("per SM", "per_SM").split()) == tuple(
        one.replace(" ", "_") for one in COLUMNS if one not in HIDDEN_IF_EMPTY
    )


def test_a_row_shows_what_a_launch_needs_and_what_the_device_holds() -> None:
    cost = cost_of(fit_of_device(L4), kernels=[kernel_of(registers=40, spills=(8, 4))])

    assert cells_of(check_of(cost)) == {
        "device": "L4",
        "arch": "sm_90",
        "regs": "40",
        "spills": "12",
        "shared": "17408",
        "per SM": "6",
        "blocks": "512",
        "limit": "348",
        "headroom": "-164",
        "launches": "1",
        "rows": "16",
        "+regs": "1",
        "+bytes": "20481",
    }


def test_the_heaviest_kernel_and_block_stand_for_all() -> None:
    launches = (launch_of("sums", smem=0, waits=False), launch_of("tiles", smem=4096, waits=False))
    kernels = [kernel_of("sums", registers=64, smem=9000), kernel_of("tiles", registers=16)]

    cells = cells_of(check_of(cost_of(fit_of_device(L4, *launches), kernels=kernels)))

    assert (cells["regs"], cells["shared"], cells["launches"]) == ("64", "9000", "2")


def test_what_a_plan_does_not_tell_is_a_dash() -> None:
    launch = launch_of(waits=False)

    assert cells_of(check_of(cost_of(fit_of_device(L4, launch))))["headroom"] == "-"


def test_submissions_that_cost_the_same_stand_together() -> None:
    table = device_table([(one, (check_of(cost_of(case_id=one)),)) for one in (DIRECT, CASE_ID)])

    assert [line for line in table if "/" in line][0:1] == [FOLDED]
    assert sum(H100 in line for line in table) == 1


def test_submissions_that_differ_stand_apart() -> None:
    other = cost_of(kernels=[kernel_of(registers=41)])

    table = device_table([(DIRECT, (check_of(other),)), (CASE_ID, (check_of(),))])

    assert [line for line in table if line in (DIRECT, CASE_ID)] == [DIRECT, CASE_ID]


def test_a_violated_device_says_so_in_its_row() -> None:
    table = device_table([(CASE_ID, (check_of(ADA, (L4, UNFIT)),))])

    assert table[2].endswith("  violated: does not fit: 3 blocks too many (computed)")


def test_a_device_without_a_plan_has_dashes_and_says_why() -> None:
    planless = cost_of(fit_of_device(L4, why_not="a row is 32 blocks and 20 fit"), kernels=[])

    row = device_table([(CASE_ID, (check_of(planless),))])[2]

    assert row.split()[2:5] == ["sm_90", "-", "-"]
    assert row.endswith("  violated: a row is 32 blocks and 20 fit")


def test_an_arch_that_a_source_does_not_compile_for_has_a_row() -> None:
    check = StaticCheck("sm_75", None, "row.cu does not compile for sm_75\n  an error")

    row = device_table([(CASE_ID, (check,))])[2]

    assert row.split()[:2] == ["-", "sm_75"]
    assert row.endswith("  violated: row.cu does not compile for sm_75")


def test_a_limit_by_computation_alone_is_marked_and_explained() -> None:
    check = check_of(cost_of(fit_of_device(L4, launch_of(blocks=128, cluster=8))))

    assert (cells_of(check)["limit"], cells_of(check)["headroom"]) == ("<=344", "<=216")
    assert device_table([(CASE_ID, (check,))])[-1] == CLUSTERS


def test_a_limit_that_the_device_told_is_not_marked() -> None:
    check = check_of(cost_of(fit_of_device(L4, launch_of(cluster=8, active_clusters=64))))

    assert cells_of(check)["limit"] == "512"
    assert device_table([(CASE_ID, (check,))])[-1] != CLUSTERS


# ---- the tightest of all ---------------------------------------------------------------------


def test_the_device_with_least_headroom_is_named_with_its_tipping_points() -> None:
    line = tightest_line([(DIRECT, (check_of(),)), (CASE_ID, (check_of(), check_of(ADA)))])

    assert line is not None
    assert line.startswith(
        f"static: 2 cases on 2 devices; tightest: {CASE_ID} on {L4}: fits by 4 blocks of 290; "
        "9 more registers per thread: 5 -> 4 blocks per SM; "
    )


def test_a_plan_that_fills_its_device_is_the_tightest() -> None:
    full = cost_of(fit_of_device(blocks=792))

    line = tightest_line([(CASE_ID, (check_of(full), check_of(ADA)))])

    assert line is not None
    assert f"{CASE_ID} on {H100}: fits by 0 blocks of 792; {TIPS}; " in line


def test_cases_that_are_violated_are_counted_and_are_not_the_tightest() -> None:
    unfit = replace(ADA, fits=(fit_of_device(L4, blocks=293, blocks_per_sm=5),))

    line = tightest_line([(CASE_ID, (check_of(), check_of(unfit, (L4, UNFIT))))])

    assert line is not None
    assert line.startswith(
        f"static: 1 case on 2 devices, 1 case violated; tightest: {CASE_ID} on {H100}: "
    )


def test_plans_that_do_not_wait_have_no_tightest() -> None:
    check = check_of(cost_of(fit_of_device(H100, launch_of(waits=False))))

    assert tightest_line([(CASE_ID, (check,))]) == (
        "static: 1 case on 1 device; no launch waits on other blocks"
    )


def test_where_nothing_could_be_planned_the_violations_are_all_there_is_to_say() -> None:
    check = StaticCheck("sm_75", None, "row.cu does not compile for sm_75")

    assert tightest_line([(CASE_ID, (check,))]) == "static: 1 case on 0 devices, 1 case violated"


def test_nothing_checked_has_no_tightest() -> None:
    assert tightest_line([(CASE_ID, ())]) is None
