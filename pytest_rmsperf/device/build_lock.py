"""Building into a shared folder: one process builds, others wait, and no file is half there."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from pytest_rmsperf.errors import CompileError


@contextmanager
def build_lock(folder: Path, key: str, timeout_s: float) -> Iterator[None]:
    """Hold the lock of one key; CompileError when another process keeps it too long.

    It is a lock of the operating system: it ends with the process that holds it, and a lock file
    that a killed build left behind is only a file.
    """
    path = folder / f"{key}.lock"
    lock = FileLock(path, timeout=timeout_s)
    with _usable(folder):
        folder.mkdir(parents=True, exist_ok=True)
        _acquire(lock, path, timeout_s)
    try:
        yield
    finally:
        lock.release()


def replace_file(file: Path, content: bytes) -> None:
    """Write a file at once or not at all; CompileError when its folder cannot be written."""
    with _usable(file.parent):
        _replace(file, content)


def _replace(file: Path, content: bytes) -> None:
    # No fsync: an entry torn by a power cut fails its sha256 and is compiled again.
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        temporary.replace(file)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise


def _acquire(lock: FileLock, path: Path, timeout_s: float) -> None:
    try:
        lock.acquire()
    except Timeout as error:
        raise CompileError(
            f"not compiled: another process has held the build lock for {timeout_s:g} s\n"
            f"  lock file {path}\n"
            "wait for the other build or end it (fuser shows its process id); deleting the file "
            "is never needed, because the lock ends with its process"
        ) from error


@contextmanager
def _usable(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise CompileError(
            f"not compiled: the cache folder {folder} cannot be written\n  {error}\n"
            "make it writable, or point XDG_CACHE_HOME at a folder that is"
        ) from error
