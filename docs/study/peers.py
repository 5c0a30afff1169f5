"""Time the delayed kernels with other tools, each in fresh processes, for the study of the gate.

The tools take turns, process by process, so that all of them see the same hour of the machine.

    python docs/study/peers.py --seconds 90 --processes 8 --out peers.json
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from delays import DELAYED, make_operator
from machine import Budget, head_of, open_instrument, say, write
from peer_tools import TOOLS, Figures

# Beyond the share of a process, before it counts as hung: a cold machine imports torch slowly.
PATIENCE_S = 60.0
ERROR_LINES = 12
# A tool that failed so often is left alone: the machine is wanted by the others.
MOST_FAILURES = 2


@dataclass(frozen=True, slots=True)
class Asked:
    """What every process of every tool has in common."""

    operator: Path
    scratch: Path
    seconds_per_process: float


def main() -> None:
    arguments = parsed()
    tools = arguments.tools.split(",")
    with closing(open_instrument()) as instrument:
        head = head_of(instrument.machine())
    content = {
        "format": 1,
        "mode": "peers",
        "head": head,
        "nominal_clocks": {one.name: one.nominal_clocks for one in DELAYED},
        "seconds_per_tool": arguments.seconds,
        "processes": (processes := list[dict[str, object]]()),
    }
    with tempfile.TemporaryDirectory() as temporary:
        asked = Asked(
            Path(temporary) / "operator",
            Path(temporary),
            arguments.seconds / arguments.processes,
        )
        make_operator(asked.operator)
        budgets = {tool: Budget(arguments.seconds, arguments.processes) for tool in tools}
        turns = [(index, tool) for index in range(arguments.processes) for tool in tools]
        for index, tool in turns:
            if failures(processes, tool) >= MOST_FAILURES or not budgets[tool].start():
                continue
            process = run_one(tool, index, asked)
            process["seconds"] = round(budgets[tool].end(), 2)
            processes.append(process)
            write(arguments.out, content)
            say(f"{tool} process {index + 1}: {process['seconds']} s, {outcome(process)}")


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--seconds", type=float, required=True, help="for each tool")
    parser.add_argument("--processes", type=int, default=8, help="of each tool")
    parser.add_argument("--tools", default=",".join(TOOLS), help="default: %(default)s")
    parser.add_argument("--out", type=Path, required=True, help="JSON file to write")
    return parser.parse_args()


def run_one(tool: str, index: int, asked: Asked) -> dict[str, object]:
    """Run one process of a tool and return its figures, or why there are none."""
    figures = asked.scratch / "figures.json"
    figures.unlink(missing_ok=True)
    process: dict[str, object] = {
        "tool": tool,
        "index": index,
        "started": datetime.now(timezone.utc).isoformat(timespec="seconds"),
    }
    command = [
        sys.executable,
        str(Path(__file__).with_name("peer_tools.py")),
        tool,
        f"--folder={asked.operator}",
        f"--first={index}",
        f"--seconds={asked.seconds_per_process}",
        f"--out={figures}",
    ]
    error = completed(command, asked.seconds_per_process + PATIENCE_S)
    # A tool may fail in taking itself down, with its figures long written.
    found: Figures = json.loads(figures.read_text()) if figures.is_file() else {}
    return process | {"figures_us": found, "error": error}


def completed(command: list[str], patience_s: float) -> str | None:
    """Run a command to its end; return the end of what it said if it failed, else None."""
    try:
        done = subprocess.run(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=patience_s,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"no end after {patience_s:.0f} s: killed"
    if done.returncode == 0:
        return None
    last = "\n".join(done.stdout.splitlines()[-ERROR_LINES:])
    return f"exit code {done.returncode}\n{last}"


def failures(processes: list[dict[str, object]], tool: str) -> int:
    return sum(one["tool"] == tool and not one["figures_us"] for one in processes)


def outcome(process: dict[str, object]) -> str:
    figures, error = process["figures_us"], process["error"]
    if isinstance(figures, dict) and figures:
        return ", ".join(
            f"{figure}: sound {variants.get('sound', 0.0):.2f} us"
            for figure, variants in figures.items()
        )
    return f"failed: {error}"


if __name__ == "__main__":
    main()
