"""The options of the command line and the ini file: one table, one grammar.

Loaded in every pytest run, so it is kept short; what the options amount to is in `settings`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pytest_rmsperf.judge.policy import parse_policy

if TYPE_CHECKING:
    import pytest


PRESET_NAMES = ("default", "strict", "permissive")


def _count(text: str) -> int:
    if not text.strip().isdecimal() or int(text) < 1:
        raise ValueError("must be a whole number of at least 1")
    return int(text)


def _whole(text: str) -> int:
    if not text.strip().isdecimal():
        raise ValueError("must be a whole number of at least 0")
    return int(text)


def _positive(text: str) -> float:
    value = float(text)
    if not 0 < value < float("inf"):
        raise ValueError("must be positive and finite")
    return value


def _one_of(*words: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text not in words:
            raise ValueError(f"must be one of {', '.join(words)}")
        return text

    return parse


def _share(text: str) -> float:
    value = float(text)
    if not 0 <= value < 100:
        raise ValueError("must be at least 0 and below 100")
    return value


def _seconds(text: str) -> float:
    value = float(text)
    if not 0 <= value < 3600:
        raise ValueError("must be at least 0 and below 3600")
    return value


def _yes(text: str) -> bool:
    words = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
    if text.lower() not in words:
        raise ValueError("must be true or false")
    return words[text.lower()]


def _devices(text: str) -> object:
    from pytest_rmsperf.device.profiles import profiles_named

    return profiles_named(text)


class Option(NamedTuple):
    """One setting: `--rmsperf-<word>` on the command line, `rmsperf_<word>` in the ini file."""

    word: str
    default: str | None  # as it would be typed
    parse: Callable[[str], object]
    metavar: str | None  # None: a switch without a value
    help: str

    @property
    def flag(self) -> str:
        return f"--rmsperf-{self.word}"

    @property
    def dest(self) -> str:
        return f"rmsperf_{self.word.replace('-', '_')}"


OPTIONS = (
    Option("baselines", "baselines", Path, "DIR", "folder of stored baselines"),
    Option(
        "device",
        "auto",
        _one_of("auto", "cuda", "emulated"),
        "auto|cuda|emulated",
        "auto: a CUDA device if there is one, else the emulated device if there is a C++ compiler; "
        "cuda: it is an error if there is none; emulated: a CUDA device is left alone",
    ),
    Option("emulated-seed", "0", _whole, "N", "first schedule of threads on the emulated device"),
    Option("emulated-schedules", "4", _count, "N", "launches there, each by another schedule"),
    Option("require-gpu", "false", _yes, None, "what was not run for want of a GPU fails"),
    Option("expect-gpu", None, str, "NAME", "stop unless the device has this CUDA name"),
    Option("arch", "sm_90", str, "ARCH", "what to compile for where there is no device"),
    Option(
        "devices",
        None,
        _devices,
        "NAME,...",
        "devices of interest, which every case is held against though none is there; left out, it "
        "is the one that --rmsperf-arch stands for",
    ),
    Option(
        "headroom-loss",
        "10",
        _share,
        "PERCENT",
        "how much of the blocks that a device holds a plan may lose of its headroom",
    ),
    Option("details", "false", _yes, None, "show what each device of interest holds of each case"),
    Option("sessions", "3", _count, "N", "fresh worker processes that measure all cases"),
    Option("samples", "15", _count, "N", "most blocks of samples of each case in a session"),
    Option("precision", "0.05", _share, "PERCENT", "a session ends early when medians are so sure"),
    Option("budget", "60", _positive, "SECONDS", "a session ends after so much timing"),
    Option("cooldown", "0", _seconds, "SECONDS", "leave the device idle before each block"),
    Option(
        "cache",
        "warm",
        _one_of("warm", "cold"),
        "warm|cold",
        "what launches find in the L2 cache; each of the two has baselines of its own",
    ),
    Option("deadline", "30", _positive, "SECONDS", "kill a worker that is silent for so long"),
    Option("against", None, str, "REF", "compare with the kernels of this commit, by turns"),
    Option("preset", "default", _one_of(*PRESET_NAMES), "NAME", "thresholds and policy by name"),
    Option(
        "policy",
        None,
        parse_policy,
        "VERDICT=fail|warn|pass,...",
        "what a verdict does to a test, such as missing=warn",
    ),
    Option("threshold", None, _positive, "PERCENT", "change of device time that counts"),
    Option("floor", None, _positive, "MICROSECONDS", "smallest such change, whatever its share"),
    Option("completion-threshold", None, _positive, "PERCENT", "the same for host completion"),
    Option("power-limit", None, _positive, "WATTS", "limit that this device is meant to have"),
    Option(
        "accept-slower",
        "false",
        _yes,
        None,
        "with --rmsperf-save: accept what got slower or costlier",
    ),
    Option(
        "accept-dirty", "false", _yes, None, "with --rmsperf-save: in spite of uncommitted work"
    ),
    Option("json", None, Path, "FILE", "also write the run, with all samples, to FILE"),
)


# What a run may be for beside checking; each turns the gate on.
ACTIONS = (
    "rmsperf_save",
    "rmsperf_calibrate",
    "rmsperf_selftest",
    "rmsperf_rename",
    "rmsperf_against",
    "rmsperf_static",
)


def add_options(parser: pytest.Parser) -> None:
    """Declare every option with default None, so that the resolver sees what was given."""
    group = parser.getgroup("rmsperf", "performance regression gate for CUDA kernels")
    group.addoption(
        "--rmsperf",
        dest="rmsperf",
        action="store_true",
        help="run the gate: the tests marked rmsperf, and only those",
    )
    group.addoption(
        "--rmsperf-save",
        dest="rmsperf_save",
        action="store_true",
        help="run the gate and accept what was measured as the new baselines",
    )
    group.addoption(
        "--rmsperf-static",
        dest="rmsperf_static",
        action="store_true",
        help="run of the gate only what needs no device: compile, and hold costs against baselines",
    )
    group.addoption(
        "--rmsperf-calibrate",
        dest="rmsperf_calibrate",
        action="store_true",
        help="run the gate many times over and store each case's noise with its baseline",
    )
    group.addoption(
        "--rmsperf-selftest",
        dest="rmsperf_selftest",
        action="store_true",
        help="plant faults on this machine and demand the right verdict for each",
    )
    group.addoption(
        "--rmsperf-rename",
        dest="rmsperf_rename",
        metavar="OLD=NEW",
        action="append",
        help="give stored cases another name, on all devices, and do nothing else",
    )
    for one in OPTIONS:
        if one.metavar is None:
            group.addoption(
                one.flag, dest=one.dest, action="store_const", const="true", help=one.help
            )
        else:
            group.addoption(one.flag, dest=one.dest, metavar=one.metavar, help=one.help)
        parser.addini(one.dest, f"{one.help} (default: {one.default})", default=None)


def given_on_command_line(config: pytest.Config) -> list[str]:
    """Return the flags of the table that this run was given, without their values."""
    return [one.flag for one in OPTIONS if config.getoption(one.dest) is not None]


def gate_is_on(config: pytest.Config) -> bool:
    """Say whether this run asked for the gate: by itself, or for something that only it does."""
    words = ("rmsperf", *ACTIONS)
    # An empty value asks for it too: it is an error, which only the gate can tell.
    return any(config.getoption(word) not in (None, False) for word in words)
