"""Compiled kernels on disk, found again by the content of everything that went into them."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from pytest_rmsperf.device.build_lock import build_lock, replace_file
from pytest_rmsperf.errors import CompileError
from pytest_rmsperf.resources import CompiledKernel, MachineCode

# Part of every key: raise it when an entry's layout or the fixed compiler options change.
FORMAT = 3

# Strings and character constants are kept, so that a // inside one does not start a comment.
_COMMENT = re.compile(r"""//[^\n]*|/\*.*?\*/|("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])')""", re.DOTALL)
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include(?:_next)?\b[ \t]*(.*)$", re.MULTILINE)
_PROBE = re.compile(r"""__has_include\s*\(\s*("[^"]+"|<[^>]+>)""")
_NAME = re.compile(r'"([^"]+)"|<([^>]+)>')


@dataclass(frozen=True, slots=True)
class Entry:
    """A cubin and its kernels' figures, which only the compiler's log of that build could tell.

    Counts of instructions are none of them: which disassembler is installed may change.
    """

    cubin: bytes
    kernels: tuple[CompiledKernel, ...]


@dataclass(frozen=True, slots=True)
class CubinCache:
    """The entries in one folder: KEY.cubin, KEY.json beside it, and KEY.lock while one is built."""

    folder: Path
    lock_timeout_s: float

    def load_or_build(self, key: str, build: Callable[[], Entry]) -> tuple[Entry, bool]:
        """Return the entry, and whether it was there; one process builds it, others wait for it."""
        entry = self.load(key)
        if entry is not None:
            return entry, True
        with build_lock(self.folder, key, self.lock_timeout_s):
            entry = self.load(key)  # another process may have built it meanwhile
            if entry is not None:
                return entry, True
            entry = build()
            self.store(key, entry)
            return entry, False

    def load(self, key: str) -> Entry | None:
        """Return the entry; None when it is absent or is not exactly what was stored."""
        try:
            stored = json.loads((self.folder / f"{key}.json").read_text(encoding="utf-8"))
            cubin = (self.folder / f"{key}.cubin").read_bytes()
            return _decode(stored, cubin)
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def store(self, key: str, entry: Entry) -> None:
        """Write the entry; CompileError when the folder cannot be written."""
        figures = [asdict(kernel) for kernel in entry.kernels]
        stored = {
            "format": FORMAT,
            "cubin_sha256": sha256(entry.cubin).hexdigest(),
            "kernels_sha256": _digest(figures),
            "kernels": figures,
        }
        replace_file(self.folder / f"{key}.cubin", entry.cubin)
        replace_file(self.folder / f"{key}.json", json.dumps(stored, indent=1).encode())


def content_key(source: Path, facts: tuple[tuple[str, str], ...]) -> str:
    """Return the key of `source` compiled under `facts`: a sha256 over all that goes in.

    Paths and times are left out, so two checkouts share entries. NVRTC writes the source's path and
    modification time into the cubin's line information: there alone do builds of one key differ.
    """
    parts = [str(FORMAT), *(f"{name}={value}" for name, value in facts)]
    digest = sha256(json.dumps(parts).encode())
    for name, text in source_texts(source):
        digest.update(json.dumps([name, sha256(text).hexdigest()]).encode())
    return digest.hexdigest()


def source_texts(source: Path) -> tuple[tuple[str, bytes], ...]:
    """Return the source and all of its own headers, each once, as (name as included, text).

    A header is its own when it lies beside the file that includes it or in the source's folder;
    the others come with the CUDA release, whose version stands for them. Raises CompileError when
    the source cannot be read.
    """
    texts: dict[Path, tuple[str, bytes]] = {}
    waiting = [(source, "")]
    while waiting:
        file, name = waiting.pop()
        if file in texts:
            continue
        texts[file] = (name, _read(file))
        for included in _included_names(file, texts[file][1]):
            found = _find(included, (file.parent, source.parent))
            waiting += [(found, included)] if found else []
    return tuple(texts.values())


def _included_names(file: Path, text: bytes) -> tuple[str, ...]:
    code = text.decode(errors="surrogateescape").replace("\\\r\n", "").replace("\\\n", "")
    code = _COMMENT.sub(lambda match: match[1] or " ", code)
    named = []
    for written in [*_INCLUDE.findall(code), *_PROBE.findall(code)]:
        match = _NAME.match(written)
        if match is None:
            raise CompileError(
                f"does not compile: {file} includes a file by the macro {written.strip()}\n"
                "  a header that cannot be found by its name cannot be part of the cache key\n"
                "write the header's name in quotes, inside #if where there is a choice"
            )
        named.append(match[1] or match[2])
    return tuple(named)


def _find(name: str, folders: tuple[Path, ...]) -> Path | None:
    candidates = (Path(os.path.normpath(folder / name)) for folder in folders)
    return next((file for file in candidates if file.is_file()), None)


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise CompileError(
            f"does not compile: {file} cannot be read\n  {error}\n"
            "check the path and its permissions"
        ) from error


def _decode(stored: Any, cubin: bytes) -> Entry:
    figures = stored["kernels"]
    trusted = (
        stored["format"] == FORMAT
        and stored["cubin_sha256"] == sha256(cubin).hexdigest()
        and stored["kernels_sha256"] == _digest(figures)
    )
    if not trusted:
        raise ValueError("the entry is not what was stored")
    return Entry(cubin, tuple(_kernel(one) for one in figures))


def _kernel(figures: dict[str, Any]) -> CompiledKernel:
    code = figures["code"]
    counted = MachineCode(code_bytes=code["code_bytes"], sha256=code["sha256"])
    return CompiledKernel(**{**figures, "code": counted})


def _digest(figures: list[dict[str, Any]]) -> str:
    return sha256(json.dumps(figures, sort_keys=True).encode()).hexdigest()
