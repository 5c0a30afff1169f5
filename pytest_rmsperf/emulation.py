"""What a check on the emulated device was made of: schedules, problem, addresses. Plain data."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_rmsperf.errors import SettingError

SEEDS = 2**64  # the emulated device counts in 64 bits


@dataclass(frozen=True, slots=True)
class Schedules:
    """The orders in which threads take turns: one launch for each seed, from `first_seed` on.

    The same seed gives the same order, so what one run found the next run finds again.
    """

    first_seed: int = 0
    count: int = 4

    def __post_init__(self) -> None:
        if not 0 <= self.first_seed < self.first_seed + self.count <= SEEDS:
            raise SettingError(
                "schedules need a count of at least 1 and seeds from 0 to 2^64 - 1, got seed "
                f"{self.first_seed} and {self.count} schedules"
            )

    @property
    def seeds(self) -> range:
        return range(self.first_seed, self.first_seed + self.count)

    def __str__(self) -> str:
        if self.count == 1:
            return f"1 schedule, seed {self.first_seed}"
        return f"{self.count} schedules, seeds {self.seeds[0]} to {self.seeds[-1]}"


@dataclass(frozen=True, slots=True)
class AddressCheck:
    """Problems too large to run, whose every address a variant was found to compute rightly."""

    problems: tuple[str, ...]  # labels
    launches: int


@dataclass(frozen=True, slots=True)
class Emulation:
    """How a case's outputs were checked where there is no CUDA device.

    `problem` is the label of the one that stood for the case's own; `addresses` is None where the
    operator names no problem for that, or the check did not come so far.
    """

    problem: str
    schedules: Schedules
    addresses: AddressCheck | None = None

    @property
    def how(self) -> str:
        """Problem, schedules and addresses, to be put behind the word "emulated"."""
        text = f"at {self.problem}, {self.schedules}"
        if self.addresses is None:
            return text
        return f"{text}; addresses at {', '.join(self.addresses.problems)}"

    def __str__(self) -> str:
        return f"emulated {self.how}"
