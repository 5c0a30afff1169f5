"""Record sessions of the gate's instrument, each in a fresh process, for the study of its verdicts.

`aa` times all cases of the bundled operator, unchanged, again and again. `delays` times a kernel
beside copies of it with planted delays. Nothing is checked and nothing judged here.

    python docs/study/record.py aa --seconds 240 --processes 40 --out aa.json
    python docs/study/record.py delays --seconds 90 --processes 20 --out delays.json
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict
from datetime import datetime, timezone
from pathlib import Path

from delays import DELAYED, delayed_cases, make_operator
from machine import Budget, head_of, open_instrument, say, write

from pytest_rmsperf.campaign import probes_of
from pytest_rmsperf.cases import Case, Submission
from pytest_rmsperf.instrument import WorkerInstrument
from pytest_rmsperf.kernels.rms_scaled_softmax import OPERATOR
from pytest_rmsperf.protocol import Protocol
from pytest_rmsperf.samples import Samples, quartiles


def main() -> None:
    arguments = parsed()
    budget = Budget(arguments.seconds, arguments.processes)
    with tempfile.TemporaryDirectory() as temporary, closing(open_instrument()) as instrument:
        if arguments.mode == "aa":
            record("aa", OPERATOR.cases(), instrument, budget, arguments.out)
        else:
            operator = make_operator(Path(temporary) / "operator")
            cases = delayed_cases(operator, Submission.GRAPH)
            record("delays", cases, instrument, budget, arguments.out)


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("mode", choices=("aa", "delays"))
    parser.add_argument("--seconds", type=float, required=True, help="for all processes together")
    parser.add_argument("--processes", type=int, default=1000, help="stop after so many")
    parser.add_argument("--out", type=Path, required=True, help="JSON file to write")
    return parser.parse_args()


def record(
    mode: str, cases: Sequence[Case], instrument: WorkerInstrument, budget: Budget, out: Path
) -> None:
    """Measure session after session until the budget is spent; the file grows with each."""
    protocol = Protocol()
    content = {
        "format": 1,
        "mode": mode,
        "head": head_of(instrument.machine()),
        "protocol": asdict(protocol),
        "nominal_clocks": {one.name: one.nominal_clocks for one in DELAYED},
        "cases": [case.id for case in cases],
        "sessions": (sessions := list[dict[str, object]]()),
    }
    timed = [*probes_of(cases), *cases]
    while budget.start():
        started = datetime.now(timezone.utc).isoformat(timespec="seconds")
        result = instrument.measure(timed, protocol, lambda _text: None)
        seconds = budget.end()
        missing = [case.id for case in timed if case.id not in result.samples]
        sessions.append(
            {
                "started": started,
                "seconds": round(seconds, 2),
                "missing": missing,
                "samples": {name: kept(one) for name, one in result.samples.items()},
            }
        )
        write(out, content)
        say(f"{mode} process {len(sessions)}: {len(timed)} cases, {seconds:.1f} s{lost(missing)}")


def kept(samples: Samples) -> dict[str, object]:
    """Return device time block by block, and of each block's completions the quartiles."""
    blocks = len(samples.device_ns)
    each = len(samples.completion_ns) // blocks
    completions = [
        quartiles(samples.completion_ns[start : start + each])
        for start in range(0, blocks * each, each)
    ]
    return {
        "launches_per_graph": samples.launches_per_graph,
        "device_ns": samples.device_ns,
        "completion_q1_ns": [one.q1_ns for one in completions],
        "completion_median_ns": [one.median_ns for one in completions],
        "completion_q3_ns": [one.q3_ns for one in completions],
    }


def lost(missing: Sequence[str]) -> str:
    return f", without {', '.join(missing)}" if missing else ""


if __name__ == "__main__":
    main()
