"""The run's JSON: valid whatever was measured, replaced in one step, and kept out of git."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_rmsperf.accuracy import Comparison, Numerics, Precision
from pytest_rmsperf.campaign import Campaign
from pytest_rmsperf.checks import (
    CheckedCase,
    EmulatedMachine,
    Failure,
    Machine,
    SessionResult,
    Stage,
    TimedSession,
    Turn,
)
from pytest_rmsperf.emulation import AddressCheck, Emulation, Schedules
from pytest_rmsperf.environment import DeviceIdentity
from pytest_rmsperf.judge.ordering import Ordered, Ordering, OrderStatus
from pytest_rmsperf.judge.verdict import Verdict
from pytest_rmsperf.judging import Findings
from pytest_rmsperf.kernels.rms_scaled_softmax import OPERATOR
from pytest_rmsperf.launch import Role
from pytest_rmsperf.protocol import StopReason
from pytest_rmsperf.report.run_file import plain, run_folder, write_run
from pytest_rmsperf.samples import Samples
from pytest_rmsperf.settings import Settings

CASE = "softmax/online-graph/16x1024"
WRONG = Comparison(
    "special rows", "y", Precision.FLOAT32, float("inf"), (0, 3), float("nan"), 0.5, 1e-5, 1, 4,
    "NaN at 1 places",
)  # fmt: skip
SESSION = SessionResult(
    TimedSession(
        {CASE: Samples(CASE, 120, (8, 9), (20, 21))},
        order=(CASE,),
        turns=(Turn(0, backwards=True),),
        stop_reason=StopReason.PRECISION,
    )
)
CAMPAIGN = Campaign(
    machine=Machine(device=None, why_no_device="no CUDA device"),
    checked={CASE: CheckedCase(CASE, numerics=Numerics((WRONG,), 1, float("-inf")))},
    rounds=((SESSION,), (SESSION, SESSION)),
    set_aside=(replace(SESSION, unfit="the device was 90 % busy", drifting={CASE: "drifts"}),),
    failures={CASE: Failure(Stage.NUMERICS, "wrong")},
)


@dataclass(frozen=True, slots=True)
class Nested:
    stage: Stage
    inner: tuple[object, ...]


def refuse(word: str) -> float:
    raise ValueError(f"{word} is not JSON")


def strictly(text: str) -> Any:
    """Parse as other languages do, which know neither NaN nor Infinity."""
    return json.loads(text, parse_constant=refuse)


Written = Callable[..., Any]


@pytest.fixture
def written(tmp_path: Path, default_settings: Settings) -> Written:
    """Write a run to `run.json`, or elsewhere, and read it back: `written(Findings())`."""

    def write(
        findings: Findings | None = None, *, path: Path | None = None, campaign: Campaign = CAMPAIGN
    ) -> Any:
        path = path or tmp_path / "run.json"
        write_run(path, default_settings, campaign, findings or Findings())
        return strictly(path.read_text(encoding="utf-8"))

    return write


def test_figures_that_json_cannot_hold_are_named(written: Written) -> None:
    numerics = written()["checked"][CASE]["numerics"]

    (comparison,) = numerics["comparisons"]
    assert (comparison["largest_error"], comparison["got"], numerics["reference_error"]) == (
        "inf",
        "nan",
        "-inf",
    )


def test_every_sample_is_kept_in_order(written: Written) -> None:
    samples = written()["rounds"][0][0]["timed"]["samples"][CASE]

    assert (samples["device_ns"], samples["completion_ns"]) == ([8, 9], [20, 21])


def test_sessions_are_kept_by_rounds(written: Written) -> None:
    assert [len(one) for one in written()["rounds"]] == [1, 2]


def test_a_session_is_kept_with_its_order_and_why_it_ended(written: Written) -> None:
    timed = written()["rounds"][0][0]["timed"]

    assert (timed["order"], timed["stop_reason"]) == ([CASE], "precision")
    assert timed["turns"] == [{"start": 0, "backwards": True}]


def test_a_session_that_was_measured_again_is_kept_with_its_reason(written: Written) -> None:
    (aside,) = written()["set_aside"]

    assert (aside["unfit"], aside["drifting"]) == ("the device was 90 % busy", {CASE: "drifts"})


def test_settings_are_kept(written: Written) -> None:
    settings = written()["settings"]

    assert settings["protocol"]["sessions"] == 3
    assert settings["thresholds"]["device"] == {"share": 0.03, "floor_ns": 50}


def test_why_nothing_was_measured_is_kept(written: Written) -> None:
    assert written()["machine"]["why_no_device"] == "no CUDA device"


def test_emulated_numerics_are_kept_with_device_problem_and_seeds(written: Written) -> None:
    schedules = Schedules(first_seed=7, count=2)
    h100 = DeviceIdentity("NVIDIA H100 80GB HBM3", 132, "9.0", 81_559)
    emulation = Emulation("64x12292", schedules, AddressCheck(("16400x131072",), 3))
    numerics = Numerics((WRONG,), 2, None, emulation)
    campaign = replace(
        CAMPAIGN,
        machine=Machine(None, "none", emulated=EmulatedMachine(h100, "g++ 12.2.0", schedules)),
        checked={CASE: CheckedCase(CASE, numerics=numerics)},
    )

    content = written(campaign=campaign)

    seeds = {"first_seed": 7, "count": 2}
    assert content["checked"][CASE]["numerics"]["emulation"] == {
        "problem": "64x12292",
        "schedules": seeds,
        "addresses": {"problems": ["16400x131072"], "launches": 3},
    }
    machine = content["machine"]["emulated"]
    assert (machine["identity"]["name"], machine["compiler"]) == (h100.name, "g++ 12.2.0")
    assert machine["schedules"] == seeds


def test_a_failure_is_kept_with_its_stage(written: Written) -> None:
    assert written()["failures"][CASE] == {
        "stage": "numerics",
        "message": "wrong",
        "fatal": False,
    }


def test_a_verdict_is_kept_with_what_it_rests_on(
    written: Written, judged: Callable[..., Verdict]
) -> None:
    verdict = judged((8000,) * 3, (9000,) * 3, (9000,) * 3)

    found = written(Findings({CASE: verdict}))["verdicts"][CASE]

    assert (found["status"], found["figure"]) == ("slower", "device time")
    assert (found["confirming_sessions"], found["is_paired"]) == (3, False)
    assert (found["device"]["share"], found["device"]["limit"]) == (0.125, 0.03)
    assert found["completion"]["status"] == "unchanged"
    assert found["thresholds"]["completion"] == {"share": 0.25, "floor_ns": 1000}


@pytest.mark.parametrize(("host_ns", "is_bound"), [(16_001, False), (18_001, True)])
def test_a_verdict_says_whether_the_case_is_bound_by_the_host(
    written: Written, judged: Callable[..., Verdict], host_ns: int, *, is_bound: bool
) -> None:
    hosts = (host_ns,) * 3

    verdict = judged((8001,) * 3, (8001,) * 3, host=(hosts, hosts))

    assert written(Findings({CASE: verdict}))["verdicts"][CASE]["is_host_bound"] is is_bound


def test_a_verdict_on_nothing_is_kept_too(written: Written, judged: Callable[..., Verdict]) -> None:
    verdict = replace(judged((8000,) * 3, (8000,) * 3), current=None, device=None, completion=None)

    found = written(Findings({CASE: verdict}))["verdicts"][CASE]

    assert (found["device"], found["is_host_bound"]) == (None, None)


def test_an_ordering_is_kept_with_the_ratio_of_each_session(written: Written) -> None:
    fast, slow = OPERATOR.cases()[:2]
    ordering = Ordering(fast, slow, ratio=1.5)
    found = Ordered(ordering, OrderStatus.VIOLATED, (1.2, 1.3))

    assert written(Findings({}, {ordering.id: found}))["orderings"] == {
        ordering.id: {"status": "violated", "stated": 1.5, "ratios": [1.2, 1.3]}
    }


def test_a_run_without_findings_has_none_in_the_file(written: Written) -> None:
    content = written()

    assert (content["verdicts"], content["orderings"]) == ({}, {})


def test_the_file_says_its_schema(written: Written) -> None:
    assert written()["schema_version"] == 3


def test_a_later_state_replaces_an_earlier_one_and_leaves_nothing_beside_it(
    tmp_path: Path, written: Written
) -> None:
    path = tmp_path / "folder" / "run.json"
    path.parent.mkdir()
    path.write_text("an earlier run", encoding="utf-8")

    written(path=path)

    assert list(path.parent.iterdir()) == [path]


def test_a_folder_that_does_not_exist_is_an_error(tmp_path: Path, written: Written) -> None:
    with pytest.raises(FileNotFoundError):
        written(path=tmp_path / "absent" / "run.json")


@pytest.mark.parametrize(
    ("value", "json_value"),
    [
        (None, None),
        (True, True),
        (7, 7),
        (0.5, 0.5),
        ("text", "text"),
        (Role.STATE, "state"),
        (Path("a/b"), "a/b"),
        (b"\x7fELF", "4 bytes"),
        ({Stage.TIME: (1, 2)}, {"time": [1, 2]}),
        (Nested(Stage.PLAN, (float("nan"), [1])), {"stage": "plan", "inner": ["nan", [1]]}),
        (np.float64(0.5), 0.5),
        (np.int64(3), 3),
        (np.float32("inf"), "inf"),
    ],
)
def test_any_value_becomes_a_json_value(value: object, json_value: object) -> None:
    assert strictly(json.dumps(plain(value), allow_nan=False)) == json_value


def test_the_folder_keeps_itself_out_of_git(tmp_path: Path) -> None:
    folder = run_folder(tmp_path)

    assert (folder / ".gitignore").read_text(encoding="utf-8") == "*\n"


def test_a_folder_that_is_there_is_used_again(tmp_path: Path) -> None:
    assert run_folder(tmp_path) == run_folder(tmp_path) == tmp_path / ".rmsperf"


def test_a_gitignore_of_the_users_is_left_alone(tmp_path: Path) -> None:
    ignore = run_folder(tmp_path) / ".gitignore"
    ignore.write_text("!run.json\n", encoding="utf-8")

    run_folder(tmp_path)

    assert ignore.read_text(encoding="utf-8") == "!run.json\n"
