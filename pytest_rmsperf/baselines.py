"""The only store of accepted measurements: one JSON file per device and operator.

A file that cannot be read is an error and stays as it was; it is never taken for "no baseline".
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from shlex import quote
from uuid import uuid4

from filelock import FileLock, Timeout
from platformdirs import user_cache_path

from pytest_rmsperf.baseline_format import Place, decode, encode
from pytest_rmsperf.errors import BaselineError
from pytest_rmsperf.measurement import Measurement

# A writer holds the lock for some milliseconds; whoever holds it this long is stuck.
LOCK_TIMEOUT_S = 30


@dataclass(frozen=True, slots=True)
class BaselineStore:
    """The baselines below `folder`, as `<device key>/<operator>.json`."""

    folder: Path

    def path(self, device_key: str, operator: str) -> Path:
        """Return the file of this device and operator, whether or not it exists."""
        return self.folder / device_key / f"{operator}.json"

    def devices(self, operator: str) -> tuple[str, ...]:
        """Return the keys of all devices that have a file for `operator`, sorted."""
        return tuple(sorted(file.parent.name for file in self.folder.glob(f"*/{operator}.json")))

    def read(self, device_key: str, operator: str) -> dict[str, Measurement]:
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
        return _decode_own(raw, device_key, operator, _reading(path))

    def write(
        self, device_key: str, operator: str, measurements: Mapping[str, Measurement]
    ) -> Path:
        """Store these cases, keep all others, and return the file.

        A case keeps its stored note when the new measurement has none. Raises BaselineError, and
        writes nothing, when the existing file cannot be read or the new one could not be.
        """
        path = self.path(device_key, operator)
        if not measurements:
            raise BaselineError(
                f"nothing to save to {path}: no case was measured\n"
                "select at least one: pytest --rmsperf-save -k NAME"
            )
        with _exclusive(path):
            stored = self.read(device_key, operator)
            news = {key: _keep_note(one, stored.get(key)) for key, one in measurements.items()}
            self._save(device_key, operator, {**stored, **news})
        return path

    def remove(self, device_key: str, operator: str, case_ids: Collection[str]) -> None:
        """Forget these cases, and the file when none is left; BaselineError for an unknown one."""
        path = self.path(device_key, operator)
        with _exclusive(path):
            stored = self.read(device_key, operator)
            unknown = sorted(set(case_ids) - stored.keys())
            if unknown:
                raise BaselineError(
                    f"cannot remove from {path}: it has no case {unknown[0]}\n"
                    f"it has: {', '.join(sorted(stored)) or 'none'}"
                )
            left = {key: one for key, one in stored.items() if key not in case_ids}
            if left:
                self._save(device_key, operator, left)
            elif stored:
                path.unlink()
                _sync_folder(path.parent)

    def _save(
        self, device_key: str, operator: str, measurements: Mapping[str, Measurement]
    ) -> None:
        path = self.path(device_key, operator)
        place = Place(path, "refused to write baseline", "nothing was written; measure again")
        for key, one in measurements.items():
            if key != one.case_id:
                raise place.at("cases").at(key).refuse("must be its measurement's id", one.case_id)
        raw = encode(measurements, place)
        # What the reader would refuse must not reach the disk.
        _decode_own(raw, device_key, operator, place)
        _replace(path, raw)


def _reading(path: Path) -> Place:
    file = quote(str(path))
    remedy = (
        f"restore it: git checkout -- {file}; or delete it and measure anew: pytest --rmsperf-save"
    )
    return Place(path, "cannot read baseline", remedy)


def _decode_own(raw: bytes, device_key: str, operator: str, place: Place) -> dict[str, Measurement]:
    """Decode, and refuse cases of another operator or measured on another device."""
    measurements = decode(raw, place)
    for case_id, measurement in measurements.items():
        spot = place.at("cases").at(case_id)
        if not case_id.startswith(f"{operator}/"):
            raise spot.fault(f"must start with {operator}/")
        device = measurement.run.device
        if measurement.run.source == "measured" and device.key != device_key:
            raise spot.refuse(f"must be measured on {device_key}", device.name)
    return measurements


def _keep_note(new: Measurement, old: Measurement | None) -> Measurement:
    return replace(new, note=old.note) if new.note is None and old is not None else new


@contextmanager
def _exclusive(path: Path) -> Iterator[None]:
    """Hold the lock of `path`; an OSError inside becomes a BaselineError."""
    lock = _lock_file(path)
    try:
        lock.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(lock, timeout=LOCK_TIMEOUT_S):
            yield
    except Timeout as error:
        raise BaselineError(
            f"cannot write baseline {path}: another process has held {lock} for "
            f"{LOCK_TIMEOUT_S} s\nend that process, then run pytest --rmsperf-save again"
        ) from error
    except OSError as error:
        raise BaselineError(
            f"cannot write baseline {path}: {error.strerror}: {error.filename}\n"
            "make it writable, or name another folder: --rmsperf-baselines=DIR for baselines, "
            "XDG_CACHE_HOME for locks"
        ) from error


def _lock_file(path: Path) -> Path:
    """Return a lock outside the repository, where it cannot be committed by mistake."""
    key = sha256(os.fsencode(path.resolve())).hexdigest()[:16]
    return user_cache_path("pytest-rmsperf") / "locks" / f"{key}.lock"


def _replace(path: Path, raw: bytes) -> None:
    """Put `raw` in place of the file in one step: readers see the old or the new, never half."""
    target = path.resolve()
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f".{target.name}.{uuid4().hex}.tmp")
    try:
        with temporary.open("xb") as stream:
            stream.write(raw)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
    _sync_folder(target.parent)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
