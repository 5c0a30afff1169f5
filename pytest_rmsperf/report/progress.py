"""Progress while the gate works: one line that changes on a terminal, few lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol as Interface

# In a log nobody watches live, a line every so often shows that the run is alive.
LOG_SECONDS = 10.0
PREFIX = "rmsperf: "


class Writer(Interface):
    """What progress is written to: a stream, or pytest's terminal writer."""

    def write(self, msg: str, /) -> object: ...

    def flush(self) -> None: ...


class Progress:
    """Says what is being done; call it with a short text, and `end` before other output."""

    def __init__(
        self,
        stream: Writer,
        *,
        live: bool,
        width: int = 80,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stream = stream
        self._live = live
        self._room = max(0, width - len(PREFIX) - 1)
        self._clock = clock
        self._next = 0.0

    def __call__(self, text: str) -> None:
        if self._live:
            self._stream.write(f"\r{PREFIX}{text[: self._room]}\x1b[K")
            self._stream.flush()
        elif self._clock() >= self._next:
            self._stream.write(f"{PREFIX}{text}\n")
            self._stream.flush()
            self._next = self._clock() + LOG_SECONDS

    def end(self) -> None:
        """Clear the changing line."""
        if self._live:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
