"""The worker: a process of its own that owns the device and answers one request after the other.

It is the only process that initializes CUDA. From the connection whose file descriptor is its
argument it reads its settings and then requests, says before each step what it is about to do, and
ends when the other side closes. Errors it did not expect end it with a traceback, which the
supervisor reports.
"""

from __future__ import annotations

import ctypes
import faulthandler
import os
import signal
import sys
from dataclasses import dataclass
from functools import cached_property
from importlib import metadata
from multiprocessing.connection import Connection

from pytest_rmsperf import messages
from pytest_rmsperf.checking import Checker
from pytest_rmsperf.checks import EmulatedMachine, Machine
from pytest_rmsperf.chores import do_chore, outstanding
from pytest_rmsperf.device.context import CudaContext, why_no_device
from pytest_rmsperf.device.memory import OutOfMemory
from pytest_rmsperf.device.profiles import profile_for_arch
from pytest_rmsperf.device.session import Session
from pytest_rmsperf.device.toolchain import find_toolchain
from pytest_rmsperf.emulated.device import EmulatedDevice, why_no_emulation
from pytest_rmsperf.environment import DeviceChoice
from pytest_rmsperf.errors import CompileError, DeviceError, GateFailure, RmsperfError
from pytest_rmsperf.numerics import prepare

PR_SET_PDEATHSIG = 1  # prctl(2)
# Why a CUDA device is not even looked for, by what the run may use.
NOT_LOOKED_FOR = {
    DeviceChoice.EMULATED: "none is used with --rmsperf-device=emulated",
    DeviceChoice.NONE: "none is used with --rmsperf-static",
}
MAY_BE_EMULATED = (DeviceChoice.AUTO, DeviceChoice.EMULATED)
PACKAGES = ("cuda-core", "cuda-bindings", "cupy-cuda13x", "cupy-cuda12x", "torch", "numpy")


@dataclass(slots=True, eq=False)
class Place:
    """Where the worker is: the last step it announced."""

    connection: Connection
    case_id: str = ""
    step: str = "start"

    def notify(self, case_id: str, step: str) -> None:
        self.case_id, self.step = case_id, step
        self.connection.send(messages.Progress(case_id, step))


class Worker:
    """Answers requests; the device is opened by the first one that needs it."""

    def __init__(self, connection: Connection, settings: messages.WorkerSettings) -> None:
        self._connection = connection
        self._place = Place(connection)
        self._settings = settings

    def serve(self) -> None:
        """Answer until the other side closes the connection or a launch spoils the context."""
        while True:
            try:
                request = self._connection.recv()
            except EOFError:
                return
            reply = self._reply(request)
            self._connection.send(reply)
            if isinstance(reply, messages.Refusal) and reply.fatal:
                return

    def _reply(self, request: messages.Request) -> messages.Reply:
        self._place = Place(self._connection)
        try:
            return messages.Answer(self._answer(request))
        except (RmsperfError, GateFailure) as error:
            return messages.Refusal(
                self._place.case_id,
                self._place.step,
                str(error),
                fatal=isinstance(error, DeviceError) and not isinstance(error, OutOfMemory),
                is_verdict=isinstance(error, GateFailure),
            )

    def _answer(self, request: messages.Request) -> object:  # noqa: PLR0911 (one for each)
        match request:
            case messages.Describe():
                return self._describe()
            case messages.ReadState():
                return self._context.state() if self._context else None
            case messages.Check(case=case, numerics=numerics):
                return self._checker.check(case.resolve(), self._place.notify, numerics=numerics)
            case messages.Measure(cases=cases, protocol=protocol):
                session = Session(self._checker, protocol, self._place.notify)
                return session.measure([case.resolve() for case in cases])
            case messages.Launch():
                return self._launch(request)
            case messages.Outstanding(cases=cases):
                return outstanding([case.resolve() for case in cases], self._checker)
            case messages.Compile() | messages.Disassemble():
                do_chore(request)
                return None

    @cached_property
    def _no_device(self) -> str | None:
        return NOT_LOOKED_FOR.get(self._settings.device) or why_no_device()

    @cached_property
    def _context(self) -> CudaContext | None:
        """The device; DeviceError when this run has had one and it is gone."""
        if self._no_device is None:
            return CudaContext.open()
        if self._settings.needs_device:
            raise DeviceError(
                f"the device is gone: {self._no_device}, and this run began on one; "
                "look at the machine (nvidia-smi, the kernel log), then run again"
            )
        return None

    @property
    def _may_emulate(self) -> bool:
        return self._context is None and self._settings.device in MAY_BE_EMULATED

    @cached_property
    def _no_emulation(self) -> str | None:
        """Why kernels are not emulated; None also where a device or the settings make it moot."""
        return why_no_emulation() if self._may_emulate else None

    @cached_property
    def _emulated(self) -> EmulatedDevice | None:
        """The emulated device, where it has to stand for a CUDA device and can."""
        if not self._may_emulate or self._no_emulation:
            return None
        return EmulatedDevice.open(profile_for_arch(self._settings.arch), self._settings.schedules)

    @cached_property
    def _checker(self) -> Checker:
        arch = self._context.identity().arch if self._context else self._settings.arch
        return Checker(self._context or self._emulated, arch, self._settings.devices)

    def _describe(self) -> Machine:
        warnings: tuple[str, ...] = ()
        try:
            compiler, warnings = find_toolchain().identity, find_toolchain().warnings
        except CompileError as error:
            compiler = (("missing", str(error).splitlines()[0]),)
        return Machine(
            warnings=warnings,
            device=self._context.record() if self._context else None,
            why_no_device=self._no_device,
            compiler=compiler,
            packages=tuple((name, version) for name in PACKAGES if (version := _version(name))),
            emulated=self._emulated_machine(),
            why_no_emulation=self._no_emulation,
        )

    def _emulated_machine(self) -> EmulatedMachine | None:
        device = self._emulated
        if device is None:
            return None
        return EmulatedMachine(device.identity, device.compiler, self._settings.schedules)

    def _launch(self, request: messages.Launch) -> dict[str, object]:
        case = request.case.resolve()
        self._place.notify(case.id, "compile")
        module = self._checker.loaded_for(case, self._place.notify)
        self._place.notify(case.id, "launch")
        prepared = prepare(case, request.problem, module, request.inputs)
        prepared.run()
        damaged = prepared.memory.damaged()
        if damaged:
            raise GateFailure(f"{case.id} wrote just outside of {', '.join(damaged)}")
        return dict(prepared.memory.outputs())


def _version(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def main(arguments: list[str]) -> None:
    """Serve on the inherited descriptor; die with the parent, whatever the device is doing."""
    faulthandler.enable()
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    with Connection(int(arguments[0])) as connection:
        settings = connection.recv()
        Worker(connection, settings).serve()
    if settings.device is DeviceChoice.NONE:
        os._exit(0)  # there is no device to give back, and to take Python down costs 0.1 s


if __name__ == "__main__":
    main(sys.argv[1:])
