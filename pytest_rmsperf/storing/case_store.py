"""Stored cases: one JSON file per device or arch and operator, several changed in one step.

A file that cannot be read is an error and stays as it was; it is never taken for "no baseline".
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from shlex import quote
from typing import ClassVar, Generic, TypeVar

from pytest_rmsperf.cases import Submission
from pytest_rmsperf.costs import StaticCost
from pytest_rmsperf.errors import BaselineError
from pytest_rmsperf.measurement import Measurement
from pytest_rmsperf.storing.baseline_files import exclusive, replace_all
from pytest_rmsperf.storing.baseline_json import Place

# What `Case.id` makes. Anything else would not be the same in the next run.
CASE_ID = re.compile(
    rf"(?P<operator>\w+)/(?P<variant>\w+)-({'|'.join(one.value for one in Submission)})"
    r"/[1-9][0-9]*(x[1-9][0-9]*)*",
    re.ASCII,
)

Entry = TypeVar("Entry", Measurement, StaticCost)


@dataclass(frozen=True, slots=True)
class CaseStore(ABC, Generic[Entry]):
    """The files below `folder`, as `<target>/<file name of the operator>`.

    A target is what the figures hold for: a device key, or an arch.
    """

    folder: Path

    renewal: ClassVar[str]  # what a person does about figures that are lost

    def path(self, target: str, operator: str) -> Path:
        """Return the file of this target and operator, whether or not it exists."""
        return self.folder / target / self.file_name(operator)

    def targets(self, operator: str) -> tuple[str, ...]:
        """Return all targets that have a file for `operator`, sorted."""
        files = self.folder.glob(f"*/{self.file_name(operator)}")
        return tuple(sorted(file.parent.name for file in files))

    def read(self, target: str, operator: str) -> dict[str, Entry]:
        """Return the stored cases by id; empty when there is no file.

        Raises BaselineError with file, key, value and remedy when the file cannot be trusted.
        """
        path = self.path(target, operator)
        try:
            raw = path.read_bytes()
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise BaselineError(
                f"cannot read baseline {path}: {error.strerror}\n"
                "make it a readable file, or name another folder: --rmsperf-baselines=DIR"
            ) from error
        remedy = f"restore it: git checkout -- {quote(str(path))}; or delete it and {self.renewal}"
        return self.decoded(raw, target, operator, Place(path, "cannot read baseline", remedy))

    def decoded(self, raw: bytes, target: str, operator: str, place: Place) -> dict[str, Entry]:
        """Decode a file, and refuse cases that do not belong in the one at this path."""
        return dict(self._decoded_once(raw, target, operator, place))

    # A run reads a file for its verdicts, for what is stale in it, and to save: 0.05 s each time.
    @lru_cache(maxsize=32)  # noqa: B019 (a store is a folder's name, and a run has few of them)
    def _decoded_once(
        self, raw: bytes, target: str, operator: str, place: Place
    ) -> Mapping[str, Entry]:
        cases = self.decode(raw, place)
        for case_id, entry in cases.items():
            spot = place.at("cases").at(case_id)
            if not case_id.startswith(f"{operator}/"):
                raise spot.fault(f"must start with {operator}/")
            if not CASE_ID.fullmatch(case_id):
                raise spot.fault("must be operator/variant-submission/problem, as a case's id is")
            self.require_own(entry, target, spot)
        return cases

    def edit(self, target: str, operator: str, change: Change[Entry]) -> Edit[Entry]:
        """Return a change of one file, for `apply`."""
        return Edit(self, target, operator, change)

    def write(self, target: str, operator: str, entries: Mapping[str, Entry]) -> Path:
        """Store these cases as they are, keep all others, and return the file.

        Raises BaselineError, and writes nothing, when the existing file cannot be read or the new
        one could not be.
        """
        path = self.path(target, operator)
        if not entries:
            raise BaselineError(
                f"nothing to save to {path}: no case was looked at\n"
                "select at least one: pytest --rmsperf-save -k NAME"
            )
        apply([self.edit(target, operator, lambda stored: {**stored, **entries})])
        return path

    def remove(self, target: str, operator: str, case_ids: Collection[str]) -> None:
        """Forget these cases, and the file when none is left; BaselineError for an unknown one."""
        apply([self.removal(target, operator, case_ids)])

    def removal(self, target: str, operator: str, case_ids: Collection[str]) -> Edit[Entry]:
        """Return the edit that `remove` applies."""

        def without(stored: dict[str, Entry]) -> dict[str, Entry]:
            unknown = sorted(set(case_ids) - stored.keys())
            if unknown:
                raise BaselineError(
                    f"cannot remove from {self.path(target, operator)}: it has no case "
                    f"{unknown[0]}\nit has: {', '.join(sorted(stored)) or 'none'}"
                )
            return {key: one for key, one in stored.items() if key not in case_ids}

        return self.edit(target, operator, without)

    @abstractmethod
    def file_name(self, operator: str) -> str:
        """Return the name of an operator's file, which no other store gives to any operator."""

    @abstractmethod
    def encode(self, entries: Mapping[str, Entry], target: str, place: Place) -> bytes:
        """Return the file for these cases; BaselineError for what it cannot hold."""

    @abstractmethod
    def decode(self, raw: bytes, place: Place) -> dict[str, Entry]:
        """Return the cases of a file by id; BaselineError for what `encode` would not write."""

    @abstractmethod
    def require_own(self, entry: Entry, target: str, place: Place) -> None:
        """Raise BaselineError when a case holds for another target, or belongs in another store."""


Change = Callable[[dict[str, Entry]], Mapping[str, Entry]]


@dataclass(frozen=True, slots=True)
class Edit(Generic[Entry]):
    """A change of one file: from the cases that it holds to those that it is to hold."""

    store: CaseStore[Entry]
    target: str
    operator: str
    change: Change[Entry]

    @property
    def path(self) -> Path:
        return self.store.path(self.target, self.operator)

    def content(self) -> bytes | None:
        """Return the file after the change, None when no case is left in it.

        Raises BaselineError when the file cannot be read, or could not be read back.
        """
        remedy = f"nothing was written; {self.store.renewal}"
        place = Place(self.path, "refused to write baseline", remedy)
        cases = self.change(self.store.read(self.target, self.operator))
        for key, one in cases.items():
            if key != one.case_id:
                raise place.at("cases").at(key).refuse("must be its record's id", one.case_id)
        if not cases:
            return None
        raw = self.store.encode(cases, self.target, place)
        # What the reader would refuse must not reach the disk.
        self.store.decoded(raw, self.target, self.operator, place)
        return raw


def apply(edits: Sequence[Edit[Measurement] | Edit[StaticCost]]) -> None:
    """Carry out all edits, each of another file, or none of them.

    Raises what a change raises, and BaselineError when a file cannot be read, locked or written;
    then every file is as it was.
    """
    with exclusive([one.path for one in edits]):
        replace_all({one.path: one.content() for one in edits})
