"""A folder in which runs of the gate follow each other, without pytest."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fake_instrument import FakeInstrument
from pytest_rmsperf.acceptance import store_results
from pytest_rmsperf.cases import Case
from pytest_rmsperf.inquiry import Inquiry, Results
from pytest_rmsperf.judge.ordering import Ordering
from pytest_rmsperf.protocol import Protocol
from pytest_rmsperf.questions import Overrides, Question, select
from pytest_rmsperf.report.run_file import RunFile
from pytest_rmsperf.settings import Settings
from pytest_rmsperf.storing.baselines import BaselineStore

LATENCY = frozenset({"rmsperf_latency"})
PROTOCOL = Protocol(blocks=2, completions_per_block=1)


@dataclass
class Bench:
    """A folder in which runs follow each other."""

    settings: Settings
    root: Path

    @property
    def store(self) -> BaselineStore:
        return BaselineStore(self.settings.baselines, self.settings.protocol.cache)

    def answer(
        self,
        instrument: FakeInstrument,
        *cases: Case,
        orderings: Sequence[Ordering] = (),
        said: Overrides | None = None,
        **changes: object,
    ) -> Results:
        """Answer for the latency of these cases."""
        settings: Settings = replace(self.settings, **changes)  # type: ignore[arg-type]
        run_file = RunFile(settings)
        run_file.open_folder(self.root)
        questions = [Question(one, LATENCY) for one in cases]
        questions += [Question(None, frozenset(), one) for one in orderings]
        inquiry = Inquiry(settings, instrument, self.store, self.root, run_file)
        overrides = {one.id: said for one in cases} if said else {}
        return inquiry.answer(select(questions), orderings, overrides, lambda _: None)

    def keep(self, *cases: Case) -> list[str]:
        """Store baselines of the cases."""
        return self.accept(self.answer(FakeInstrument(), *cases, save=True), *cases, save=True)

    def accept(
        self, results: Results, *cases: Case, not_passed: int = 0, **changes: object
    ) -> list[str]:
        settings: Settings = replace(self.settings, **changes)  # type: ignore[arg-type]
        return store_results(
            results, cases, settings, self.store, frozenset(), not_passed=not_passed
        )

    def run_file(self) -> dict[str, dict[str, object]]:
        text = (self.root / ".rmsperf" / "run.json").read_text(encoding="utf-8")
        content: dict[str, dict[str, object]] = json.loads(text)
        return content
