"""The settings in force: command line over ini file over default, resolved once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from pytest_rmsperf.device.profiles import DeviceProfile, profile_for_arch
from pytest_rmsperf.emulation import Schedules
from pytest_rmsperf.environment import DeviceChoice
from pytest_rmsperf.errors import SettingError
from pytest_rmsperf.judge.policy import Outcome, Policy, Status
from pytest_rmsperf.judge.thresholds import PRESETS, Thresholds
from pytest_rmsperf.options import OPTIONS, Option
from pytest_rmsperf.protocol import Cache, Protocol

if TYPE_CHECKING:
    import pytest

# Sessions of a calibration: enough that a threshold can be drawn from how they differ.
CALIBRATION_SESSIONS = 12


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings in force, resolved once."""

    static: bool  # the run is for static costs alone
    save: bool
    calibrate: bool
    baselines: Path
    device: DeviceChoice
    emulated_seed: int
    emulated_schedules: int
    require_gpu: bool
    expect_gpu: str | None
    arch: str
    devices: tuple[DeviceProfile, ...]  # those of interest
    headroom_loss: float  # as a share of the blocks that a device holds
    details: bool
    protocol: Protocol
    deadline_s: float
    against: str | None
    thresholds: Thresholds  # of the mode in force
    policy: Policy
    power_limit_mw: int | None
    accept_slower: bool
    accept_dirty: bool
    json: Path | None
    last_failed: bool = False  # pytest's --lf leaves out tests that passed before
    preset: str = "default"  # what gives the thresholds of the mode that is not in force

    def __post_init__(self) -> None:
        Schedules(self.emulated_seed, self.emulated_schedules)  # refuses seeds that do not exist
        if self.against is not None and (self.save or self.calibrate):
            option = "--rmsperf-save" if self.save else "--rmsperf-calibrate"
            raise SettingError(
                f"--rmsperf-against={self.against} contradicts {option}: what is compared with "
                "another commit enters no baseline; leave one of them out"
            )
        if self.static:
            self._refuse_beside_static()
        elif self.device is DeviceChoice.EMULATED:
            self._refuse_beside_emulated()

    def _refuse_beside_static(self) -> None:
        no_device = "a static run looks for no device"
        own_costs = "a static run compares with stored costs; --rmsperf-against compares them too"
        device = self.device.value if self.device is not DeviceChoice.AUTO else None
        _refuse_beside(
            "--rmsperf-static",
            (f"--rmsperf-device={device}", device, no_device),
            ("--rmsperf-require-gpu", self.require_gpu, no_device),
            ("--rmsperf-expect-gpu", self.expect_gpu, no_device),
            ("--rmsperf-calibrate", self.calibrate, "nothing is timed in a static run"),
            (f"--rmsperf-against={self.against}", self.against is not None, own_costs),
        )

    def _refuse_beside_emulated(self) -> None:
        _refuse_beside(
            "--rmsperf-device=emulated",
            ("--rmsperf-save", self.save, "emulated results never enter a baseline"),
            ("--rmsperf-calibrate", self.calibrate, "nothing is timed on an emulated device"),
            ("--rmsperf-require-gpu", self.require_gpu, "an emulated device is no GPU"),
            ("--rmsperf-expect-gpu", self.expect_gpu, "an emulated device is no GPU"),
        )

    @property
    def gpu_asked_by(self) -> str:
        """The option that makes a missing device a failure."""
        by_device = self.device is DeviceChoice.CUDA
        return "--rmsperf-device=cuda" if by_device else "--rmsperf-require-gpu"

    @property
    def stores(self) -> bool:
        """Whether this run is to change baselines."""
        return self.save or self.calibrate

    @property
    def usable_device(self) -> DeviceChoice:
        """What the work may be done on: where a GPU is asked for, nothing stands in for it."""
        if self.static:
            return DeviceChoice.NONE
        needs_gpu = self.require_gpu or self.stores or self.expect_gpu is not None
        return DeviceChoice.CUDA if needs_gpu else self.device

    @property
    def schedules(self) -> Schedules:
        """The schedules of the emulated device."""
        return Schedules(self.emulated_seed, self.emulated_schedules)

    def describe(self) -> str:
        """One line for the report header."""
        protocol, limits = self.protocol, self.thresholds
        compared = f"against {self.against}" if self.against else f"baselines {self.baselines}"
        changed = self.policy.describe()
        if self.static:
            return (
                f"{compared}, headroom may lose {100 * self.headroom_loss:g} % of what a device "
                f"holds{f', policy {changed}' if changed else ''}"
            )
        return (
            f"{compared}, {protocol.sessions} sessions x {protocol.blocks} samples, "
            f"{protocol.cache.value} cache, "
            f"thresholds {100 * limits.device.share:g} % device time "
            f"(at least {limits.device.floor_ns / 1000:g} us) and "
            f"{100 * limits.completion.share:g} % host completion, "
            f"deadline {self.deadline_s:g} s{f', policy {changed}' if changed else ''}"
        )


def resolve(config: pytest.Config) -> Settings:
    """Return the settings in force; SettingError names the option or ini key and its value."""
    found = {one.dest.removeprefix("rmsperf_"): _resolve_one(config, one) for one in OPTIONS}
    baselines = cast("Path", found["baselines"])
    json = cast("Path | None", found["json"])
    device = DeviceChoice(found["device"])
    folder = config.rootpath / baselines
    if folder.exists() and not folder.is_dir():
        raise SettingError(f"--rmsperf-baselines={baselines} is a file; name a folder")
    calibrate = bool(config.getoption("rmsperf_calibrate"))
    watts = cast("float | None", found["power_limit"])
    arch = str(found["arch"])
    return Settings(
        static=bool(config.getoption("rmsperf_static")),
        save=bool(config.getoption("rmsperf_save")),
        calibrate=calibrate,
        baselines=folder,
        device=device,
        emulated_seed=cast("int", found["emulated_seed"]),
        emulated_schedules=cast("int", found["emulated_schedules"]),
        require_gpu=bool(found["require_gpu"]) or device is DeviceChoice.CUDA,
        expect_gpu=cast("str | None", found["expect_gpu"]),
        arch=arch,
        devices=cast("tuple[DeviceProfile, ...] | None", found["devices"])
        or (profile_for_arch(arch),),
        headroom_loss=cast("float", found["headroom_loss"]) / 100,
        details=bool(found["details"]),
        protocol=_protocol(found, calibrate=calibrate),
        deadline_s=cast("float", found["deadline"]),
        against=cast("str | None", found["against"]),
        thresholds=_thresholds(found),
        policy=_policy(found),
        power_limit_mw=None if watts is None else round(1000 * watts),
        accept_slower=bool(found["accept_slower"]),
        accept_dirty=bool(found["accept_dirty"]),
        json=None if json is None else config.invocation_params.dir / json,
        last_failed=bool(config.getoption("lf", None)),
        preset=str(found["preset"]),
    )


def refuse_contradictions(config: pytest.Config) -> None:
    """Raise SettingError for options of which one would be left undone in silence.

    What contradicts --rmsperf-against or --rmsperf-static is refused by the settings themselves.
    """
    errands = [one for one in ("rename", "selftest") if config.getoption(f"rmsperf_{one}")]
    actions = ("save", "calibrate", "against", "static")
    others = [one for one in actions if config.getoption(f"rmsperf_{one}")]
    purposes = [*errands, *(one for one in others if errands or one in ("save", "calibrate"))]
    if len(purposes) > 1:
        raise SettingError(
            f"--rmsperf-{purposes[0]} contradicts --rmsperf-{purposes[1]}: a run is for one of "
            "them; run one after the other"
        )
    if errands and config.option.collectonly:
        raise SettingError(
            f"--rmsperf-{errands[0]} contradicts --collect-only: it takes the place of the tests, "
            "and there is nothing to collect; leave one of them out"
        )
    for one in ("accept_slower", "accept_dirty"):
        if config.getoption(f"rmsperf_{one}") and "save" not in others:
            raise SettingError(
                f"--rmsperf-{one.replace('_', '-')} says what may be saved, and this run saves "
                "nothing; add --rmsperf-save, or leave it out"
            )


def _refuse_beside(option: str, *others: tuple[str, object, str]) -> None:
    """Raise SettingError for the first of the others that is given, with why not both can be."""
    for other, given, why in others:
        if given:
            raise SettingError(
                f"{option} contradicts {other}: {why}; leave one of them out, on the command line "
                "or in the ini file"
            )


def _protocol(found: dict[str, object], *, calibrate: bool) -> Protocol:
    sessions = cast("int", found["sessions"])
    return Protocol(
        sessions=max(sessions, CALIBRATION_SESSIONS) if calibrate else sessions,
        blocks=cast("int", found["samples"]),
        cache=Cache(found["cache"]),
        cooldown_ms=round(1000 * cast("float", found["cooldown"])),
        precision_ppm=round(1e4 * cast("float", found["precision"])),
        budget_ms=max(1, round(1000 * cast("float", found["budget"]))),
    )


def _thresholds(found: dict[str, object]) -> Thresholds:
    """Return the preset's thresholds of the mode in force, with what was given over them."""
    preset = PRESETS[str(found["preset"])]
    base = preset.stored if found["against"] is None else preset.paired
    return override(
        base,
        percent=cast("float | None", found["threshold"]),
        floor_us=cast("float | None", found["floor"]),
        completion_percent=cast("float | None", found["completion_threshold"]),
    )


def override(
    base: Thresholds,
    *,
    percent: float | None = None,
    floor_us: float | None = None,
    completion_percent: float | None = None,
) -> Thresholds:
    """Return thresholds with those entries replaced that are given."""
    device, completion = base.device, base.completion
    if percent is not None:
        device = replace(device, share=percent / 100)
    if floor_us is not None:
        device = replace(device, floor_ns=round(1000 * floor_us))
    if completion_percent is not None:
        completion = replace(completion, share=completion_percent / 100)
    return Thresholds(device, completion)


def _policy(found: dict[str, object]) -> Policy:
    preset = PRESETS[str(found["preset"])].policy
    if found["against"] is not None:
        # What the other commit lacks is new here, which is no fault.
        preset = preset.replacing(((Status.MISSING, Outcome.WARN),))
    given = found["policy"]
    return preset.replacing(cast("tuple[tuple[Status, Outcome], ...]", given or ()))


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
