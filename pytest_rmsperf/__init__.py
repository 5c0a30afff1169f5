"""A pytest plugin that gates the latency, numerics, residency and static cost of CUDA kernels.

The names below are what an operator's folder and its tests need. They are loaded on first use:
pytest imports this package in every run of everyone who installed it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_rmsperf.accuracy import Precision, Tolerance
    from pytest_rmsperf.cases import Case, InputSet, Operator, Submission, Variant, load_operator
    from pytest_rmsperf.errors import PlanError
    from pytest_rmsperf.judge.ordering import OrderedFigure, Ordering
    from pytest_rmsperf.launch import (
        Buffer,
        KernelLaunch,
        LaunchPlan,
        Role,
        buffer,
        float32,
        int32,
        int64,
    )
    from pytest_rmsperf.problem import Problem
    from pytest_rmsperf.resources import Capacity, resident_blocks

__all__ = [
    "Buffer",
    "Capacity",
    "Case",
    "InputSet",
    "KernelLaunch",
    "LaunchPlan",
    "Operator",
    "OrderedFigure",
    "Ordering",
    "PlanError",
    "Precision",
    "Problem",
    "Role",
    "Submission",
    "Tolerance",
    "Variant",
    "buffer",
    "float32",
    "int32",
    "int64",
    "load_operator",
    "resident_blocks",
]

_HOMES = {
    "accuracy": ("Precision", "Tolerance"),
    "cases": ("Case", "InputSet", "Operator", "Submission", "Variant", "load_operator"),
    "errors": ("PlanError",),
    "launch": (
        "Buffer",
        "KernelLaunch",
        "LaunchPlan",
        "Role",
        "buffer",
        "float32",
        "int32",
        "int64",
    ),
    "judge.ordering": ("OrderedFigure", "Ordering"),
    "problem": ("Problem",),
    "resources": ("Capacity", "resident_blocks"),
}


def __getattr__(name: str) -> object:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"pytest_rmsperf.{home}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
