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
)
from pytest_rmsperf.emulation import AddressCheck, Emulation, Schedules
from pytest_rmsperf.environment import DeviceIdentity
from pytest_rmsperf.launch import Role
from pytest_rmsperf.report.records import CaseReport
from pytest_rmsperf.report.run_file import RunFile, plain, run_folder, write_run
from pytest_rmsperf.samples import Samples
from pytest_rmsperf.verdict import Verdict

CASE = "softmax/online-graph/16x1024"
WRONG = Comparison(
    "special rows", "y", Precision.FLOAT32, float("inf"), (0, 3), float("nan"), 0.5, 1e-5, 1, 4,
    "NaN at 1 places",
)  # fmt: skip
CAMPAIGN = Campaign(
    machine=Machine(device=None, why_no_device="no CUDA device"),
    checked={CASE: CheckedCase(CASE, numerics=Numerics((WRONG,), 1, float("-inf")))},
    sessions=(SessionResult({CASE: Samples(CASE, 120, (8, 9), (20, 21))}),),
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


def written(path: Path, *reports: CaseReport) -> Any:
    write_run(path, CAMPAIGN, reports)
    return strictly(path.read_text(encoding="utf-8"))


def test_figures_that_json_cannot_hold_are_named(tmp_path: Path) -> None:
    numerics = written(tmp_path / "run.json")["checked"][CASE]["numerics"]

    (comparison,) = numerics["comparisons"]
    assert (comparison["largest_error"], comparison["got"], numerics["reference_error"]) == (
        "inf",
        "nan",
        "-inf",
    )


def test_every_sample_is_kept_in_order(tmp_path: Path) -> None:
    samples = written(tmp_path / "run.json")["sessions"][0]["samples"][CASE]

    assert (samples["device_ns"], samples["completion_ns"]) == ([8, 9], [20, 21])


def test_why_nothing_was_measured_is_kept(tmp_path: Path) -> None:
    assert written(tmp_path / "run.json")["machine"]["why_no_device"] == "no CUDA device"


def test_emulated_numerics_are_kept_with_device_problem_and_seeds(tmp_path: Path) -> None:
    schedules = Schedules(first_seed=7, count=2)
    h100 = DeviceIdentity("NVIDIA H100 80GB HBM3", 132, "9.0", 81_559)
    emulation = Emulation("64x12292", schedules, AddressCheck(("16400x131072",), 3))
    numerics = Numerics((WRONG,), 2, None, emulation)
    campaign = replace(
        CAMPAIGN,
        machine=Machine(None, "none", emulated=EmulatedMachine(h100, "g++ 12.2.0", schedules)),
        checked={CASE: CheckedCase(CASE, numerics=numerics)},
    )

    write_run(tmp_path / "run.json", campaign, [])

    content = strictly((tmp_path / "run.json").read_text(encoding="utf-8"))
    seeds = {"first_seed": 7, "count": 2}
    assert content["checked"][CASE]["numerics"]["emulation"] == {
        "problem": "64x12292",
        "schedules": seeds,
        "addresses": {"problems": ["16400x131072"], "launches": 3},
    }
    machine = content["machine"]["emulated"]
    assert (machine["identity"]["name"], machine["compiler"]) == (h100.name, "g++ 12.2.0")
    assert machine["schedules"] == seeds


def test_a_failure_is_kept_with_its_stage(tmp_path: Path) -> None:
    assert written(tmp_path / "run.json")["failures"][CASE] == {
        "stage": "numerics",
        "message": "wrong",
        "fatal": False,
    }


def test_a_verdict_is_kept_with_its_reason(tmp_path: Path, judged: Callable[..., Verdict]) -> None:
    report = CaseReport(CheckedCase(CASE), None, judged((8000,), (9000,)), None, None, None)

    assert written(tmp_path / "run.json", report)["verdicts"] == {
        CASE: {"status": "slower", "reason": "device time"}
    }


def test_a_case_without_a_verdict_has_none_in_the_file(tmp_path: Path) -> None:
    report = CaseReport(CheckedCase(CASE), None, None, None, "no CUDA device", None)

    assert written(tmp_path / "run.json", report)["verdicts"] == {}


def test_the_file_says_its_schema(tmp_path: Path) -> None:
    assert written(tmp_path / "run.json")["schema_version"] == 1


def test_a_later_state_replaces_an_earlier_one_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text("an earlier run", encoding="utf-8")

    written(path)

    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_does_not_exist_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        written(tmp_path / "absent" / "run.json")


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


@dataclass
class Clock:
    """A clock on which each reading takes a second."""

    now_s: float = 0.0

    def __call__(self) -> float:
        self.now_s += 1.0
        return self.now_s


def checks_in(path: Path) -> int:
    return len(json.loads(path.read_text(encoding="utf-8"))["checked"])


def grown(cases: int, *sessions: SessionResult) -> Campaign:
    checked = {str(one): CheckedCase(str(one)) for one in range(cases)}
    return Campaign(Machine(None, "none"), checked, sessions)


def test_checks_are_written_for_at_most_a_tenth_of_the_time(tmp_path: Path) -> None:
    path, clock = tmp_path / "run.json", Clock()
    file = RunFile(path, clock)

    file.keep(grown(1))
    file.keep(grown(2))
    early = checks_in(path)
    clock.now_s += 10
    file.keep(grown(3))

    assert (early, checks_in(path)) == (1, 3)


def test_every_session_is_written_at_once(tmp_path: Path) -> None:
    file = RunFile(tmp_path / "run.json", Clock())

    file.keep(grown(1))
    file.keep(grown(2, SessionResult({})))

    assert checks_in(tmp_path / "run.json") == 2


def test_an_interrupted_run_leaves_what_was_last_kept(tmp_path: Path) -> None:
    file = RunFile(tmp_path / "run.json", Clock())

    file.keep(grown(1))
    file.keep(grown(2))
    file.write_latest()

    assert checks_in(tmp_path / "run.json") == 2
