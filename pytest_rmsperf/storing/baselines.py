"""The only store of accepted measurements: one JSON file per device, operator and kind of cache."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from pytest_rmsperf.measurement import Measurement
from pytest_rmsperf.protocol import Cache
from pytest_rmsperf.storing.baseline_format import decode, encode
from pytest_rmsperf.storing.baseline_json import Place
from pytest_rmsperf.storing.case_store import CaseStore

Cases = dict[str, Measurement]


@dataclass(frozen=True, slots=True)
class BaselineStore(CaseStore[Measurement]):
    """The baselines below `folder`, as `<device key>/<operator>.json`.

    Those of the protocol with a cold L2 lie beside them, as `<device key>/<operator>.cold.json`.
    """

    cache: Cache = Cache.WARM

    renewal: ClassVar[str] = "measure anew: pytest --rmsperf-save"

    def devices(self, operator: str) -> tuple[str, ...]:
        """Return the keys of all devices that have a file for `operator`, sorted."""
        return self.targets(operator)

    def devices_with(self, case_id: str) -> tuple[str, ...]:
        """Return the keys of all devices that this case is stored for, sorted."""
        operator = case_id.partition("/")[0]
        return tuple(one for one in self.devices(operator) if case_id in self.read(one, operator))

    def file_name(self, operator: str) -> str:
        """Return the name of an operator's file; the cold ones have a dot in their stem."""
        return f"{operator}{'' if self.cache is Cache.WARM else f'.{self.cache.value}'}.json"

    def encode(self, entries: Mapping[str, Measurement], target: str, place: Place) -> bytes:  # noqa: ARG002
        """Return the file for these cases; BaselineError for what it cannot hold."""
        return encode(entries, place)

    def decode(self, raw: bytes, place: Place) -> Cases:
        """Return the cases of a file by id; BaselineError for what is never written."""
        return decode(raw, place)

    def require_own(self, entry: Measurement, target: str, place: Place) -> None:
        """Raise BaselineError for a measurement of another device, or with another cache."""
        run = entry.run
        if run.source != "measured":  # a text tells neither the exact part nor the protocol
            return
        if run.device.key != target:
            raise place.refuse(f"must be measured on {target}", run.device.name)
        if run.protocol.cache is not self.cache:
            rule = f"must be measured with a {self.cache.value} cache"
            raise place.refuse(rule, run.protocol.cache.value)
