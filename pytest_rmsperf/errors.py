"""Every error this package raises on purpose.

Each message starts with what is wrong, names the file, key and value it saw, and ends with the
remedy, so that a person who reads only the first line of a traceback knows what to do next.
"""

from __future__ import annotations


class RmsperfError(Exception):
    """Base of all errors below; catching it catches nothing that Python itself raises."""


class SettingError(RmsperfError):
    """A command-line option or an ini key holds a value that cannot be used."""


class OperatorError(RmsperfError):
    """An operator's folder or record breaks a rule of `pytest_rmsperf.cases`."""


class PlanError(RmsperfError):
    """A variant cannot run this problem; the message gives the rule and the value."""


class CompileError(RmsperfError):
    """A source did not compile; the message carries the compiler's log with file and line."""


class BaselineError(RmsperfError):
    """A baseline file cannot be read or written; the file on disk is left as it was."""


class DeviceError(RmsperfError):
    """The driver refused a call or a launch failed; the context may be unusable afterwards."""


class WorkerError(RmsperfError):
    """A worker process died or overran its deadline; the message keeps its last stderr lines."""


class GateFailure(AssertionError):
    """The gate says no: the text is the whole message, verdict first.

    An AssertionError, so that a test which lets it pass through fails and does not error.
    """


class NotRun(RmsperfError):
    """Something the test asks about was not run here, such as a latency without a device.

    The plugin shows it as a skip, or as a failure where a GPU was asked for.
    """
