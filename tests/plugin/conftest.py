"""A user's project in a temporary folder, measured by an instrument that follows a script."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

# An inner run in this process forgets what it imported, and NumPy cannot be imported twice.
import numpy  # noqa: F401
import pytest
import scipy.stats  # noqa: F401

import pytest_rmsperf.gate  # noqa: F401

collect_ignore = ["project"]

TEMPLATE = Path(__file__).parent / "project"
DEVICE = "NVIDIA H200"
EMULATED = "emulated"
NO_ENTRIES: Mapping[str, int | list[int]] = {}
COST_SUITE = """
import pytest
from test_scale_rows import each_case

@pytest.mark.rmsperf
@each_case
def test_cost(case, rmsperf_static):
    rmsperf_static.require()
"""
NO_COUNTS: Mapping[str, int] = {}
NO_FAILURES: Mapping[str, tuple[str, str]] = {}
NO_WORDS: Mapping[str, str] = {}


@dataclass(frozen=True)
class Project:
    """The project's folder, its script, and runs of pytest in it."""

    pytester: pytest.Pytester
    first_saves: dict[tuple[str, ...], bytes]

    @property
    def path(self) -> Path:
        return self.pytester.path

    @property
    def baseline(self) -> Path:
        """Where the scripted device's baselines are stored."""
        return self.path / "baselines" / "nvidia-h200" / "scale_rows.json"

    def script(
        self,
        *,
        device: str | None = DEVICE,
        device_ns: Mapping[str, int | list[int]] = NO_ENTRIES,
        completion_ns: Mapping[str, int | list[int]] = NO_ENTRIES,
        failed: Mapping[str, tuple[str, str]] = NO_FAILURES,
        lost: Mapping[str, str | list[str]] = NO_WORDS,
        interrupted: Mapping[str, str] = NO_WORDS,
    ) -> None:
        """Say what the instrument finds; a key means every case id that it is part of.

        A time may be a list: the value in each session from the first on, the last one for ever;
        so may the message of a lost case, which is "" where it is not lost.
        `device` may also be None for none at all, or EMULATED.
        `failed` maps to the stage and the message of a failed check, `lost` to the message of a
        case lost in a session. `interrupted` may also have a key such as "session 2".
        """
        text = json.dumps(
            {
                "device": None if device == EMULATED else device,
                "emulated": device == EMULATED,
                "device_ns": dict(device_ns),
                "completion_ns": dict(completion_ns),
                "failed": dict(failed),
                "lost": dict(lost),
                "interrupted": dict(interrupted),
            }
        )
        (self.path / "script.json").write_text(text, encoding="utf-8")

    def costs(
        self,
        *,
        blocks_per_sm: Mapping[str, int] = NO_COUNTS,
        registers: Mapping[str, int] = NO_COUNTS,
        violated: Mapping[str, str] = NO_WORDS,
        not_meant: Sequence[str] = (),
        nvrtc: str = "13.0.88",
    ) -> None:
        """Say what every case costs: 4 blocks per SM and 40 registers, and all fit, but for these.

        A key may name a device of interest too, as in "vector-graph/16x1024 on l4", or for
        registers an arch, as in "vector-graph/16x1024 for sm_89". Cases that are `not_meant` for
        any are held against none.
        """
        text = json.dumps(
            {
                "blocks_per_sm": dict(blocks_per_sm),
                "registers": dict(registers),
                "violated": dict(violated),
                "not_meant": dict.fromkeys(not_meant, "yes"),
                "nvrtc": nvrtc,
            }
        )
        (self.path / "costs.json").write_text(text, encoding="utf-8")

    def run(self, *arguments: str) -> pytest.RunResult:
        """Run pytest in this process."""
        return self.pytester.runpytest_inprocess(*arguments, no_reraise_ctrlc=True)

    def save(self, *arguments: str) -> bytes:
        """Store baselines of what the script says now, and return the file.

        The first save of a project is the same in every test: it is made once and then copied.
        """
        if self.baseline.exists():
            return self._saved(arguments)
        script = (self.path / "script.json").read_text(encoding="utf-8")
        content = self.first_saves.get((script, *arguments))
        if content is None:
            content = self.first_saves[(script, *arguments)] = self._saved(arguments)
        self.baseline.parent.mkdir(parents=True, exist_ok=True)
        self.baseline.write_bytes(content)
        return content

    def _saved(self, arguments: tuple[str, ...]) -> bytes:
        result = self.run("--rmsperf-save", "-k", "latency", *arguments)
        assert result.ret == pytest.ExitCode.OK, result.outlines
        return self.baseline.read_bytes()

    def save_costs(self, *arguments: str) -> None:
        """Store static baselines of what the cases cost now."""
        result = self.run("--rmsperf-static", "--rmsperf-save", *arguments)
        assert result.ret == pytest.ExitCode.OK, result.outlines

    def check(self, *arguments: str) -> pytest.RunResult:
        """Run only the latency tests of the gate."""
        return self.run("--rmsperf", "-k", "latency", *arguments)

    def calls(self) -> list[str]:
        """Return what the instrument was asked since the last call of this method."""
        file = self.path / "calls.txt"
        lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
        file.unlink(missing_ok=True)
        return lines

    def ini(self, *lines: str) -> None:
        """Write the project's ini file."""
        self.write("pytest.ini", "\n".join(("[pytest]", *lines)) + "\n")

    def write(self, name: str, text: str) -> None:
        """Write a further file of the project."""
        (self.path / name).write_text(text, encoding="utf-8")


@pytest.fixture(scope="session")
def first_saves() -> dict[tuple[str, ...], bytes]:
    """What `Project.save` has made so far, by script and arguments."""
    return {}


@pytest.fixture
def project(
    pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
    first_saves: dict[tuple[str, ...], bytes],
) -> Project:
    """A project with the operator scale_rows: two variants, four cases, twelve marked tests."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(pytester.path / "cache"))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    monkeypatch.setenv("RMSPERF_COMMIT", "1a2b3c4d5e6f")  # the folder is in no git repository
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(TEMPLATE, pytester.path, dirs_exist_ok=True, ignore=ignore)
    project = Project(pytester, first_saves)
    project.script()
    return project


@pytest.fixture
def static_project(project: Project) -> Project:
    """The project with a test of the static cost of each of its four cases."""
    project.write("test_cost.py", COST_SUITE)
    return project


@pytest.fixture
def static_saved(static_project: Project) -> Project:
    """The project with a test of each static cost, and with a baseline of each."""
    static_project.save_costs()
    return static_project
