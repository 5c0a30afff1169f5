"""The only store of accepted measurements: one JSON file per device, operator and kind of cache.

A file that cannot be read is an error and stays as it was; it is never taken for "no baseline".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

from pytest_rmsperf.cases import Submission
from pytest_rmsperf.errors import BaselineError
from pytest_rmsperf.measurement import Measurement
from pytest_rmsperf.protocol import Cache
from pytest_rmsperf.storing.baseline_files import exclusive, replace_all
from pytest_rmsperf.storing.baseline_format import decode, encode
from pytest_rmsperf.storing.baseline_json import Place

# What `Case.id` makes. Anything else would not be the same in the next run.
CASE_ID = re.compile(
    rf"(?P<operator>\w+)/(?P<variant>\w+)-({'|'.join(one.value for one in Submission)})"
    r"/[1-9][0-9]*(x[1-9][0-9]*)*",
    re.ASCII,
)

Cases = dict[str, Measurement]
Change = Callable[[Cases], Mapping[str, Measurement]]


@dataclass(frozen=True, slots=True)
class BaselineStore:
    """The baselines below `folder`, as `<device key>/<operator>.json`.

    Those of the protocol with a cold L2 lie beside them, as `<device key>/<operator>.cold.json`.
    """

    folder: Path
    cache: Cache = Cache.WARM

    def path(self, device_key: str, operator: str) -> Path:
        """Return the file of this device and operator, whether or not it exists."""
        return self.folder / device_key / self._file_name(operator)

    def devices(self, operator: str) -> tuple[str, ...]:
        """Return the keys of all devices that have a file for `operator`, sorted."""
        files = self.folder.glob(f"*/{self._file_name(operator)}")
        return tuple(sorted(file.parent.name for file in files))

    def devices_with(self, case_id: str) -> tuple[str, ...]:
        """Return the keys of all devices that this case is stored for, sorted."""
        operator = case_id.partition("/")[0]
        return tuple(one for one in self.devices(operator) if case_id in self.read(one, operator))

    def read(self, device_key: str, operator: str) -> Cases:
        """Return the stored cases by id; empty when there is no file.

        Raises BaselineError with file, key, value and remedy when the file cannot be trusted.
        """
        path = self.path(device_key, operator)
        try:
            raw = path.read_bytes()
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise BaselineError(
                f"cannot read baseline {path}: {error.strerror}\n"
                "make it a readable file, or name another folder: --rmsperf-baselines=DIR"
            ) from error
        return self.decoded(raw, device_key, operator, _reading(path))

    def decoded(self, raw: bytes, device_key: str, operator: str, place: Place) -> Cases:
        """Decode a file, and refuse cases that do not belong in the one at this path."""
        cases = decode(raw, place)
        for case_id, measurement in cases.items():
            spot = place.at("cases").at(case_id)
            if not case_id.startswith(f"{operator}/"):
                raise spot.fault(f"must start with {operator}/")
            if not CASE_ID.fullmatch(case_id):
                raise spot.fault("must be operator/variant-submission/problem, as a case's id is")
            run = measurement.run
            if run.source != "measured":  # a text tells neither the exact part nor the protocol
                continue
            if run.device.key != device_key:
                raise spot.refuse(f"must be measured on {device_key}", run.device.name)
            if run.protocol.cache is not self.cache:
                rule = f"must be measured with a {self.cache.value} cache"
                raise spot.refuse(rule, run.protocol.cache.value)
        return cases

    def write(
        self, device_key: str, operator: str, measurements: Mapping[str, Measurement]
    ) -> Path:
        """Store these cases as they are, keep all others, and return the file.

        Raises BaselineError, and writes nothing, when the existing file cannot be read or the new
        one could not be.
        """
        path = self.path(device_key, operator)
        if not measurements:
            raise BaselineError(
                f"nothing to save to {path}: no case was measured\n"
                "select at least one: pytest --rmsperf-save -k NAME"
            )
        apply([Edit(self, device_key, operator, lambda stored: {**stored, **measurements})])
        return path

    def remove(self, device_key: str, operator: str, case_ids: Collection[str]) -> None:
        """Forget these cases, and the file when none is left; BaselineError for an unknown one."""
        apply([self.removal(device_key, operator, case_ids)])

    def removal(self, device_key: str, operator: str, case_ids: Collection[str]) -> Edit:
        """Return the edit that `remove` applies."""

        def without(stored: Cases) -> Cases:
            unknown = sorted(set(case_ids) - stored.keys())
            if unknown:
                raise BaselineError(
                    f"cannot remove from {self.path(device_key, operator)}: it has no case "
                    f"{unknown[0]}\nit has: {', '.join(sorted(stored)) or 'none'}"
                )
            return {key: one for key, one in stored.items() if key not in case_ids}

        return Edit(self, device_key, operator, without)

    def _file_name(self, operator: str) -> str:
        return f"{operator}{'' if self.cache is Cache.WARM else f'.{self.cache.value}'}.json"


@dataclass(frozen=True, slots=True)
class Edit:
    """A change of one file: from the cases that it holds to those that it is to hold."""

    store: BaselineStore
    device_key: str
    operator: str
    change: Change

    @property
    def path(self) -> Path:
        return self.store.path(self.device_key, self.operator)

    def content(self) -> bytes | None:
        """Return the file after the change, None when no case is left in it.

        Raises BaselineError when the file cannot be read, or could not be read back.
        """
        place = Place(self.path, "refused to write baseline", "nothing was written; measure again")
        cases = self.change(self.store.read(self.device_key, self.operator))
        for key, one in cases.items():
            if key != one.case_id:
                raise place.at("cases").at(key).refuse("must be its measurement's id", one.case_id)
        if not cases:
            return None
        raw = encode(cases, place)
        # What the reader would refuse must not reach the disk.
        self.store.decoded(raw, self.device_key, self.operator, place)
        return raw


def apply(edits: Sequence[Edit]) -> None:
    """Carry out all edits, each of another file, or none of them.

    Raises what a change raises, and BaselineError when a file cannot be read, locked or written;
    then every file is as it was.
    """
    with exclusive([one.path for one in edits]):
        replace_all({one.path: one.content() for one in edits})


def _reading(path: Path) -> Place:
    file = quote(str(path))
    remedy = (
        f"restore it: git checkout -- {file}; or delete it and measure anew: pytest --rmsperf-save"
    )
    return Place(path, "cannot read baseline", remedy)
