"""What the head of a run says of the machine: the device, or what stands for it, and how much."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_rmsperf.checks import EmulatedMachine, Machine
from pytest_rmsperf.device.profiles import DeviceProfile

STATIC = "none is looked for: every case is compiled, and nothing is launched or timed"


def header(
    machine: Machine,
    *,
    arch: str,
    settings: str,
    devices: Sequence[DeviceProfile],
    is_static: bool = False,
) -> list[str]:
    """Return the lines of the report header; `settings` is what they are, in words.

    `devices` are those of interest; `is_static` says that the run is for them alone.
    """
    compiler = ", ".join(f"{name} {value}" for name, value in machine.compiler)
    words = ", ".join(one.word or one.identity.name for one in devices)
    lines = [
        f"rmsperf device: {STATIC if is_static else device(machine, arch)}",
        f"rmsperf compiler: {compiler}",
        f"rmsperf static: {named_devices(devices)}: {words}",
        f"rmsperf: {settings}",
    ]
    lines += [f"rmsperf WARNING: {text}" for text in machine.warnings]
    state = machine.device.state if machine.device else None
    if state is not None and state.has_strangers:
        others = ", ".join(str(one) for one in state.other_processes or ())
        lines.append(f"rmsperf WARNING: others are on the device: {others}")
    return lines


def named_devices(devices: Sequence[DeviceProfile]) -> str:
    """Return how many devices these are and of which archs: "2 devices, sm_89 sm_90"."""
    archs = sorted({one.arch for one in devices}, key=lambda arch: int(arch.removeprefix("sm_")))
    return f"{len(devices)} device{'' if len(devices) == 1 else 's'}, {' '.join(archs)}"


def device(machine: Machine, arch: str) -> str:
    """Say what the run happens on, and what it can therefore not say."""
    if machine.device is not None:
        return machine.device.describe()
    if machine.emulated is not None:
        return _emulated(machine.emulated, machine.why_no_device)
    no_emulation = machine.why_no_emulation
    neither = f", and no emulated one: {no_emulation}" if no_emulation else ""
    return (
        f"NONE: {machine.why_no_device}{neither}. Nothing will be launched or timed; "
        f"compiling for {arch}"
    )


def _emulated(emulated: EmulatedMachine, why_no_device: str | None) -> str:
    return (
        f"EMULATED {emulated.identity.name} on this CPU ({emulated.compiler}; {why_no_device}): "
        f"numerics and barriers are checked by {emulated.schedules}; nothing is timed, nothing "
        "enters a baseline"
    )
