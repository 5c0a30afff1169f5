"""What a run may be for instead of its tests: the self-test, or renaming stored cases."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pytest_rmsperf.selftest.runner import selftest
from pytest_rmsperf.storing.renaming import parse_pair, rename_cases

if TYPE_CHECKING:
    import pytest

    from pytest_rmsperf.campaign import Instrument
    from pytest_rmsperf.settings import Settings

Say = Callable[[str], None]
Work = Callable[[Say], tuple[list[str], bool]]  # lines for the end of the run, and whether all well


@dataclass(slots=True)
class Errand:
    """One piece of work that takes the place of the tests."""

    title: str
    work: Work
    lines: list[str] = field(default_factory=list)
    succeeded: bool = False

    def run(self, say: Say) -> None:
        """Do the work; RmsperfError when it cannot be done."""
        self.lines, self.succeeded = self.work(say)


def errand_of(config: pytest.Config, settings: Settings, instrument: Instrument) -> Errand | None:
    """Return what this run is for, when it is not for its tests."""
    pairs = config.getoption("rmsperf_rename")
    if pairs:
        parsed = [parse_pair(one) for one in pairs]
        return Errand("rename", lambda _: (rename_cases(settings.baselines, parsed), True))
    if config.getoption("rmsperf_selftest"):
        return Errand("selftest", lambda say: selftest(instrument, settings, say))
    return None
