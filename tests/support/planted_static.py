"""A project with a copy of the bundled operator and static baselines, without any device."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from planted import Project
from pytest_rmsperf.kernels.rms_scaled_softmax import OPERATOR

SUITE = """
from pathlib import Path
import pytest
from pytest_rmsperf import load_operator

OPERATOR = load_operator(Path(__file__).parent / "operator")
pytestmark = pytest.mark.rmsperf

@pytest.mark.parametrize("case", OPERATOR.cases())
def test_static(case, rmsperf_static):
    rmsperf_static.require()
"""

# Two archs, so that every source is compiled twice and no more.
INI = """
[pytest]
addopts = -ra
rmsperf_devices = h100-sxm, l4
"""

FAILED = re.compile(r"^FAILED \S+::(test_\w+)\[(\S+)\]", re.MULTILINE)
# Until the title of the next failure, of the captured output, or of the summary.
MESSAGE = r"^_+ {}\[{}\] _+\n(.*?)(?=^(?:___|---|===))"


@dataclass(frozen=True)
class Told:
    """Exit code, the message of each case whose static test failed, and everything printed."""

    code: int
    messages: dict[str, str]
    output: str


def cases_of(*variants: str) -> set[str]:
    """Return the ids of all cases of these variants."""
    return {case.id for case in OPERATOR.cases() if case.variant.name in variants}


def message_of(test: str, case_id: str, output: str) -> str:
    """Return what a failed test of a case said."""
    pattern = MESSAGE.format(re.escape(test), re.escape(case_id))
    found = re.search(pattern, output, re.MULTILINE | re.DOTALL)
    assert found is not None, f"{test} of {case_id} fails without a message"
    return found[1]


class StaticProject(Project):
    """A folder with a copy of the operator and a suite that asks for nothing but its cost."""

    def __init__(self, folder: Path, *, suite: str = SUITE, ini: str = INI) -> None:
        super().__init__(folder)
        (folder / "test_suite.py").write_text(suite)
        (folder / "pytest.ini").write_text(ini)

    def take_baselines(self, folder: Path) -> None:
        """Copy the baselines that another project has saved in a folder of its own."""
        shutil.copytree(folder / "baselines", self.folder / "baselines")

    def move_operator(self, place: str) -> None:
        """Move the operator to another folder below this one."""
        target = self.folder / place
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(self.folder / "operator", target)
        suite = SUITE.replace('"operator"', f'"{place}"')
        (self.folder / "test_suite.py").write_text(suite)

    def check(self, *options: str) -> Told:
        """Run the static gate alone."""
        outcome = self.run("--rmsperf-static", *options)
        failed = FAILED.findall(outcome.output)
        messages = {one: message_of(test, one, outcome.output) for test, one in failed}
        return Told(outcome.code, messages, outcome.output)
