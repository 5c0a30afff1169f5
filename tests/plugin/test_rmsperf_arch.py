"""--rmsperf-arch: what is compiled for where there is no device."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.plugin.conftest import Project

ONE_CASE = ("--rmsperf", "-k", "residency and scalar-direct")


@pytest.fixture
def unscripted(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """The project with a real worker, which finds no device and no C++ compiler."""
    monkeypatch.setenv("RMSPERF_CXX", "no-such-compiler")
    (project.path / "script.json").unlink()
    return project


def test_named_arch_is_compiled_for_and_held_against_its_device(unscripted: Project) -> None:
    result = unscripted.run(*ONE_CASE, "--rmsperf-arch=sm_80")

    result.assert_outcomes(passed=1, deselected=11)
    result.stdout.fnmatch_lines(["rmsperf device: NONE: *compiling for sm_80"])


def test_arch_without_a_device_profile_is_a_usage_error_with_the_known_ones(
    unscripted: Project,
) -> None:
    result = unscripted.run(*ONE_CASE, "--rmsperf-arch=sm_999")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: no device profile for arch 'sm_999'", "*sm_90*"])


def test_empty_value_is_a_usage_error(project: Project) -> None:
    result = project.run("--rmsperf", "--rmsperf-arch=")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: --rmsperf-arch is empty; give a value or leave it out*"])
