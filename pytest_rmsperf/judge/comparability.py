"""Whether two measurements can be compared at all: device, protocol, inputs, flags, compiler."""

from __future__ import annotations

from pytest_rmsperf.environment import DeviceIdentity
from pytest_rmsperf.measurement import Measurement

# Total memory of one part differs by a little between drivers and with ECC.
SAME_MEMORY = 0.03
# Of fewer stored sessions, no number of fresh ones is apart by more than chance.
LEAST_SESSIONS = 2


def same_device(one: DeviceIdentity, other: DeviceIdentity) -> bool:
    """Compare stable facts only; memory to within what drivers and ECC change."""
    larger, smaller = sorted((one.memory_mib, other.memory_mib), reverse=True)
    return (
        (one.name, one.sms, one.compute_capability)
        == (other.name, other.sms, other.compute_capability)
    ) and larger - smaller <= SAME_MEMORY * larger


def incomparable(current: Measurement, baseline: Measurement) -> str | None:
    """Say what makes a stored measurement no yardstick for a new one, or None."""
    mine, theirs = current.run, baseline.run
    if theirs.source != "measured":
        return f"the baseline's figures are {theirs.source}, not measured by this protocol"
    if not same_device(mine.device, theirs.device):
        return f"other device: {_part(theirs.device)} -> {_part(mine.device)}"
    settings = mine.protocol.differs_from(theirs.protocol)
    if settings is not None:
        return f"other protocol: {settings}"
    return (
        _no_yardstick(baseline)
        or _other_code(current, baseline)
        or incomparable_builds(current, baseline)
    )


def incomparable_builds(current: Measurement, other: Measurement) -> str | None:
    """Say what makes two builds, measured in one process, incomparable, or None.

    Flags and resources may differ there: they are what is compared.
    """
    if current.inputs != other.inputs:
        return f"other inputs: {other.inputs} -> {current.inputs}"
    mine, theirs = (sorted({s.timing.value for s in one.sessions}) for one in (current, other))
    if mine != theirs:
        return f"other timing: {', '.join(theirs)} -> {', '.join(mine)}"
    return None


def _no_yardstick(baseline: Measurement) -> str | None:
    """Say why nothing could ever be proven against these figures, or None.

    One session does not show how far sessions differ, so that no change would ever be beyond it.
    """
    for what, medians in (
        ("device time", baseline.device_medians),
        ("host completion", baseline.completion_medians),
    ):
        if not medians or min(medians) <= 0:
            return (
                f"the baseline has {f'a {what} of {min(medians)} ns' if medians else f'no {what}'}"
            )
        if len(medians) < LEAST_SESSIONS:
            return "the baseline has one session, and one tells nothing of how far sessions differ"
    return None


def _other_code(current: Measurement, baseline: Measurement) -> str | None:
    """Say what else than the source went into the machine code, if it differs."""
    if current.flags != baseline.flags:
        return f"other compiler flags: {_words(baseline.flags)} -> {_words(current.flags)}"
    before, after = dict(baseline.run.compiler), dict(current.run.compiler)
    changed = sorted(key for key in before | after if before.get(key) != after.get(key))
    if changed:
        key = changed[0]
        return f"other compiler: {key} {before.get(key, 'none')} -> {after.get(key, 'none')}"
    return None


def _part(device: DeviceIdentity) -> str:
    return f"{device.name} ({device.sms} SMs, {device.memory_mib} MiB)"


def _words(flags: tuple[str, ...]) -> str:
    return " ".join(flags) or "none"
