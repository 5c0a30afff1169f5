"""pytest's side of the gate: hooks that are doorways.

Loaded in every pytest run of everyone who installed it: without --rmsperf nothing else of this
package is imported.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from pytest_rmsperf import fixtures, hookspecs, options
from pytest_rmsperf.errors import GateFailure, NotRun, RmsperfError
from pytest_rmsperf.fixtures import GATE, as_case, case_of

if TYPE_CHECKING:
    from pytest_rmsperf.campaign import Instrument
    from pytest_rmsperf.cases import Case
    from pytest_rmsperf.gate import Gate, Question
    from pytest_rmsperf.report.progress import Progress
    from pytest_rmsperf.settings import Settings

PROGRESS: pytest.StashKey[Progress] = pytest.StashKey()
PASSED: pytest.StashKey[bool] = pytest.StashKey()  # of an item: all its phases so far

MARKER = "rmsperf: a test of the performance regression gate; runs with --rmsperf and only then"


# ---- set-up ---------------------------------------------------------------------------------


def pytest_addoption(parser: pytest.Parser) -> None:
    options.add_options(parser)


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    pluginmanager.add_hookspecs(hookspecs)
    pluginmanager.register(fixtures, "rmsperf_fixtures")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", MARKER)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    if options.gate_is_on(session.config):
        open_gate(session.config)
    else:
        refuse_lonely_options(session.config)


@pytest.hookimpl(trylast=True)
def pytest_rmsperf_instrument(config: pytest.Config, settings: Settings) -> Instrument:
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
    gate_is_on = GATE in config.stash
    kept, others = partition(items, lambda one: is_marked(one) == gate_is_on)
    if others:
        items[:] = kept
        config.hook.pytest_deselected(items=others)


def pytest_make_parametrize_id(val: object) -> str | None:
    case = as_case(val)
    return case.id if case is not None else None


# ---- the run --------------------------------------------------------------------------------


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> Generator[None, object, object]:
    gate = session.config.stash.get(GATE, None)
    if gate is not None and will_run_tests(session):
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
    except NotRun as reason:
        message = absence(pyfuncitem.config, str(reason))
    except (GateFailure, RmsperfError) as failure:
        message = str(failure)
    pytest.fail(message, pytrace=False)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if GATE in item.config.stash:
        item.stash[PASSED] = report.passed and item.stash.get(PASSED, True)
    return report


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    gate = session.config.stash.get(GATE, None)
    complete = exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
    if gate is not None and gate.settings.save and complete:
        gate.try_to_save(accepted_cases(session))
    if gate is not None and exitstatus == pytest.ExitCode.OK and gate.is_red:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    gate = config.stash.get(GATE, None)
    if gate is not None and not config.option.collectonly:
        terminalreporter.section("rmsperf")
        for line in gate.summary():
            terminalreporter.write_line(line)


# ---- helpers --------------------------------------------------------------------------------


def open_gate(config: pytest.Config) -> None:
    """Resolve the settings and put the gate into the stash; a bad setting is a usage error."""
    from pytest_rmsperf.gate import Gate
    from pytest_rmsperf.report.progress import Progress
    from pytest_rmsperf.settings import resolve

    if config.getoption("dist", "no") != "no" or hasattr(config, "workerinput"):
        raise pytest.UsageError(
            "the gate measures in worker processes of its own and cannot run under pytest-xdist; "
            "run it without -n: pytest --rmsperf -n0"
        )
    writer = config.get_terminal_writer()
    config.stash[PROGRESS] = Progress(writer, live=writer.hasmarkup, width=writer.fullwidth)
    with usage_errors():
        settings = resolve(config)
    instrument = config.hook.pytest_rmsperf_instrument(config=config, settings=settings)
    config.stash[GATE] = Gate(settings, instrument, config.rootpath)


def partition(
    items: list[pytest.Item], wanted: Callable[[pytest.Item], bool]
) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """Return the wanted items and the others, each in order."""
    kept: list[pytest.Item] = []
    others: list[pytest.Item] = []
    for one in items:
        (kept if wanted(one) else others).append(one)
    return kept, others


def is_marked(item: pytest.Item) -> bool:
    """Say whether a test belongs to the gate."""
    return item.get_closest_marker("rmsperf") is not None


def refuse_lonely_options(config: pytest.Config) -> None:
    """Refuse options of the gate without the gate: a run that lost --rmsperf would be green."""
    given = options.given_on_command_line(config)
    if given:
        raise pytest.UsageError(
            f"{given[0]} is an option of the gate, which is off: pytest --rmsperf {given[0]} ..."
        )


def will_run_tests(session: pytest.Session) -> bool:
    """Say whether pytest will go on to run what it collected."""
    option = session.config.option
    broken = session.testsfailed and not option.continue_on_collection_errors
    return not option.collectonly and not broken


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


def accepted_cases(session: pytest.Session) -> list[Case]:
    """Return the cases every test of which ran and passed."""
    asked = [
        (case, item.stash.get(PASSED, False))
        for item in session.items
        if (case := case_of(item)) is not None
    ]
    refused = {case.id for case, passed in asked if not passed}
    return [case for case, _ in asked if case.id not in refused]


def absence(config: pytest.Config, reason: str) -> str:
    """Skip the test, or return the message that fails it where a GPU was asked for."""
    gate = config.stash.get(GATE, None)
    if gate is None or not gate.settings.require_gpu:
        pytest.skip(f"not run: {reason}")
    asked_by = gate.settings.gpu_asked_by
    return f"not run: {reason}, and {asked_by} asks for one; run it on a machine with a GPU"


@contextmanager
def usage_errors() -> Iterator[None]:
    """Turn this package's errors into pytest's usage error: message without traceback, exit 4."""
    try:
        yield
    except RmsperfError as error:
        raise pytest.UsageError(str(error)) from error
