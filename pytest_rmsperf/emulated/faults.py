"""What a kernel did wrong, with the places in its source, as a person reads it."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from pytest_rmsperf.emulated.build import INCLUDE_FOLDER, SOURCE_FOLDER

REMEDIES = {
    "deadlock": "every waiting thread must be released by another: make the launch fit, reset "
    "counters between launches, and let all threads reach the same barriers",
    "divergent barrier": "let all threads of the block reach the same __syncthreads()",
    "divergent warp": "let all lanes of the mask reach the same warp operation with the same mask",
    "uninitialized read": "write it first, or put the barrier back that lets the writer go ahead",
    "race": "put a barrier between the two accesses, or make both atomic",
    "peer has left": "end the kernel with a cluster barrier, so that no block leaves before its "
    "peers are done with its shared memory",
    "out of memory": "let a smaller problem stand in for it (emulate_as of the operator)",
    "integer overflow": "compute it in long long, or in unsigned where it is meant to wrap",
}
# What no single thread does.
NOBODYS_FAULT = {
    "deadlock": "no thread can go on",
    "out of memory": "this machine has no room for the threads that are resident together",
}
OTHER_REMEDY = "mend the line that is named"


@dataclass(frozen=True, slots=True)
class Frame:
    """A function, and the place in it where the next one was called or the fault lies."""

    function: str
    file: str
    line: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line} in {self.function}"


Frames = tuple[Frame, ...]  # innermost first


@dataclass(frozen=True, slots=True)
class WaitingThreads:
    """Threads that wait at one place for one thing; `block` and `thread` are the first of them."""

    threads: int
    blocks: int
    block: int
    thread: int
    what: str
    detail: str
    frames: Frames

    def __str__(self) -> str:
        threads = f"{self.threads} thread{'s' if self.threads > 1 else ''}"
        blocks = f"{self.blocks} block{'s' if self.blocks > 1 else ''}"
        seen = f": {self.detail}" if self.detail else ""
        return (
            f"{threads} of {blocks} for {self.what}{seen}\n"
            f"             first thread {self.thread} of block {self.block}, at "
            f"{_chain(self.frames)}"
        )


@dataclass(frozen=True, slots=True)
class Residence:
    """How far a launch came, and how many of its blocks the device holds together."""

    blocks: int
    started: int
    finished: int
    blocks_per_sm: int
    sms: int

    def __str__(self) -> str:
        capacity = self.blocks_per_sm * self.sms
        waiting = self.blocks - self.started
        text = (
            f"{self.started - self.finished} of {self.blocks} blocks are resident, "
            f"{self.finished} have ended"
        )
        if waiting:
            text += f", {waiting} wait{'s' if waiting == 1 else ''} for a place"
        per_sm = f"{self.blocks_per_sm} block{'s' if self.blocks_per_sm != 1 else ''} per SM"
        return f"{text}; {per_sm} x {self.sms} SMs = {capacity} fit"


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing a kernel did wrong; `block` and `thread` are None where no single one did."""

    kind: str
    kernel: str
    text: str
    seed: int
    residence: Residence
    block: int | None = None
    thread: int | None = None
    frames: Frames = ()
    waiting: tuple[WaitingThreads, ...] = ()

    def __str__(self) -> str:
        return "\n".join([self._headline(), *self._evidence(), self._remedy()])

    def _headline(self) -> str:
        if self.block is None:
            return f"{self.kind} in {self.kernel}: {NOBODYS_FAULT[self.kind]}"
        where = f"thread {self.thread} of block {self.block}"
        return f"{self.kind} in {self.kernel}: {where} {self.text}"

    def _evidence(self) -> list[str]:
        lines = [f"  at         {_chain(self.frames)}"] if self.frames else []
        lines += [f"  waiting    {one}" for one in self.waiting]
        if self.block is None:
            lines.append(f"  resident   {self.residence}")
        return [*lines, f"  schedule   seed {self.seed} of the emulated device"]

    def _remedy(self) -> str:
        remedy = REMEDIES.get(self.kind, OTHER_REMEDY)
        again = f"--rmsperf-device=emulated --rmsperf-emulated-seed={self.seed}"
        return f"{remedy}; then: pytest --rmsperf --lf {again}"


def _chain(frames: Frames) -> str:
    return "\n             called at ".join(map(str, frames)) or "an unknown place"


def locate(library: Path, offset: int, sources: Path) -> Frames:
    """Return the places in `sources` of the call that returns to `offset` in a shared object.

    Functions that were inlined are told apart; those of the stand-in headers are left out. Empty
    where the debug information or addr2line is missing.
    """
    command = ["addr2line", "-e", str(library), "-f", "-C", "-i", hex(offset - 1)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ()
    lines = done.stdout.replace(SOURCE_FOLDER, str(sources)).splitlines()
    frames = [
        _frame(function, place) for function, place in zip(lines[::2], lines[1::2], strict=False)
    ]
    return tuple(one for one in frames if one is not None)


def _frame(function: str, place: str) -> Frame | None:
    file, _, line = place.split(" (", maxsplit=1)[0].rpartition(":")
    if file in ("", "??") or Path(file).is_relative_to(INCLUDE_FOLDER):
        return None
    name = function.partition("(")[0].removeprefix("void ").removeprefix("float ")
    working = Path.cwd()
    below = Path(file).is_relative_to(working)
    return Frame(name, str(Path(file).relative_to(working)) if below else file, line)
