"""How much a figure may change: thresholds of both modes, and presets of them with a policy."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_rmsperf.judge.policy import Outcome, Policy, Status


@dataclass(frozen=True, slots=True)
class Limit:
    """The smallest change of a figure that counts: a share of it, and a floor in ns."""

    share: float
    floor_ns: int

    def of(self, before_ns: int) -> float:
        """Return the limit as a share of `before_ns`: the floor where it is the larger."""
        return max(self.share, self.floor_ns / before_ns)


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The limits of device time and of host completion."""

    device: Limit
    completion: Limit

    def at_least(self, device_share: float, completion_share: float) -> Thresholds:
        """Return the thresholds raised to these shares, such as a case's noise floor."""
        return Thresholds(
            Limit(max(self.device.share, device_share), self.device.floor_ns),
            Limit(max(self.completion.share, completion_share), self.completion.floor_ns),
        )


# Against stored figures. Of 2240 checks of unchanged cases of the bundled suite, drawn from 20
# processes on an H200, none went beyond 0.7 %; host completion moved by up to 27 % from process to
# process there (docs/trust.md).
STORED = Thresholds(Limit(0.008, 50), Limit(0.25, 1000))
# Against another build in the same process: there 0.25 % raised no false alarm.
PAIRED = Thresholds(Limit(0.0025, 15), Limit(0.05, 500))


@dataclass(frozen=True, slots=True)
class Preset:
    """Thresholds of both modes and the policy, under one name."""

    stored: Thresholds
    paired: Thresholds
    policy: Policy


PRESETS = {
    "default": Preset(STORED, PAIRED, Policy()),
    # For a quiet machine that is kept for this: what is not known to be as it was fails.
    "strict": Preset(
        Thresholds(Limit(0.006, 30), Limit(0.15, 500)),
        Thresholds(Limit(0.002, 10), Limit(0.03, 300)),
        Policy(
            tuple(
                (status, Outcome.FAIL)
                for status in (Status.INCONCLUSIVE, Status.FASTER, Status.CHEAPER)
            )
        ),
    ),
    # For the first weeks of a gate, or a shared machine: only a plain loss fails.
    "permissive": Preset(
        Thresholds(Limit(0.05, 100), Limit(0.5, 2000)),
        Thresholds(Limit(0.01, 50), Limit(0.1, 1000)),
        Policy(
            tuple(
                (status, Outcome.WARN)
                for status in (
                    Status.MISSING,
                    Status.INCOMPARABLE,
                    Status.INVALID,
                    Status.STALE,
                    Status.CHANGED,
                )
            )
        ),
    ),
}
