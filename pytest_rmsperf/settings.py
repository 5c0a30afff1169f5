"""The settings in force: command line over ini file over default, resolved once."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_rmsperf.emulation import Schedules
from pytest_rmsperf.environment import DeviceChoice
from pytest_rmsperf.errors import SettingError
from pytest_rmsperf.options import OPTIONS, Option

if TYPE_CHECKING:
    import pytest


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings in force, resolved once."""

    save: bool
    baselines: Path
    device: DeviceChoice
    emulated_seed: int
    emulated_schedules: int
    require_gpu: bool
    expect_gpu: str | None
    arch: str
    sessions: int
    samples: int
    deadline_s: float
    threshold_percent: float
    completion_threshold_percent: float
    json: Path | None

    def __post_init__(self) -> None:
        Schedules(self.emulated_seed, self.emulated_schedules)  # refuses seeds that do not exist
        if self.device is not DeviceChoice.EMULATED:
            return
        for option, given, why in (
            ("--rmsperf-save", self.save, "emulated results never enter a baseline"),
            ("--rmsperf-require-gpu", self.require_gpu, "an emulated device is no GPU"),
            ("--rmsperf-expect-gpu", self.expect_gpu, "an emulated device is no GPU"),
        ):
            if given:
                raise SettingError(
                    f"--rmsperf-device=emulated contradicts {option}: {why}; leave one of them "
                    "out, on the command line or in the ini file"
                )

    @property
    def gpu_asked_by(self) -> str:
        """The option that makes a missing device a failure."""
        by_device = self.device is DeviceChoice.CUDA
        return "--rmsperf-device=cuda" if by_device else "--rmsperf-require-gpu"

    @property
    def usable_device(self) -> DeviceChoice:
        """What the work may be done on: where a GPU is asked for, nothing stands in for it."""
        needs_gpu = self.require_gpu or self.save or self.expect_gpu is not None
        return DeviceChoice.CUDA if needs_gpu else self.device

    @property
    def schedules(self) -> Schedules:
        """The schedules of the emulated device."""
        return Schedules(self.emulated_seed, self.emulated_schedules)

    def describe(self) -> str:
        """One line for the report header."""
        return (
            f"baselines {self.baselines}, {self.sessions} sessions x {self.samples} samples, "
            f"thresholds {self.threshold_percent:g} % device time and "
            f"{self.completion_threshold_percent:g} % host completion, "
            f"deadline {self.deadline_s:g} s"
        )


def resolve(config: pytest.Config) -> Settings:
    """Return the settings in force; SettingError names the option or ini key and its value."""
    found = {one.dest: _resolve_one(config, one) for one in OPTIONS}
    baselines, json = found["rmsperf_baselines"], found["rmsperf_json"]
    assert isinstance(baselines, Path)
    assert json is None or isinstance(json, Path)
    device = DeviceChoice(found["rmsperf_device"])
    folder = config.rootpath / baselines
    if folder.exists() and not folder.is_dir():
        raise SettingError(f"--rmsperf-baselines={baselines} is a file; name a folder")
    return Settings(
        save=bool(config.getoption("rmsperf_save")),
        baselines=folder,
        device=device,
        emulated_seed=_as_int(found["rmsperf_emulated_seed"]),
        emulated_schedules=_as_int(found["rmsperf_emulated_schedules"]),
        require_gpu=bool(found["rmsperf_require_gpu"]) or device is DeviceChoice.CUDA,
        expect_gpu=None
        if found["rmsperf_expect_gpu"] is None
        else str(found["rmsperf_expect_gpu"]),
        arch=str(found["rmsperf_arch"]),
        sessions=_as_int(found["rmsperf_sessions"]),
        samples=_as_int(found["rmsperf_samples"]),
        deadline_s=_as_float(found["rmsperf_deadline"]),
        threshold_percent=_as_float(found["rmsperf_threshold"]),
        completion_threshold_percent=_as_float(found["rmsperf_completion_threshold"]),
        json=None if json is None else config.invocation_params.dir / json,
    )


def _resolve_one(config: pytest.Config, option: Option) -> object:
    given, where = config.getoption(option.dest), option.flag
    if given is None:
        given, where = config.getini(option.dest), f"ini key {option.dest}"
    if given is None:
        given, where = option.default, "default"
    if given is None:
        return None
    if not str(given).strip():
        raise SettingError(f"{where} is empty; give a value or leave it out ({option.help})")
    try:
        return option.parse(str(given))
    except ValueError as error:
        raise SettingError(f"{where}={given}: {error} ({option.help})") from error


def _as_int(value: object) -> int:
    assert isinstance(value, int)
    return value


def _as_float(value: object) -> float:
    assert isinstance(value, float)
    return value
