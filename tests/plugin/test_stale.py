"""A renamed case must not lose its history in silence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.plugin.conftest import Project

NO_STALE = """
import pytest
from test_scale_rows import OPERATOR

@pytest.mark.rmsperf
def test_no_stored_case_is_stale(rmsperf_no_stale):
    rmsperf_no_stale(OPERATOR.cases())
"""


@pytest.fixture
def renamed(project: Project) -> Project:
    """The project, saved, after the variant vector became float4."""
    project.write("test_stale.py", NO_STALE)
    project.save()
    operator = project.path / "scale_rows" / "__init__.py"
    text = operator.read_text(encoding="utf-8")
    operator.write_text(text.replace('Variant("vector"', 'Variant("float4"'), encoding="utf-8")
    return project


def test_nothing_is_stale_after_a_save(project: Project) -> None:
    project.write("test_stale.py", NO_STALE)
    project.save()

    result = project.run("--rmsperf", "-k", "stale")

    result.assert_outcomes(passed=1, deselected=12)


def test_renamed_variant_leaves_stale_cases_and_they_are_listed(renamed: Project) -> None:
    result = renamed.run("--rmsperf", "-k", "stale")

    result.assert_outcomes(failed=1, deselected=12)
    result.stdout.fnmatch_lines(
        [
            "stale: 2 stored cases that no test asks for",
            f"  {renamed.baseline}: scale_rows/vector-direct/16x1024",
            f"  {renamed.baseline}: scale_rows/vector-graph/16x1024",
            (
                "if they were renamed, keep their history with: "
                "pytest --rmsperf-rename=scale_rows/vector=scale_rows/float4"
            ),
            (
                "remove them (this needs no GPU) with: "
                "pytest --rmsperf-save -k test_no_stored_case_is_stale"
            ),
        ],
        consecutive=True,
    )


def test_renamed_variant_is_missing_under_its_new_name(renamed: Project) -> None:
    result = renamed.check()

    result.assert_outcomes(passed=2, failed=2, deselected=9)
    result.stdout.fnmatch_lines(
        ['create it with: pytest --rmsperf-save -k "scale_rows/float4-graph/16x1024"']
    )


def test_stale_case_is_found_without_a_device(renamed: Project) -> None:
    renamed.script(device=None)

    result = renamed.run("--rmsperf", "-k", "stale")

    result.assert_outcomes(failed=1, deselected=12)


def test_moved_and_renamed_test_keeps_its_baselines(project: Project) -> None:
    project.save()
    test = project.path / "test_scale_rows.py"
    text = test.read_text(encoding="utf-8").replace("test_latency", "test_latency_holds")
    test.unlink()
    project.write("test_elsewhere.py", text)

    result = project.check()

    result.assert_outcomes(passed=4, deselected=8)


def test_command_of_the_message_turns_the_run_green(renamed: Project) -> None:
    renamed.run("--rmsperf-rename=scale_rows/vector=scale_rows/float4")

    result = renamed.run("--rmsperf", "-k", "latency or stale")

    result.assert_outcomes(passed=5, deselected=8)


def test_removed_variant_leaves_stale_cases_that_no_renaming_is_offered_for(
    project: Project,
) -> None:
    project.write("test_stale.py", NO_STALE.replace("OPERATOR.cases()", "OPERATOR.cases()[:2]"))
    project.save()

    result = project.run("--rmsperf", "-k", "stale")

    result.stdout.fnmatch_lines(["give the case its old name back, or remove them *"])


def test_saving_removes_stale_cases_without_a_device_and_shows_them(renamed: Project) -> None:
    renamed.script(device=None)

    result = renamed.run("--rmsperf-save", "-k", "stale")

    result.assert_outcomes(passed=1, deselected=12)
    assert b"scale_rows/vector" not in renamed.baseline.read_bytes()
    assert renamed.baseline.read_bytes().count(b"scale_rows/scalar-") == 2
    result.stdout.fnmatch_lines(
        [f"removed: scale_rows/vector-direct/16x1024 from {renamed.baseline}"]
    )


def test_corrupt_baseline_fails_with_its_message_and_no_traceback(renamed: Project) -> None:
    renamed.baseline.write_text("{\n", encoding="utf-8")
    renamed.script(device=None)

    result = renamed.run("--rmsperf", "-k", "stale")

    result.assert_outcomes(failed=1, deselected=12)
    result.stdout.fnmatch_lines([f"cannot read baseline {renamed.baseline}*"])
    result.stdout.no_fnmatch_line("*json/decoder.py*")
