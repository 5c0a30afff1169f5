"""What the README shows of the gate, built from the recordings by the code that shows it.

    python docs/study/shown.py            (prints both blocks; a test holds the README to them)

The head of a recording gives device, driver and date. Registers and residency are those of the
stored baselines: a recording has none.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from power import DATA
from replay import CHECKED, FIRST, RUN, SAVED, Recording, case_named, measurement, recording

from pytest_rmsperf.environment import DeviceIdentity, Provenance
from pytest_rmsperf.judge.evidence import paired_shares
from pytest_rmsperf.judge.thresholds import PAIRED, STORED
from pytest_rmsperf.judge.verdict import Round, Verdict, judge, judge_paired
from pytest_rmsperf.measurement import Measurement, middle
from pytest_rmsperf.protocol import Cache
from pytest_rmsperf.report.messages import microseconds, percent, verdict_message
from pytest_rmsperf.report.terminal import Row, table
from pytest_rmsperf.storing.baselines import BaselineStore

ROOT = Path(__file__).parents[2]
OPERATOR = "rms_scaled_softmax"
SHOWN = (
    "unfused-direct/16x131072",
    "unfused-graph/16x131072",
    "local_fusion-graph/16x131072",
    "megakernel_row-graph/1x131072",
    "megakernel_row-graph/16x131072",
    "megakernel_row-graph/64x131072",
    "megakernel_grid-graph/16x131072",
)


def main() -> None:
    green, red = recording(DATA / "aa.json.gz"), recording(DATA / "delays.json.gz")
    sys.stdout.write("\n".join([*table(rows(green)), "", verdict_message(slower(red)), ""]))


def rows(found: Recording) -> Iterator[Row]:
    """Yield the rows of a check: the first sessions were saved, and those behind them checked."""
    stored = BaselineStore(ROOT / "baselines", Cache.WARM).read("nvidia-h200", OPERATOR)
    for case_id in (f"{OPERATOR}/{one}" for one in SHOWN):
        before = of(found, case_id, range(SAVED))
        now = of(found, case_id, range(SAVED, SAVED + FIRST))
        verdict = judge(case_id, [Round(now)], before, STORED)
        costs = stored[case_id].resources
        assert costs is not None
        tightest = costs.fit.tightest
        assert tightest is not None
        kernel = next(one for one in costs.kernels if one.name == tightest.kernel)
        spare = costs.fit.headroom_blocks
        yield Row(
            case=case_id,
            completion=microseconds(now.completion_ns),
            device=microseconds(now.device_ns),
            copy=microseconds(middle([one.copy.device_ns for one in now.sessions if one.copy])),
            change=percent(verdict.change),
            verdict=verdict.status.value,
            registers=str(kernel.registers_per_thread),
            blocks_per_sm=str(tightest.blocks_per_sm),
            headroom="-" if spare is None else str(spare),
        )


def slower(found: Recording) -> Verdict:
    """Return the verdict on the delay of half a percent, in turns with the sound kernel."""
    sound, delayed = (case_named(found, one) for one in ("sound", "delay_0_5"))
    rounds = []
    for part in (range(FIRST), range(FIRST, CHECKED)):
        sessions = [found.sessions[number] for number in part]
        pairs = tuple(paired_shares(one[delayed], one[sound]) for one in sessions)
        rounds.append(Round(of(found, delayed, part), pairs))
    other = of(found, sound, range(CHECKED))
    # As the gate names what it took out of git.
    other = replace(other, case_id=f"{sound}@{found.head['commit'][:7]}")
    return judge_paired(delayed, rounds, other, PAIRED, missing="")


def of(found: Recording, case_id: str, numbers: range) -> Measurement:
    """Return sessions of a case with what the recording says of their run."""
    head = found.head
    run = replace(
        RUN,
        device=DeviceIdentity(**head["device"]),
        driver=head["driver"],
        cuda=head["cuda"],
        provenance=Provenance(head["date"], head["commit"], head["dirty"], head["python"], "", ()),
    )
    return replace(measurement(found, case_id, numbers), run=run)


if __name__ == "__main__":
    main()
