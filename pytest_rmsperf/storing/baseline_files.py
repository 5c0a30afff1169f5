"""Writing baseline files: one writer at a time, and several files in one step or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from hashlib import sha256
from pathlib import Path
from uuid import uuid4

from filelock import FileLock, Timeout
from platformdirs import user_cache_path

from pytest_rmsperf.errors import BaselineError

# A writer holds the lock for some milliseconds; whoever holds it this long is stuck.
LOCK_TIMEOUT_S = 30


@contextmanager
def exclusive(paths: Iterable[Path]) -> Iterator[None]:
    """Hold the locks of all `paths`; BaselineError when one of them cannot be had.

    Always taken in the same order, so that two writers of the same files do not wait for each
    other.
    """
    with ExitStack() as held:
        for path in sorted(set(paths)):
            held.enter_context(_locked(path))
        yield


def replace_all(contents: Mapping[Path, bytes | None]) -> None:
    """Put each content in place of its file, None removing it; readers see old or new, never half.

    All new contents lie on the disk, in the folders of their files, before the first file is
    replaced: what can fail fails there, as a BaselineError, and every file is as it was.
    """
    targets = {path.resolve(): raw for path, raw in contents.items()}
    temporaries: dict[Path, Path] = {}
    try:
        for target, raw in targets.items():
            if raw is not None:
                temporaries[target] = _temporary(target)
                _write(temporaries[target], raw)
        for target, temporary in temporaries.items():
            temporary.replace(target)
        for target in targets.keys() - temporaries.keys():
            target.unlink(missing_ok=True)
        for folder in {target.parent for target in targets}:
            _sync(folder)
    except OSError as error:
        raise _cannot_write(next(iter(contents)), error) from error
    finally:
        for temporary in temporaries.values():
            temporary.unlink(missing_ok=True)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    lock = _lock_file(path)
    try:
        lock.parent.mkdir(parents=True, exist_ok=True)
        held = FileLock(lock, timeout=LOCK_TIMEOUT_S)
        held.acquire()
    except Timeout as error:
        raise BaselineError(
            f"cannot write baseline {path}: another process has held {lock} for "
            f"{LOCK_TIMEOUT_S} s\nend that process, then run the same command again"
        ) from error
    except OSError as error:
        raise _cannot_write(path, error) from error
    try:
        yield
    finally:
        held.release()


def _cannot_write(path: Path, error: OSError) -> BaselineError:
    return BaselineError(
        f"cannot write baseline {path}: {error.strerror}: {error.filename}\n"
        "make it writable, or name another folder: --rmsperf-baselines=DIR for baselines, "
        "XDG_CACHE_HOME for locks"
    )


def _lock_file(path: Path) -> Path:
    """Return a lock outside the repository, where it cannot be committed by mistake."""
    key = sha256(os.fsencode(path.resolve())).hexdigest()[:16]
    return user_cache_path("pytest-rmsperf") / "locks" / f"{key}.lock"


def _temporary(target: Path) -> Path:
    return target.with_name(f".{target.name}.{uuid4().hex}.tmp")


def _write(file: Path, raw: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("xb") as stream:
        stream.write(raw)
        stream.flush()
        os.fsync(stream.fileno())


def _sync(folder: Path) -> None:
    if not folder.exists():  # nothing was there to remove
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
