"""The store of accepted costs: one JSON file per arch and operator, beside the latencies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from pytest_rmsperf.costs import StaticCost
from pytest_rmsperf.storing.baseline_json import Place
from pytest_rmsperf.storing.case_store import CaseStore
from pytest_rmsperf.storing.static_format import decode, encode

SAVE = "pytest --rmsperf-static --rmsperf-save"

Costs = dict[str, StaticCost]


@dataclass(frozen=True, slots=True)
class StaticStore(CaseStore[StaticCost]):
    """The static baselines below `folder`, as `<arch>/<operator>.static.json`.

    No file of a latency has such a name: an operator's holds no dot.
    """

    renewal: ClassVar[str] = f"save anew: {SAVE}"

    def file_name(self, operator: str) -> str:
        """Return the name of an operator's file."""
        return f"{operator}.static.json"

    def encode(self, entries: Mapping[str, StaticCost], target: str, place: Place) -> bytes:
        """Return the file of an arch for these cases; BaselineError for what it cannot hold."""
        return encode(entries, target, place)

    def decode(self, raw: bytes, place: Place) -> Costs:
        """Return the cases of a file by id; BaselineError for what is never written."""
        return decode(raw, place)

    def require_own(self, entry: StaticCost, target: str, place: Place) -> None:
        """Raise BaselineError for the cost of another arch."""
        if entry.arch != target:
            raise place.refuse(f"must be compiled for {target}", entry.arch)
