"""The one CUDA device of a worker process: context, stream, and what CUDA says about it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from pytest_rmsperf.device import _clock
from pytest_rmsperf.device.nvml import NvmlReader
from pytest_rmsperf.environment import DeviceIdentity, DeviceRecord, DeviceState
from pytest_rmsperf.errors import DeviceError

if TYPE_CHECKING:
    from cuda.core import Device, Stream

MIB = 2**20


def checked(answer: tuple[Any, ...], what: str) -> Any:
    """Return the value of a driver call made through cuda.bindings; DeviceError on a refusal."""
    result, *values = answer
    if int(result):
        raise DeviceError(f"{what}: the driver answered {result.name} ({int(result)})")
    return values[0] if values else None


def why_no_device() -> str | None:
    """Say why no CUDA device can be used here, or return None when one can."""
    try:
        _clock.open_driver()
    except OSError as error:
        return f"no driver: {error}"
    try:
        from cuda.bindings import driver
    except ImportError as error:
        return f'no cuda-bindings ({error}); pip install "pytest-rmsperf[cuda13]"'
    if find_spec("cupy") is None:
        return 'no cupy, which measuring needs; pip install "pytest-rmsperf[cuda13]"'
    (result,) = driver.cuInit(0)
    if int(result):
        return f"the CUDA driver starts with {result.name}"
    count = checked(driver.cuDeviceGetCount(), "cuDeviceGetCount")
    return None if count else "the CUDA driver sees no device"


@dataclass(frozen=True, slots=True)
class CudaContext:
    """A current context and the one stream that everything in this process runs on.

    One stream, because buffers filled on another stream than the one that launches have been seen
    to hang a barrier.
    """

    device: Device
    stream: Stream
    reader: NvmlReader

    @classmethod
    def open(cls) -> CudaContext:
        """Make device 0 of this process current; which one that is, CUDA_VISIBLE_DEVICES says.

        Raises DeviceError with the reason where there is none.
        """
        reason = why_no_device()
        if reason is not None:
            raise DeviceError(f"no CUDA device: {reason}")
        from cuda.core import Device

        device = Device(0)
        device.set_current()
        ours = frozenset({os.getpid(), os.getppid()})
        reader = NvmlReader(str(device.uuid), own_pids=ours)
        return cls(device, device.create_stream(), reader)

    @property
    def stream_handle(self) -> int:
        return int(self.stream.handle)

    def synchronize(self) -> None:
        """Wait for the stream; DeviceError names the error of any launch since the last wait."""
        try:
            _clock.synchronize(self.stream_handle)
        except RuntimeError as error:
            raise DeviceError(str(error)) from error

    def identity(self) -> DeviceIdentity:
        """Return the stable facts of the device as CUDA tells them."""
        from cuda.bindings import driver

        memory = checked(driver.cuDeviceTotalMem(self.device.device_id), "cuDeviceTotalMem")
        capability = self.device.compute_capability
        return DeviceIdentity(
            name=self.device.name,
            sms=self.device.properties.multiprocessor_count,
            compute_capability=f"{capability[0]}.{capability[1]}",
            memory_mib=memory // MIB,
        )

    def uuid(self) -> str:
        """Return the UUID as CUDA writes it, without the GPU- or MIG- that NVML puts before it."""
        return str(self.device.uuid)

    def state(self) -> DeviceState:
        """Return all that NVML says of this device now; a field that it does not tell is None."""
        return self.reader.read()

    def sample(self) -> DeviceState:
        """Return what of that changes while cases are timed; made for between timed work."""
        return self.reader.sample()

    def record(self) -> DeviceRecord:
        """Return identity and state together."""
        from cuda.bindings import driver

        version = checked(driver.cuDriverGetVersion(), "cuDriverGetVersion")
        return DeviceRecord(
            identity=self.identity(),
            uuid=self.uuid(),
            cuda=f"{version // 1000}.{version % 1000 // 10}",
            state=self.state(),
        )

    def free_bytes(self) -> int:
        """Return the device memory that can still be allocated."""
        from cuda.bindings import driver

        result, free, _total = driver.cuMemGetInfo()
        checked((result,), "cuMemGetInfo")
        return int(free)
