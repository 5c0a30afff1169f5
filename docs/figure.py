"""Draw docs/h200.svg from the baselines of an H200: host completion and device time by rows.

Needs matplotlib and the installed package: python docs/figure.py
"""

from __future__ import annotations

from pathlib import Path
from statistics import median

import matplotlib as mpl
from matplotlib import pyplot as plt

from pytest_rmsperf.measurement import Measurement
from pytest_rmsperf.storing.baselines import BaselineStore

ROOT = Path(__file__).parents[1]
OPERATOR = "rms_scaled_softmax"
ROWS = (1, 16, 32, 64)
# Label, variant, colour: grey for what the fusions start from, one hue for the megakernels.
BARS = (
    ("unfused, 9 launches", "unfused", "#9aa0a6"),
    ("local fusion, 3 launches", "local_fusion", "#5f7fbf"),
    ("megakernel, grid barrier", "megakernel_grid", "#e8a33d"),
    ("megakernel, row barriers", "megakernel_row", "#c8452f"),
)


def main() -> None:
    stored = BaselineStore(ROOT / "baselines").read("nvidia-h200", OPERATOR)
    mpl.rcParams.update({"font.size": 9, "svg.hashsalt": OPERATOR, "font.family": "sans-serif"})
    figure, panels = plt.subplots(1, len(ROWS), figsize=(10, 3.4))
    for rows, panel in zip(ROWS, panels, strict=True):
        cases = [stored[f"{OPERATOR}/{name}-graph/{rows}x131072"] for _, name, _ in BARS]
        draw(panel, rows, cases)
    figure.legend(
        [plt.Rectangle((0, 0), 1, 1, color=colour) for _, _, colour in BARS],
        [label for label, _, _ in BARS],
        loc="lower center",
        ncols=len(BARS),
        frameon=False,
    )
    run = next(iter(stored.values())).run
    figure.suptitle(
        f"Host completion by graph replay, us (lower is better; the dark part is device time; "
        f"dashed: a copy of the same bytes). {run.device.name}, driver {run.driver}, "
        f"CUDA {run.cuda}, {run.provenance.date[:10]}",
        fontsize=8,
    )
    figure.tight_layout(rect=(0, 0.08, 1, 0.97))
    figure.savefig(ROOT / "docs" / "h200.svg", metadata={"Date": None})


def draw(panel: plt.Axes, rows: int, cases: list[Measurement]) -> None:
    """Draw host completion with device time inside, whiskers over sessions, the copy as a line."""
    for place, (case, (_, _, colour)) in enumerate(zip(cases, BARS, strict=True)):
        host = [one.completion.median_ns / 1000 for one in case.sessions]
        middle = median(host)
        panel.bar(place, middle, color=colour, alpha=0.45)
        panel.bar(place, (case.device_ns or 0) / 1000, color=colour)
        panel.errorbar(
            place, middle, [[middle - min(host)], [max(host) - middle]], color="black", capsize=3
        )
        panel.text(place, max(host), f"{middle:.1f}", ha="center", va="bottom", fontsize=8)
    copies = [one.copy.completion_ns / 1000 for one in cases[0].sessions if one.copy is not None]
    panel.axhline(median(copies), color="black", linestyle="--", linewidth=0.8)
    panel.set_title(f"{rows} row{'s' if rows > 1 else ''}", fontsize=9)
    panel.set_xticks([])
    panel.spines[["top", "right"]].set_visible(False)
    panel.margins(y=0.12)


if __name__ == "__main__":
    main()
