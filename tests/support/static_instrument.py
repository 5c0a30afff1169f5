"""A fake instrument that finds of each case what it is told of its static cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from fake_instrument import NO_DEVICE, FakeInstrument
from pytest_rmsperf.cases import Case
from pytest_rmsperf.checks import CheckedCase, Machine
from pytest_rmsperf.costs import StaticCheck

if TYPE_CHECKING:
    from pytest_rmsperf.campaign import Say


@dataclass
class StaticInstrument(FakeInstrument):
    """Answers with the checks in `static`, by case id; by default there is no device."""

    found: Machine = NO_DEVICE
    static: Mapping[str, tuple[StaticCheck, ...]] = field(default_factory=dict)

    def check(self, case: Case, say: Say, *, numerics: bool) -> CheckedCase:
        checked = super().check(case, say, numerics=numerics)
        return replace(checked, static=self.static.get(case.id, ()))
