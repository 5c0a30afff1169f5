"""pytest's side of the gate: hooks that are doorways.

Loaded in every pytest run of everyone who installed it: without --rmsperf nothing else of this
package is imported.
"""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from pytest_rmsperf import fixtures, hookspecs, options
from pytest_rmsperf.collected import (
    LEFT_OUT,
    LeftOut,
    deselect,
    hold_to_findings,
    is_marked,
    is_static,
    note_outcome,
    question_of,
    ran,
)
from pytest_rmsperf.errors import GateFailure, NotRun, RmsperfError
from pytest_rmsperf.fixtures import GATE, as_case, as_ordering, case_of
from pytest_rmsperf.telling import as_typed, told
from pytest_rmsperf.undistributed import set_xdist_aside, xdist_line

if TYPE_CHECKING:
    from pytest_rmsperf.campaign import Instrument
    from pytest_rmsperf.errands import Errand
    from pytest_rmsperf.gate import Gate
    from pytest_rmsperf.report.progress import Progress
    from pytest_rmsperf.settings import Settings

PROGRESS: pytest.StashKey[Progress] = pytest.StashKey()
ERRAND: pytest.StashKey[Errand] = pytest.StashKey()

MARKER = (
    "rmsperf(threshold, floor, completion_threshold, waive): a test of the performance regression "
    "gate; runs with --rmsperf and only then. The first three are in percent, microseconds and "
    "percent, and hold for the test's case; waive says why its latency may be anything"
)


# ---- set-up ---------------------------------------------------------------------------------


def pytest_addoption(parser: pytest.Parser) -> None:
    options.add_options(parser)


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    pluginmanager.add_hookspecs(hookspecs)
    pluginmanager.register(fixtures, "rmsperf_fixtures")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", MARKER)
    if options.gate_is_on(config):
        set_xdist_aside(config)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    if options.gate_is_on(session.config):
        open_gate(session.config)
    else:
        refuse_lonely_options(session.config)


@pytest.hookimpl(trylast=True)
def pytest_rmsperf_instrument(config: pytest.Config, settings: Settings) -> Instrument:
    from pytest_rmsperf.equipment import default_instrument

    is_needed = not config.option.collectonly and not config.getoption("rmsperf_rename")
    return default_instrument(settings, config.stash[PROGRESS], at_once=is_needed)


def pytest_report_header(config: pytest.Config) -> list[str]:
    gate = config.stash.get(GATE, None)
    if gate is None or config.option.collectonly:
        return []
    with usage_errors():
        return [*gate.header(), *xdist_line(config)]


def pytest_unconfigure(config: pytest.Config) -> None:
    gate = config.stash.get(GATE, None)
    if gate is not None:
        gate.close()


# ---- collection -----------------------------------------------------------------------------


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> bool | None:
    if ERRAND not in session.config.stash:
        return None
    session.items = []  # an errand takes the place of the tests
    return True


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> Generator[None, None, None]:
    gate_is_on = GATE in config.stash
    deselect(config, items, lambda one: is_marked(one) != gate_is_on)
    yield
    if gate_is_on and config.stash[GATE].settings.static:  # of what -k and -m left
        config.stash[LEFT_OUT].beyond_static = deselect(config, items, lambda o: not is_static(o))


def pytest_make_parametrize_id(val: object) -> str | None:
    found = as_case(val) or as_ordering(val)
    return found.id if found is not None else None


def pytest_deselected(items: Sequence[pytest.Item]) -> None:
    for item in items:
        left_out = item.config.stash.get(LEFT_OUT, None)
        if left_out is not None and is_marked(item):
            left_out.note(item)


# ---- the run --------------------------------------------------------------------------------


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> Generator[None, object, object]:
    gate, errand = gate_and_errand(session.config)
    if errand is not None:
        run_errand(errand, session)
    elif gate is not None and will_run_tests(session):
        measure(gate, session)
    return (yield)


def pytest_runtest_setup(item: pytest.Item) -> None:
    gate, case = item.config.stash.get(GATE, None), case_of(item)
    if gate is not None and case is not None:
        item.user_properties.append(("rmsperf_case", case.id))


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    try:
        answer = yield
        hold_to_findings(pyfuncitem)
        return answer
    except (NotRun, GateFailure, RmsperfError) as found:
        message = told(pyfuncitem.config, found)
    pytest.fail(message, pytrace=False)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if GATE in item.config.stash:
        note_outcome(item, report)
    return report


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    gate, errand = gate_and_errand(session.config)
    if errand is not None and exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
        well = errand.succeeded
        session.exitstatus = pytest.ExitCode.OK if well else pytest.ExitCode.TESTS_FAILED
    elif gate is not None:
        settle(gate, session, exitstatus)


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, exitstatus: int, config: pytest.Config
) -> None:
    gate, errand = gate_and_errand(config)
    if errand is not None:
        write_section(terminalreporter, f"rmsperf {errand.title}", errand.lines)
    elif gate is not None and not config.option.collectonly:
        lines = gate.summary(passed=exitstatus == pytest.ExitCode.OK)
        write_section(terminalreporter, "rmsperf", lines)


# ---- helpers --------------------------------------------------------------------------------


def gate_and_errand(config: pytest.Config) -> tuple[Gate | None, Errand | None]:
    return config.stash.get(GATE, None), config.stash.get(ERRAND, None)


def open_gate(config: pytest.Config) -> None:
    """Resolve the settings and put the gate into the stash; a bad setting is a usage error."""
    from pytest_rmsperf.equipment import instrument_settings
    from pytest_rmsperf.settings import refuse_contradictions, resolve

    config.stash[PROGRESS], config.stash[LEFT_OUT] = progress_of(config), LeftOut()
    with usage_errors():
        refuse_contradictions(config)
        settings = resolve(config)
        instrument = config.hook.pytest_rmsperf_instrument(
            config=config, settings=instrument_settings(config, settings)
        )
        from pytest_rmsperf.errands import errand_of  # while the instrument's worker starts
        from pytest_rmsperf.gate import Gate

        selector = " ".join((config.option.keyword or "", *config.args))
        config.stash[GATE] = Gate(settings, instrument, config.rootpath, selector=selector)
        errand = errand_of(config, settings, instrument)
    if errand is not None:
        config.stash[ERRAND] = errand


def progress_of(config: pytest.Config) -> Progress:
    """Return progress on pytest's terminal, or on stderr where -p no:terminal left none."""
    from pytest_rmsperf.report.progress import Progress

    if not config.pluginmanager.has_plugin("terminalreporter"):
        return Progress(sys.stderr, live=False)
    writer = config.get_terminal_writer()
    return Progress(writer, live=writer.hasmarkup, width=writer.fullwidth)


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
        found = [question_of(item) for item in session.items]
        gate.run([one for one in found if one.cases], progress)
    progress.end()


def run_errand(errand: Errand, session: pytest.Session) -> None:
    """Do what this run is for."""
    progress = session.config.stash[PROGRESS]
    with usage_errors():
        errand.run(progress)
    progress.end()


def settle(gate: Gate, session: pytest.Session, exitstatus: int) -> None:
    """Let the gate store what was accepted, and turn a run red that it has a complaint about."""
    code = pytest.ExitCode
    complete = exitstatus in (code.OK, code.TESTS_FAILED, code.NO_TESTS_COLLECTED)
    if not complete:
        gate.abandon()
    elif not session.config.option.collectonly:
        gate.settle(ran(session))
    if exitstatus == pytest.ExitCode.OK and gate.complaint() is not None:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def write_section(reporter: pytest.TerminalReporter, title: str, lines: Iterable[str]) -> None:
    """Write one section of the end of a run."""
    reporter.section(title)
    for line in lines:
        reporter.write_line(as_typed(reporter.config, line))


@contextmanager
def usage_errors() -> Iterator[None]:
    """Turn this package's errors into pytest's usage error: message without traceback, exit 4."""
    try:
        yield
    except RmsperfError as error:
        raise pytest.UsageError(str(error)) from error
