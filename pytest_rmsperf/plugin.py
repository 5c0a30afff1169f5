"""pytest's side of the gate: hooks that are doorways, and the fixtures a test author uses.

Loaded in every pytest run of everyone who installed it: without --rmsperf nothing else of this
package is imported.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from pytest_rmsperf import hookspecs, options
from pytest_rmsperf.errors import GateFailure, NotRun, RmsperfError

if TYPE_CHECKING:
    from pytest_rmsperf.accuracy import Numerics
    from pytest_rmsperf.campaign import Instrument
    from pytest_rmsperf.cases import Arrays, Case
    from pytest_rmsperf.environment import DeviceRecord
    from pytest_rmsperf.gate import Gate, Question
    from pytest_rmsperf.report.progress import Progress
    from pytest_rmsperf.report.records import CaseReport, Finding
    from pytest_rmsperf.resources import Residency
    from pytest_rmsperf.verdict import Verdict

    Launch = Callable[..., Finding[Arrays]]

GATE: pytest.StashKey[Gate] = pytest.StashKey()
PROGRESS: pytest.StashKey[Progress] = pytest.StashKey()

MARKER = "rmsperf: a test of the performance regression gate; runs with --rmsperf and only then"


# ---- set-up ---------------------------------------------------------------------------------


def pytest_addoption(parser: pytest.Parser) -> None:
    options.add_options(parser)


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    pluginmanager.add_hookspecs(hookspecs)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", MARKER)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    if options.gate_is_on(session.config):
        open_gate(session.config)


@pytest.hookimpl(trylast=True)
def pytest_rmsperf_instrument(config: pytest.Config, settings: options.Settings) -> Instrument:
    from pytest_rmsperf.gate import default_instrument

    return default_instrument(settings, config.stash[PROGRESS])


def pytest_report_header(config: pytest.Config) -> list[str]:
    gate = config.stash.get(GATE, None)
    if gate is None or config.option.collectonly:
        return []
    with usage_errors():
        return gate.header()


def pytest_unconfigure(config: pytest.Config) -> None:
    gate = config.stash.get(GATE, None)
    if gate is not None:
        gate.close()


# ---- collection -----------------------------------------------------------------------------


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    wanted = GATE in config.stash
    others = [one for one in items if (one.get_closest_marker("rmsperf") is None) == wanted]
    if others:
        items[:] = [one for one in items if one not in set(others)]
        config.hook.pytest_deselected(items=others)


def pytest_make_parametrize_id(val: object) -> str | None:
    case = as_case(val)
    return case.id if case is not None else None


# ---- the run --------------------------------------------------------------------------------


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> Generator[None, object, object]:
    gate = session.config.stash.get(GATE, None)
    if gate is not None and not session.config.option.collectonly and not session.testsfailed:
        measure(gate, session)
    return (yield)


def pytest_runtest_setup(item: pytest.Item) -> None:
    gate, case = item.config.stash.get(GATE, None), case_of(item)
    if gate is not None and case is not None:
        item.user_properties.append(("rmsperf_case", case.id))


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    try:
        return (yield)
    except GateFailure as failure:
        message = str(failure)
    except NotRun as reason:
        refuse_absence(pyfuncitem.config, str(reason))
        message = f"not run: {reason}, and --rmsperf-require-gpu or --rmsperf-device asks for one"
    pytest.fail(message, pytrace=False)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    gate, case = item.config.stash.get(GATE, None), case_of(item)
    if gate is not None and case is not None and report.failed:
        gate.note_failed(case.id)
    return report


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    gate = session.config.stash.get(GATE, None)
    complete = exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
    if gate is not None and gate.settings.save and complete:
        with usage_errors():
            gate.save(question.case for question in questions(session))


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    gate = config.stash.get(GATE, None)
    if gate is not None and not config.option.collectonly:
        terminalreporter.section("rmsperf")
        for line in gate.summary():
            terminalreporter.write_line(line)


# ---- fixtures -------------------------------------------------------------------------------


@pytest.fixture
def rmsperf_report(request: pytest.FixtureRequest) -> CaseReport:
    """Everything known about the test's case; the test must be parametrized over cases."""
    case = case_of(request.node)
    if case is None:
        raise pytest.UsageError(
            f"{request.node.nodeid} asks for a fixture of the gate but has no case; parametrize "
            'it: @pytest.mark.parametrize("case", OPERATOR.cases())'
        )
    return gate_of(request).report(case)


@pytest.fixture
def rmsperf_residency(rmsperf_report: CaseReport) -> Finding[Residency]:
    """The residency of the case's launches; `.require()` fails the test when one does not fit."""
    return rmsperf_report.residency()


@pytest.fixture
def rmsperf_numerics(rmsperf_report: CaseReport) -> Finding[Numerics]:
    """The case's outputs against the reference; `.require()` fails the test when one is wrong."""
    return rmsperf_report.numerics()


@pytest.fixture
def rmsperf_latency(rmsperf_report: CaseReport) -> Finding[Verdict]:
    """The verdict on the case's latency; `.require()` fails the test when it does not hold."""
    return rmsperf_report.latency()


@pytest.fixture
def rmsperf_device(request: pytest.FixtureRequest) -> Finding[DeviceRecord]:
    """The device of this run; `.require()` skips, or fails where a GPU was asked for."""
    return gate_of(request).device()


@pytest.fixture
def rmsperf_launch(request: pytest.FixtureRequest) -> Launch:
    """Launch a case once on arrays of your own: `rmsperf_launch(case, {"x": x}).require()["y"]`.

    A keyword `problem` launches the variant on another problem than the case's.
    """
    return gate_of(request).launch


@pytest.fixture
def rmsperf_no_stale(request: pytest.FixtureRequest) -> Callable[[tuple[Case, ...]], None]:
    """Fail when a baseline of any device holds a case that is not among those given."""
    return gate_of(request).require_no_stale


# ---- helpers --------------------------------------------------------------------------------


def open_gate(config: pytest.Config) -> None:
    """Resolve the settings and put the gate into the stash; a bad setting is a usage error."""
    from pytest_rmsperf.gate import Gate
    from pytest_rmsperf.report.progress import Progress

    if config.getoption("numprocesses", None) or hasattr(config, "workerinput"):
        raise pytest.UsageError(
            "the gate measures in worker processes of its own and cannot run under pytest-xdist; "
            "run it without -n: pytest --rmsperf -n0"
        )
    writer = config.get_terminal_writer()
    config.stash[PROGRESS] = Progress(writer, live=writer.hasmarkup)
    with usage_errors():
        settings = options.resolve(config)
    instrument = config.hook.pytest_rmsperf_instrument(config=config, settings=settings)
    config.stash[GATE] = Gate(settings, instrument, config.rootpath)


def measure(gate: Gate, session: pytest.Session) -> None:
    """Run the campaign for the collected tests."""
    progress = session.config.stash[PROGRESS]
    with usage_errors():
        gate.run(questions(session), progress)
    progress.end()


def questions(session: pytest.Session) -> list[Question]:
    """Return what the collected tests ask, one question for each test that has a case."""
    from pytest_rmsperf.gate import Question

    return [
        Question(case, frozenset(getattr(item, "fixturenames", ())))
        for item in session.items
        if (case := case_of(item)) is not None
    ]


def case_of(item: pytest.Item) -> Case | None:
    """Return the case a test is parametrized over, or None."""
    callspec = getattr(item, "callspec", None)
    found = (as_case(value) for value in callspec.params.values()) if callspec else ()
    return next((case for case in found if case is not None), None)


def as_case(value: object) -> Case | None:
    """Return the value if it is a case; where nobody imported cases, there is none."""
    cases = sys.modules.get("pytest_rmsperf.cases")
    return value if cases is not None and isinstance(value, cases.Case) else None


def gate_of(request: pytest.FixtureRequest) -> Gate:
    """Return the gate of this run; a test that reaches for it without one is a usage error."""
    gate = request.config.stash.get(GATE, None)
    if gate is None:
        raise pytest.UsageError(
            f"{request.node.nodeid} uses a fixture of the gate but is not marked rmsperf; "
            "mark it and run: pytest --rmsperf"
        )
    return gate


def refuse_absence(config: pytest.Config, reason: str) -> None:
    """Skip the test, unless a GPU was asked for: then the caller fails it."""
    gate = config.stash.get(GATE, None)
    if gate is None or not gate.settings.require_gpu:
        pytest.skip(f"not run: {reason}")


@contextmanager
def usage_errors() -> Iterator[None]:
    """Turn this package's errors into pytest's usage error: message without traceback, exit 4."""
    try:
        yield
    except RmsperfError as error:
        raise pytest.UsageError(str(error)) from error
