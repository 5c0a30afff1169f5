"""What a module compiled from one source says of its kernels."""

from __future__ import annotations

import pytest

from pytest_rmsperf.errors import GateFailure
from pytest_rmsperf.resources import CompiledKernel, CompiledModule


def test_a_source_without_kernels_says_that_it_has_none() -> None:
    empty = CompiledModule("row.cu", (), "key", b"", (), from_cache=False)

    with pytest.raises(GateFailure, match="it defines: none"):
        empty.kernel("row")


def test_a_kernel_is_found_by_its_whole_name() -> None:
    short, long = (CompiledKernel(name, 32, 0, 0, 0, 0) for name in ("row", "row_sums"))
    module = CompiledModule("row.cu", (), "key", b"", (long, short), from_cache=False)

    assert module.kernel("row") is short
