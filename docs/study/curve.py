"""The power curve: the share of planted delays found, by their size, of this gate and of peers."""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import matplotlib as mpl
from matplotlib import pyplot as plt

if TYPE_CHECKING:
    from power import Study

# Name in the recording, label, colour: one hue for this gate, greys and cool colours for others.
PEERS = (
    ("triton do_bench_cudagraph, median", "triton do_bench_cudagraph", "#5f7fbf"),
    ("nvbench cold, median", "nvbench, cold", "#3a9a8c"),
    ("triton do_bench, median", "triton do_bench", "#9aa0a6"),
    ("pytest-benchmark, median", "pytest-benchmark", "#5b5f66"),
)
GATE = "#c8452f"


def draw(found: Study, path: Path) -> None:
    """Draw to an SVG file that is the same for the same data."""
    mpl.rcParams.update({"font.size": 9, "svg.hashsalt": "power", "font.family": "sans-serif"})
    figure, panel = plt.subplots(figsize=(7.5, 3.8))
    sizes = [one for one in found.variants if one != "twin"]
    percents = [100 * median(found.changes[one]) for one in sizes]
    for counts, label, style in (
        (found.paired, "this gate, paired", "-"),
        (found.stored, "this gate, stored", "--"),
    ):
        shares = [100 * counts[one].slower / counts[one].total for one in sizes]
        panel.plot(percents, shares, style, color=GATE, marker="o", label=label, linewidth=2)
    for name, label, colour in PEERS:
        row = found.compared.get(name)
        if row is not None:
            shares = [100 * row.found[one] for one in sizes]
            panel.plot(percents, shares, color=colour, marker=".", label=label, linewidth=1)
    panel.set_xscale("log")
    panel.set_xticks(percents, [f"{one:.2g}" for one in percents])
    panel.minorticks_off()
    panel.set_xlabel("planted delay, % of the kernel's device time")
    panel.set_ylabel("found, %")
    panel.set_ylim(-3, 103)
    panel.grid(axis="y", color="#e4e6e9")
    panel.spines[["top", "right"]].set_visible(False)
    panel.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
    figure.suptitle(
        f"{found.delayed.sizes}; a kernel of {median(found.sound_us):.1f} us", fontsize=8
    )
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
