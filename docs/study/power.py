"""What the gate finds and how often it cries wolf, computed from recorded sessions.

Writes the tables of docs/trust.md between their markers, and draws docs/power.svg:

    python docs/study/power.py            (needs matplotlib)
    python docs/study/power.py --check    (only says whether the tables are what the data give)
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import median

from peer_data import (
    SOUND,
    Compared,
    Figures,
    Peers,
    between_processes,
    peers,
    within_processes,
)
from replay import (
    CHECKED,
    SAVED,
    Recording,
    case_named,
    draws,
    judge_pairs,
    judge_stored,
    recording,
    stored_draws,
)

from pytest_rmsperf.judge.evidence import paired_share
from pytest_rmsperf.judge.policy import Status
from pytest_rmsperf.judge.thresholds import PAIRED, STORED
from pytest_rmsperf.judge.verdict import Verdict

DATA = Path(__file__).parent / "data"
PAGE = Path(__file__).parents[1] / "trust.md"
PICTURE = Path(__file__).parents[1] / "power.svg"
TWIN = "twin"
IN_ONE_PROCESS = ", two builds in one process"
# Processes of this gate that stand beside as many of each peer.
BESIDE = 8


@dataclass(frozen=True, slots=True)
class Counts:
    """How often each verdict came out."""

    verdicts: Counter[Status]

    @property
    def total(self) -> int:
        return sum(self.verdicts.values())

    @property
    def slower(self) -> int:
        return self.verdicts[Status.SLOWER]

    def words(self) -> str:
        return ", ".join(
            f"{self.verdicts[one]} {one.value}" for one in Status if self.verdicts[one]
        )


def counted(verdicts: Iterable[Verdict]) -> Counts:
    return Counts(Counter(one.status for one in verdicts))


@dataclass(frozen=True)
class Study:
    """All recordings, and what follows from them."""

    unchanged: Recording
    delayed: Recording
    others: Peers

    @cached_property
    def variants(self) -> tuple[str, ...]:
        """The twin and the delays, from the smallest on."""
        clocks = self.delayed.nominal_clocks
        return tuple(sorted((one for one in clocks if one != SOUND), key=lambda one: clocks[one]))

    def id_of(self, variant: str) -> str:
        return case_named(self.delayed, variant)

    @cached_property
    def changes(self) -> dict[str, list[float]]:
        """By variant: each process's change of device time against the sound kernel beside it."""
        sound = self.id_of(SOUND)
        return {
            variant: [
                paired_share(one[self.id_of(variant)].device_ns, one[sound].device_ns)
                for one in self.delayed.sessions
            ]
            for variant in self.variants
        }

    @cached_property
    def sound_us(self) -> list[float]:
        return self.medians_us(SOUND)

    def medians_us(self, variant: str) -> list[float]:
        case_id = self.id_of(variant)
        return [median(one[case_id].device_ns) / 1000 for one in self.delayed.sessions]

    @cached_property
    def stored(self) -> dict[str, Counts]:
        """Verdicts on each variant against stored figures of the sound kernel."""
        pairs = list(stored_draws(len(self.delayed.sessions)))
        return {
            variant: counted(
                judge_stored(self.delayed, self.id_of(SOUND), self.id_of(variant), saved, checked)
                for saved, checked in pairs
            )
            for variant in (SOUND, *self.variants)
        }

    @cached_property
    def paired(self) -> dict[str, Counts]:
        """Verdicts on each variant against the sound kernel in the same processes."""
        chosen = list(draws(len(self.delayed.sessions), CHECKED))
        return {
            variant: counted(
                judge_pairs(self.delayed, self.id_of(SOUND), self.id_of(variant), checked)
                for checked in chosen
            )
            for variant in self.variants
        }

    @cached_property
    def false_alarms(self) -> Counts:
        """Verdicts on unchanged cases of the whole suite against stored figures of themselves."""
        pairs = list(stored_draws(len(self.unchanged.sessions)))
        return counted(
            judge_stored(self.unchanged, case_id, case_id, saved, checked)
            for case_id in self.unchanged.cases
            for saved, checked in pairs
        )

    @cached_property
    def compared(self) -> dict[str, Compared]:
        """One row per tool, figure and way to compare, this gate's single processes last."""
        rows: dict[str, Compared] = {}
        for name, one in self.others.figures.items():
            rows[name] = between_processes(one)
            rows[f"{name}{IN_ONE_PROCESS}"] = within_processes(one[SOUND], inside(one))
        ours = {one: self.medians_us(one)[:BESIDE] for one in (SOUND, *self.variants)}
        rows["pytest-rmsperf, one session against another"] = between_processes(ours)
        beside = {one: found[:BESIDE] for one, found in self.changes.items()}
        rows[f"pytest-rmsperf{IN_ONE_PROCESS}"] = within_processes(self.sound_us[:BESIDE], beside)
        return rows


def inside(figures: Figures) -> dict[str, list[float]]:
    """Return each process's change of every variant against the sound kernel in it."""
    sound = figures[SOUND]
    return {
        variant: [value / before - 1 for value, before in zip(values, sound, strict=True)]
        for variant, values in figures.items()
        if variant != SOUND
    }


def study() -> Study:
    """Read the recordings that lie beside this program."""
    return Study(
        recording(DATA / "aa.json.gz"),
        recording(DATA / "delays.json.gz"),
        peers(DATA / "peers.json.gz"),
    )


# ---- tables ---------------------------------------------------------------------------------


def false_alarm_table(found: Study) -> list[str]:
    counts, alone = found.false_alarms, found.paired[TWIN]
    stored = found.stored
    twins = {one: stored[one].verdicts for one in (SOUND, TWIN)}
    same = Counts(twins[SOUND] + twins[TWIN])
    rows = (
        ("whole suite, stored", len(found.unchanged.cases), found.unchanged, counts, SAVED),
        ("one kernel and its twin, stored", 2, found.delayed, same, SAVED),
        ("a twin, paired", 1, found.delayed, alone, 0),
    )
    lines = [
        "| unchanged code | cases | sessions | runs | called slower | all verdicts | apart |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, cases, recorded, one, saved in rows:
        sessions = len(recorded.sessions)
        apart = cases * ((sessions - saved) // CHECKED)
        lines.append(
            f"| {name} | {cases} | {sessions} | {one.total} | **{one.slower}** | {one.words()} | "
            f"{apart} |"
        )
    return lines


def power_table(found: Study) -> list[str]:
    lines = [
        "| planted clocks | measured us | measured change | stored: found | paired: found |",
        "|---|---|---|---|---|",
    ]
    sound = median(found.sound_us)
    for variant in found.variants:
        change = median(found.changes[variant])
        stored, paired = found.stored[variant], found.paired[variant]
        clocks = found.delayed.nominal_clocks[variant]
        lines.append(
            f"| {clocks} | {1000 * change * sound:+.0f} ns | {100 * change:+.2f} % | "
            f"{rate(stored)} | {rate(paired)} |"
        )
    return lines


def rate(counts: Counts) -> str:
    return f"{percent(counts.slower / counts.total)} ({counts.slower} of {counts.total})"


def percent(share: float) -> str:
    """Return whole percent, but never 100 % of what missed one, nor 0 % of what found one."""
    if 0 < share < 1:
        return f"{100 * share:.1f} %"
    return f"{100 * share:.0f} %"


def peer_table(found: Study) -> list[str]:
    sizes = [one for one in found.variants if one != TWIN]
    sound = median(found.sound_us)
    heads = [f"{1000 * median(found.changes[one]) * sound:+.0f} ns" for one in sizes]
    lines = [
        f"| tool and figure | processes | us | threshold | {' | '.join(heads)} |",
        "|---" * (4 + len(sizes)) + "|",
    ]
    for name, row in found.compared.items():
        cells = " | ".join(f"{100 * row.found[one]:.0f} %" for one in sizes)
        figures = f"{row.processes} | {row.median_us:.2f} | {100 * row.threshold:.2f} %"
        lines.append(f"| {name} | {figures} | {cells} |")
    for name, processes, counts, limit in (
        ("the gate, stored", f"{SAVED} + {CHECKED}", found.stored, STORED),
        ("the gate, paired", f"{CHECKED}", found.paired, PAIRED),
    ):
        shares = (counts[one].slower / counts[one].total for one in sizes)
        cells = " | ".join(f"**{100 * one:.0f} %**" for one in shares)
        figures = f"{processes} | {sound:.2f} | {100 * limit.device.share:g} %"
        lines.append(f"| **{name}** | {figures} | {cells} |")
    return [*lines, *(f"\n{tool} did not run: {why}" for tool, why in found.others.errors.items())]


TABLES: dict[str, Callable[[Study], list[str]]] = {
    "false-alarms": false_alarm_table,
    "power": power_table,
    "peers": peer_table,
}


def filled(page: str, found: Study) -> str:
    """Return the page with every table between its markers made anew."""
    for name, table in TABLES.items():
        text = "\n".join(table(found))
        block = f"<!-- table: {name} -->\n{text}\n<!-- /table -->"
        page, count = re.subn(
            f"<!-- table: {name} -->.*?<!-- /table -->", block, page, flags=re.DOTALL
        )
        if count != 1:
            raise SystemExit(f"{PAGE} has {count} tables {name}, wanted is 1")
    return page


def main() -> None:
    found = study()
    page = PAGE.read_text(encoding="utf-8")
    made = filled(page, found)
    if "--check" in sys.argv:
        raise SystemExit(0 if made == page else f"{PAGE} does not say what the data say: run it")
    PAGE.write_text(made, encoding="utf-8")
    from curve import draw

    draw(found, PICTURE)


if __name__ == "__main__":
    main()
