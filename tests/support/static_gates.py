"""Gates that are asked for static costs, and instruments that find them."""

from __future__ import annotations

from costs import check_of, cost_of, fit_of_device
from fake_instrument import NO_DEVICE
from gates import FIRST, SECOND, Build, settle
from pytest_rmsperf.cases import Case
from pytest_rmsperf.checks import Machine
from pytest_rmsperf.costs import StaticCheck
from pytest_rmsperf.gate import Gate
from pytest_rmsperf.questions import Question
from static_instrument import StaticInstrument

STATIC = frozenset({"rmsperf_report", "rmsperf_static"})


def found(case: Case, blocks_per_sm: int = 6, *, blocks: int = 512) -> tuple[StaticCheck, ...]:
    """What a case costs on an H100, of which so many blocks are resident on an SM."""
    fit = fit_of_device(blocks_per_sm=blocks_per_sm, blocks=blocks)
    return (check_of(cost_of(fit, case_id=case.id)),)


def instrument(*fewer: Case, machine: Machine = NO_DEVICE) -> StaticInstrument:
    """An instrument that finds both cases to cost what is usual, or these a block per SM less."""
    static = {one.id: found(one, 5 if one in fewer else 6) for one in (FIRST, SECOND)}
    return StaticInstrument(machine, static=static)


def ask(gate: Gate, *cases: Case, fixtures: frozenset[str] = STATIC) -> Gate:
    gate.run([Question(one, fixtures) for one in cases], lambda _: None)
    return gate


def save(build: Build, *cases: Case) -> None:
    """Store static baselines of the cases as they usually are."""
    one = ask(build(instrument(), static=True, save=True), *cases)
    settle(one, *cases)
    assert one.complaint() is None
