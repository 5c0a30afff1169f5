"""An emulated device stands for a CUDA device: numerics run, latencies do not, and it says so."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from pytest_rmsperf.emulated.device import why_no_emulation

if TYPE_CHECKING:
    from tests.plugin.conftest import Project

CASE = "scale_rows/scalar-direct/16x1024"
HOW = "(emulated at 16x1024, 4 schedules, seeds 0 to 3)"
LAUNCH = """
import pytest
from test_scale_rows import each_case

@pytest.mark.rmsperf
@each_case
def test_own(case, rmsperf_launch):
    import numpy

    x = numpy.full((16, 1024), 3, numpy.float32)
    assert (rmsperf_launch(case, {"x": x}).require()["y"] == 6).all()
"""
DEVICE = """
import pytest

@pytest.mark.rmsperf
def test_own(rmsperf_device):
    rmsperf_device.require()
"""
UNTOLD = """
import pytest
from test_scale_rows import each_case

@pytest.mark.rmsperf
@each_case
def test_own(case, request):
    request.getfixturevalue("rmsperf_numerics").require()
"""

needs_compiler = pytest.mark.skipif(
    why_no_emulation() is not None, reason=f"nothing can be emulated: {why_no_emulation()}"
)


@pytest.fixture
def emulated(project: Project) -> Project:
    project.script(device="emulated")
    return project


# ---- what runs -------------------------------------------------------------------------------


def test_numerics_run_and_latencies_are_skipped(emulated: Project) -> None:
    result = emulated.run("--rmsperf")

    result.assert_outcomes(passed=8, skipped=4)
    assert result.ret == pytest.ExitCode.OK


def test_latency_is_skipped_for_want_of_a_cuda_device(emulated: Project) -> None:
    result = emulated.run("--rmsperf", "-rs")

    result.stdout.fnmatch_lines(["SKIPPED [[]4[]] *: not run: no CUDA device (none in the script)"])


def test_wrong_numerics_fail(emulated: Project) -> None:
    message = f"wrong: 3 elements outside the tolerance in y (counting) {HOW}"
    emulated.script(device="emulated", failed={CASE: ("numerics", message)})

    result = emulated.run("--rmsperf", "-k", "numerics")

    result.assert_outcomes(passed=3, failed=1, deselected=8)
    result.stdout.fnmatch_lines([message.replace("[", "[[]")])


def test_nothing_is_emulated_for_latencies_that_are_skipped_anyway(emulated: Project) -> None:
    emulated.check()

    assert not [line for line in emulated.calls() if "numerics" in line]


def test_launch_of_the_users_own_is_emulated(emulated: Project) -> None:
    emulated.write("test_own.py", LAUNCH)

    result = emulated.run("--rmsperf", "-k", "test_own")

    result.assert_outcomes(passed=4, deselected=12)


def test_device_fixture_skips(emulated: Project) -> None:
    emulated.write("test_own.py", DEVICE)

    result = emulated.run("--rmsperf", "-k", "test_own")

    result.assert_outcomes(skipped=1, deselected=12)


def test_numerics_that_nobody_was_told_to_check_fail_and_are_not_blamed_on_the_device(
    emulated: Project,
) -> None:
    emulated.write("test_own.py", UNTOLD)

    result = emulated.run("--rmsperf", "test_own.py")

    result.assert_outcomes(failed=4)
    result.stdout.fnmatch_lines(["not measured: no test of * has rmsperf_numerics among its *"])


# ---- what is said ----------------------------------------------------------------------------


def test_header_is_loud_about_the_emulation(emulated: Project) -> None:
    result = emulated.run("--rmsperf")

    line = (
        "rmsperf device: EMULATED NVIDIA H200 on this CPU (g++ 12.2.0; none in the script): "
        "numerics and barriers are checked by 4 schedules, seeds 0 to 3; nothing is timed, "
        "nothing enters a baseline"
    )
    assert line in result.outlines


def test_summary_says_what_was_emulated(emulated: Project) -> None:
    result = emulated.run("--rmsperf")

    result.stdout.fnmatch_lines(
        [
            f"{CASE} * emulated *",
            f"numerics of 4 cases, emulated, at worst {CASE}: right: *{HOW}",
        ]
    )


def test_last_lines_say_that_no_latency_was_compared(emulated: Project) -> None:
    result = emulated.run("--rmsperf")

    line = "0 of 4 latencies compared: no CUDA device (none in the script)"
    assert line in result.outlines[-5:]


def test_run_file_holds_the_emulated_device_and_each_cases_problem_and_seeds(
    emulated: Project,
) -> None:
    emulated.run("--rmsperf", "--rmsperf-json=run.json")

    content = json.loads((emulated.path / "run.json").read_bytes())
    assert content["machine"]["emulated"]["identity"]["name"] == "NVIDIA H200"
    assert content["checked"][CASE]["numerics"]["emulation"] == {
        "problem": "16x1024",
        "schedules": {"first_seed": 0, "count": 4},
        "addresses": None,
    }


# ---- what it never does ----------------------------------------------------------------------


def test_emulated_run_is_not_compared_with_the_baseline_of_the_device_it_stands_for(
    emulated: Project,
) -> None:
    emulated.script()
    before = emulated.save()
    emulated.script(device="emulated")

    result = emulated.run("--rmsperf")

    result.assert_outcomes(passed=8, skipped=4)
    assert emulated.baseline.read_bytes() == before


def test_saving_run_is_not_emulated_and_stores_nothing(emulated: Project) -> None:
    result = emulated.run("--rmsperf-save")

    result.stdout.fnmatch_lines(["rmsperf device: NONE: *", "NOT SAVED: no CUDA device *"])
    assert not emulated.baseline.exists()


@pytest.mark.parametrize("option", ["--rmsperf-require-gpu", "--rmsperf-device=cuda"])
def test_nothing_stands_for_a_gpu_that_was_asked_for(emulated: Project, option: str) -> None:
    result = emulated.run("--rmsperf", option)

    result.assert_outcomes(passed=4, failed=8)


# ---- for real --------------------------------------------------------------------------------


@pytest.fixture
def unscripted(
    project: Project, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> Project:
    """The project with a real worker; what is built for one test serves the next."""
    (project.path / "script.json").unlink()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "builds"))
    return project


@needs_compiler
def test_kernels_are_run_on_this_cpu(unscripted: Project) -> None:
    result = unscripted.run("--rmsperf", "--rmsperf-device=emulated", "-k", "numerics")

    result.assert_outcomes(passed=4, deselected=8)
    result.stdout.fnmatch_lines(
        [
            "rmsperf device: EMULATED NVIDIA H100 * (g++ *; none is used with *=emulated): *",
            f"numerics of 4 cases, emulated, at worst {CASE}: right: *{HOW}",
        ]
    )


def break_scalar(project: Project, old: str, new: str) -> None:
    """Replace a part of the variant scalar's source."""
    source = project.path / "scale_rows" / "scalar.cu"
    text = source.read_text(encoding="utf-8")
    assert old in text
    source.write_text(text.replace(old, new), encoding="utf-8")


@needs_compiler
def test_wrong_kernel_is_found_on_this_cpu(unscripted: Project) -> None:
    break_scalar(unscripted, "2.0f * ", "3.0f * ")

    result = unscripted.run("--rmsperf", "--rmsperf-device=emulated", "-k", "numerics")

    result.assert_outcomes(passed=2, failed=2, deselected=8)
    result.stdout.fnmatch_lines([f"wrong: 16383 elements outside * in y (counting) {HOW}"])


@needs_compiler
def test_fault_of_a_launch_of_the_users_own_is_told_as_it_is(unscripted: Project) -> None:
    break_scalar(unscripted, "y[row + column] =", "y[row + column + 16384] =")
    unscripted.write("test_own.py", LAUNCH)

    result = unscripted.run("--rmsperf", "-k", "test_own and scalar-direct")

    result.assert_outcomes(failed=1, deselected=15)
    result.stdout.fnmatch_lines(["* in scale_rows: thread * of block *", "  at  *scalar.cu:*"])
    result.stdout.no_fnmatch_line("lost: *")
