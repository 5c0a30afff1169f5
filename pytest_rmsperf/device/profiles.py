"""The devices that a plan can be held against without having one.

A profile is data: what one part is, and where each of its numbers comes from. What a compute
capability limits is in `pytest_rmsperf.device.occupancy`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from difflib import get_close_matches

from pytest_rmsperf.device.parts import SLICES, WHOLE
from pytest_rmsperf.environment import DeviceIdentity
from pytest_rmsperf.errors import SettingError

ALL = "all"  # the word for every whole device


@dataclass(frozen=True, slots=True)
class DeviceProfile:
    """A device by its full CUDA name, and the source of its numbers.

    `identity.memory_mib` is the total that NVML and nvidia-smi report. CUDA's own total is
    smaller (81079 against 81559 MiB on an H100) and moves with the driver. `word` names it on the
    command line; it is empty where the profile is not one of `PROFILES`.
    """

    identity: DeviceIdentity
    source: str
    word: str = field(default="", kw_only=True)

    @property
    def arch(self) -> str:
        return self.identity.arch

    @property
    def is_slice(self) -> bool:
        """Whether it is a MIG slice: of a device, some SMs and some memory."""
        return " MIG " in self.identity.name


# The first profile of an arch is the default for that arch.
PROFILES: tuple[DeviceProfile, ...] = tuple(
    DeviceProfile(identity, f"SMs: {sms_source}; memory: {memory_source}", word=word)
    for word, identity, sms_source, memory_source in (*WHOLE, *SLICES)
)

# The command that prints every device with its numbers and their sources.
LISTING = "python -m pytest_rmsperf.device.table"


def profile_for_arch(arch: str) -> DeviceProfile:
    """Return the default profile of an arch such as "sm_90".

    "sm_90a" and "sm_90f" name the same devices as "sm_90": the suffix widens the instruction set.

    Raises:
        SettingError: no profile has this arch; the message names those that exist.
    """
    base = re.sub(r"[af]$", "", arch)
    for profile in PROFILES:
        if profile.arch == base:
            return profile
    known = ", ".join(dict.fromkeys(profile.arch for profile in PROFILES))
    raise SettingError(
        f"no device profile for arch {arch!r}\n"
        f"  known archs  {known}\n"
        "choose one of them with --rmsperf-arch, or run on a machine with the device itself"
    )


def profiles_named(text: str) -> tuple[DeviceProfile, ...]:
    """Read devices as they are typed, such as "h100-sxm, l4"; the order is kept.

    Commas and white space separate them, line ends too. A device goes by its word or by the key of
    its full CUDA name ("nvidia-l4"); "all" stands for every device that is no MIG slice.

    Raises:
        ValueError: nothing is named, a name is unknown, or a device is named twice.
    """
    found: dict[DeviceProfile, str] = {}
    entries = [entry for entry in re.split(r"[,\s]+", text.lower()) if entry]
    if not entries:
        raise ValueError(f"no device is named; all of them: {LISTING}")
    for entry in entries:
        for profile in _meant_by(entry):
            if profile in found:
                raise ValueError(
                    f"{profile.word} is named twice, by {found[profile]!r} and by {entry!r}; "
                    "name each device once"
                )
            found[profile] = entry
    return tuple(found)


def _meant_by(entry: str) -> tuple[DeviceProfile, ...]:
    if entry == ALL:
        return tuple(profile for profile in PROFILES if not profile.is_slice)
    for profile in PROFILES:
        if entry in (profile.word, profile.identity.key):
            return (profile,)
    near = _nearest(entry)
    hint = f"the nearest are {', '.join(near)}" if near else "none is near"
    raise ValueError(f"no device is called {entry!r}; {hint}; all of them: {LISTING}")


def _nearest(entry: str) -> list[str]:
    """Return at most four words that are near to what was typed, whole devices first."""
    words = [profile.word for profile in PROFILES]
    longer = [word for word in words if entry in word]
    return (longer or get_close_matches(entry, words, n=4))[:4]
