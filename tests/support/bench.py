"""A folder in which runs of the gate follow each other, without pytest."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fake_instrument import FakeInstrument
from pytest_rmsperf.acceptance import Accepted, store_results
from pytest_rmsperf.cases import Case
from pytest_rmsperf.inquiry import Inquiry, Results
from pytest_rmsperf.judge.ordering import Ordering
from pytest_rmsperf.protocol import Protocol
from pytest_rmsperf.questions import Overrides, Question, asked_by
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
        fixtures: frozenset[str] = LATENCY,
        **changes: object,
    ) -> Results:
        """Answer for these cases what tests with these fixtures ask."""
        settings: Settings = replace(self.settings, **changes)  # type: ignore[arg-type]
        run_file = RunFile(settings)
        run_file.open_folder(self.root)
        overrides = Overrides() if said is None else said
        questions = [Question(one, fixtures, overrides=overrides) for one in cases]
        questions += [Question(None, frozenset(), one) for one in orderings]
        inquiry = Inquiry(settings, instrument, self.store, self.root, run_file)
        return inquiry.answer(asked_by(questions), lambda _: None)

    def keep(self, *cases: Case) -> list[str]:
        """Store baselines of the cases."""
        return self.accept(self.answer(FakeInstrument(), *cases, save=True), *cases, save=True)

    def accept(
        self, results: Results, *cases: Case, not_passed: int = 0, **changes: object
    ) -> list[str]:
        settings: Settings = replace(self.settings, **changes)  # type: ignore[arg-type]
        asked = results.asked
        accepted = Accepted(
            latencies=tuple(one for one in cases if one.id in asked.with_latency),
            costs=tuple(one for one in cases if one.id in asked.with_static),
            named=frozenset(),
            not_passed=not_passed,
        )
        return store_results(results, accepted, settings, self.store)

    def run_file(self) -> dict[str, dict[str, object]]:
        text = (self.root / ".rmsperf" / "run.json").read_text(encoding="utf-8")
        content: dict[str, dict[str, object]] = json.loads(text)
        return content
