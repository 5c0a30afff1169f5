"""The table of all devices that are profiled: `python -m pytest_rmsperf.device.table` prints it.

It is Markdown, and docs/devices.md holds what it prints.
"""

from __future__ import annotations

import sys

from pytest_rmsperf.device.profiles import PROFILES, DeviceProfile

HEAD = ("word", "CUDA name", "SMs", "compute capability", "memory (MiB)", "sources")


def table() -> str:
    """Return one line for each profile, in their order, below two lines of head."""
    rows = [HEAD, ("---",) * len(HEAD), *map(_row, PROFILES)]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def main() -> None:
    sys.stdout.write(table())


def _row(profile: DeviceProfile) -> tuple[str, ...]:
    one = profile.identity
    numbers = (str(one.sms), one.compute_capability, str(one.memory_mib))
    return (f"`{profile.word}`", one.name, *numbers, profile.source)


if __name__ == "__main__":
    main()
