"""--rmsperf-rename gives stored cases another name, so that a renamed variant keeps its history."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.plugin.conftest import Project

VARIANT = "--rmsperf-rename=scale_rows/vector=scale_rows/float4"


@pytest.fixture
def renamed(project: Project) -> Project:
    """The project, saved, after the variant vector became float4."""
    project.save()
    operator = project.path / "scale_rows" / "__init__.py"
    text = operator.read_text(encoding="utf-8")
    operator.write_text(text.replace('Variant("vector"', 'Variant("float4"'), encoding="utf-8")
    return project


def test_renamed_variant_is_compared_with_its_history(renamed: Project) -> None:
    renamed.run(VARIANT)

    result = renamed.check()

    result.assert_outcomes(passed=4, deselected=8)


def test_each_renamed_case_is_shown_with_its_file(renamed: Project) -> None:
    result = renamed.run(VARIANT)

    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(
        [
            f"renamed: scale_rows/vector-{one}/16x1024 -> scale_rows/float4-{one}/16x1024 in "
            f"{renamed.baseline}"
            for one in ("direct", "graph")
        ]
    )


def test_only_names_change_in_the_file(renamed: Project) -> None:
    before = renamed.baseline.read_text(encoding="utf-8")

    renamed.run(VARIANT)

    after = renamed.baseline.read_text(encoding="utf-8").replace("float4", "vector")
    assert json.loads(after) == json.loads(before)


def test_renaming_needs_no_gpu_and_measures_nothing(renamed: Project) -> None:
    renamed.script(device=None)
    renamed.calls()

    result = renamed.run(VARIANT)

    assert result.ret == pytest.ExitCode.OK
    assert set(renamed.calls()) <= {"close"}


def test_several_pairs_are_renamed_at_once(renamed: Project) -> None:
    result = renamed.run(VARIANT, "--rmsperf-rename=scale_rows/scalar=scale_rows/vector")

    assert result.ret == pytest.ExitCode.OK
    assert b"scale_rows/scalar" not in renamed.baseline.read_bytes()


@pytest.mark.parametrize(
    ("pair", "words"),
    [
        ("scale_rows/vector", "=scale_rows/vector: is not OLD=NEW"),
        ("scale_rows/vectr=scale_rows/float4", "no stored case is called scale_rows/vectr; there"),
        ("scale_rows/vector=scale_rows/scalar", "scale_rows/scalar-direct/16x1024 is taken in "),
    ],
)
def test_pair_that_cannot_be_renamed_is_an_error_and_changes_nothing(
    renamed: Project, pair: str, words: str
) -> None:
    before = renamed.baseline.read_bytes()

    result = renamed.run(f"--rmsperf-rename={pair}")

    assert result.ret not in (pytest.ExitCode.OK, pytest.ExitCode.INTERNAL_ERROR)
    assert renamed.baseline.read_bytes() == before
    text = "\n".join([*result.outlines, *result.errlines])
    assert words in text
