"""Faults are told at places of the very source that was launched, wherever its text lies too."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_rmsperf.emulated.faults import Fault

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.unit.emulated.device.conftest import Program

KERNELS = "faults.cu"


def launch(program: Program, kernel: str, n: int = 1) -> Fault:
    fault = program.launch(kernel, program.floats(32), program.output(32), n)
    assert fault is not None
    return fault


@pytest.fixture
def copied(program: Program, compile_source: Callable[[Path], Program], tmp_path: Path) -> Program:
    """The same text at another place, after it was compiled at the first one."""
    copy = tmp_path / program.source.name
    shutil.copy(program.source, copy)
    return compile_source(copy)


def test_text_that_was_compiled_elsewhere_before_is_told_by_its_own_place(copied: Program) -> None:
    assert launch(copied, "trap").frames[0].file == str(copied.source)


def test_other_place_of_a_barrier_is_of_the_same_source(copied: Program) -> None:
    assert f"wait at the one at {copied.source}:" in launch(copied, "split_barrier").text


def test_source_below_the_working_directory_is_told_from_there(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(program.source.parent)

    assert launch(program, "trap").frames[0].file == "faults.cu"


def test_inlined_helper_is_told_with_the_line_that_calls_it(program: Program) -> None:
    fault = launch(program, "two_sums_without_barrier")

    assert [frame.function for frame in fault.frames] == [
        "sum_over_block<false>",
        "sum_twice<false>",
        "two_sums_without_barrier",
    ]
