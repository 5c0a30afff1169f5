"""How kernels and launches stand in a file: each once, on a line that begins with its name.

Many cases launch the same kernels in the same way: both submissions of a problem, all devices that
hold as many blocks. What one kernel gains or loses is one line in a review, and the keys of the
cases it concerns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_rmsperf.costs import DeviceFit, PlannedLaunch
from pytest_rmsperf.resources import CompiledKernel
from pytest_rmsperf.storing.baseline_json import Place
from pytest_rmsperf.storing.record_json import FieldKey, Section

SHARED: Mapping[type[object], Section] = {
    CompiledKernel: Section("kernels", label="name"),
    PlannedLaunch: Section("launches", label="kernel"),
}
LEAST: Mapping[FieldKey, int | None] = {
    # Even a kernel that does nothing takes 4 registers (NVRTC 13.0, sm_75 to sm_120).
    (CompiledKernel, "static_smem_bytes"): 0,
    (CompiledKernel, "local_bytes"): 0,
    (CompiledKernel, "spill_store_bytes"): 0,
    (CompiledKernel, "spill_load_bytes"): 0,
    (PlannedLaunch, "dynamic_smem_bytes"): 0,
    (DeviceFit, "facts"): None,  # whatever the plan of an operator says of itself
}


def require_accepted(
    kernels: Sequence[CompiledKernel], fits: Sequence[DeviceFit], place: Place
) -> None:
    """Raise BaselineError unless these are kernels and plans as they are accepted.

    A plan has launches, and each is of one of the kernels: what fits no device is never stored.
    """
    names = {one.name for one in kernels}
    for fit in fits:
        if not fit.launches or fit.why_not is not None:
            raise place.fault(f"has no launches on {fit.device}: such a plan is never stored")
        unknown = sorted({one.kernel for one in fit.launches} - names)
        if unknown:
            raise place.fault(f"launches {unknown[0]} on {fit.device}, none of its kernels")
