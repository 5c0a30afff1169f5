"""The operator `twice` in a repository, and the graph cases of it that a commit has."""

from __future__ import annotations

from pathlib import Path

from git_checkout import Checkout
from pytest_rmsperf.against import OtherBuild, other_build
from pytest_rmsperf.cases import Case, Operator, Submission, load_operator

HERE = "Path(__file__).parent"


def operator_text(
    *variants: str, name: str = "twice", folder: str = HERE, source: str = f'{HERE} / "{{}}.cu"'
) -> str:
    """Return an operator's file: one variant per name, each with a source of its own."""
    listed = ", ".join(
        f'Variant("{one}", {source.format(one)}, plan=lambda *sizes: None)' for one in variants
    )
    return f"""
from pathlib import Path
from pytest_rmsperf import InputSet, Operator, Problem, Tolerance, Variant

OPERATOR = Operator(
    name="{name}", folder={folder}, variants=({listed},), problems=(Problem.of(rows=16),),
    tensors=lambda problem: (), reference=lambda arrays, precision: {{}},
    input_sets=(InputSet("ones", lambda problem: {{}}),),
    tolerance=Tolerance(relative=1e-5, floor=1e-30),
)
"""


PLAIN = operator_text("plain")
BOTH = operator_text("plain", "wide")


def operator_in(checkout: Checkout, place: str = "kernels/twice") -> Operator:
    return load_operator(checkout.root / place)


def head(checkout: Checkout) -> str:
    return checkout.git("rev-parse", "HEAD")


def graph(operator: Operator) -> tuple[Case, ...]:
    """One case for each variant."""
    return operator.cases(submissions=(Submission.GRAPH,))


def build(checkout: Checkout, scratch: Path, ref: str = "HEAD") -> OtherBuild:
    """Ask for the graph cases of the working tree's operator as a commit has them."""
    return other_build(ref, graph(operator_in(checkout)), scratch)


def reasons(found: OtherBuild, checkout: Checkout) -> dict[str, str]:
    """Return why cases are missing, by variant, without the name of the commit before it."""
    name = f"{head(checkout)[:7]} (HEAD) "
    assert all(text.startswith(name) for text in found.missing.values())
    return {
        case_id.split("/")[1].removesuffix("-graph"): text.removeprefix(name)
        for case_id, text in found.missing.items()
    }
