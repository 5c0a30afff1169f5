"""Static costs in the run's JSON: what was found of each case, each kernel once, the verdict."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from costs import H100, H200, L4, NVRTC, check_of, cost_of, fit_of_device, kernel_of
from fake_instrument import NO_DEVICE
from pytest_rmsperf.campaign import Campaign
from pytest_rmsperf.checks import CheckedCase
from pytest_rmsperf.costs import StaticCheck
from pytest_rmsperf.judge.cost import ArchVerdict, CostFinding, CostVerdict
from pytest_rmsperf.judge.policy import Status
from pytest_rmsperf.judging import Findings
from pytest_rmsperf.report.run_file import RUN_SCHEMA_VERSION, write_run
from pytest_rmsperf.settings import Settings

CASES = ("softmax/online-direct/16x1024", "softmax/online-graph/16x1024")
HOPPER = cost_of(fit_of_device(H100), fit_of_device(H200))
ADA = cost_of(fit_of_device(L4), arch="sm_89", kernels=[kernel_of(registers=48)])
UNFIT = (L4, "does not fit NVIDIA L4: 4 blocks too many\nmake it smaller")
STATIC = (check_of(HOPPER), check_of(ADA, UNFIT))
CAMPAIGN = Campaign(
    NO_DEVICE,
    {one: CheckedCase(one, static=STATIC) for one in CASES},
)


@pytest.fixture
def written(tmp_path: Path, default_settings: Settings) -> Callable[..., Any]:
    """Write a run and read it back: `written(campaign, findings)`."""

    def write(campaign: Campaign = CAMPAIGN, findings: Findings | None = None) -> Any:
        path = tmp_path / "run.json"
        write_run(path, default_settings, campaign, findings or Findings())
        return json.loads(path.read_text(encoding="utf-8"))

    return write


def test_version_says_that_costs_are_told(written: Callable[..., Any]) -> None:
    assert written()["schema_version"] == RUN_SCHEMA_VERSION == 3


def test_cost_stands_with_its_case(written: Callable[..., Any]) -> None:
    hopper, ada = written()["checked"][CASES[0]]["static"]

    assert (hopper["arch"], ada["arch"]) == ("sm_90", "sm_89")
    assert ada["violations"] == dict([UNFIT])
    assert hopper["cost"]["compiler"] == [list(one) for one in NVRTC]
    assert [one["device"] for one in hopper["cost"]["fits"]] == [H100, H200]


def test_each_kernel_and_each_launch_is_written_once(written: Callable[..., Any]) -> None:
    content = written()

    kernels = [one["registers_per_thread"] for one in content["static_kernels"].values()]
    assert kernels == [40, 48]
    assert len(content["static_launches"]) == 1


def test_keys_lead_to_kernels_and_launches(written: Callable[..., Any]) -> None:
    content = written()
    cost = content["checked"][CASES[1]]["static"][1]["cost"]

    (kernel,) = (content["static_kernels"][key] for key in cost["kernels"])
    (launch,) = (content["static_launches"][key] for key in cost["fits"][0]["launches"])

    assert (kernel["registers_per_thread"], launch["blocks"]) == (48, 512)


def test_source_that_does_not_compile_has_no_cost(written: Callable[..., Any]) -> None:
    failed = StaticCheck("sm_80", None, failure="does not compile: a.cu")
    campaign = replace(CAMPAIGN, checked={CASES[0]: CheckedCase(CASES[0], static=(failed,))})

    assert written(campaign)["checked"][CASES[0]]["static"] == [
        {"arch": "sm_80", "failure": "does not compile: a.cu", "violations": {}, "cost": None}
    ]


def test_verdict_is_told_with_what_it_rests_on(written: Callable[..., Any]) -> None:
    lost = ArchVerdict(
        "sm_89",
        Status.COSTLIER,
        (CostFinding(("NVIDIA L4",), "6 -> 5"),),
        (CostFinding(("sm_89",), "registers 40 -> 48"),),
        ADA,
        None,
    )
    verdict = CostVerdict(CASES[0], (lost,), ())

    found = written(findings=Findings(costs={CASES[0]: verdict}))["costs"]

    told = {
        "status": "costlier",
        "findings": ["NVIDIA L4: 6 -> 5"],
        "notes": ["sm_89: registers 40 -> 48"],
    }
    assert found == {
        CASES[0]: {
            "status": "costlier",
            "is_compared": True,
            "is_paired": False,
            "archs": {"sm_89": told},
            "violations": {},
        }
    }
