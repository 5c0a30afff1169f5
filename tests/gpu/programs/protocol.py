"""Time the row megakernel by two ways of the protocol, and print both as JSON.

The argument says which: `queued` (a graph, and a queue behind a blocking kernel), `fallback` (a
session in which nothing can be captured), `held` (a block that nobody lets go), `cold` (a warm and
a cold cache) or `cooldown` (without and with idle time before each block).
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import replace
from statistics import median
from unittest.mock import patch

from pytest_rmsperf.cases import Case, Submission
from pytest_rmsperf.checking import Checker
from pytest_rmsperf.checks import TimedSession
from pytest_rmsperf.device.blocker import Blocker
from pytest_rmsperf.device.clock import DeviceClock, QueuedLaunches, UnrolledLaunches
from pytest_rmsperf.device.context import CudaContext
from pytest_rmsperf.device.launcher import NotCaptured
from pytest_rmsperf.device.rotation import Rotation
from pytest_rmsperf.device.session import Session
from pytest_rmsperf.kernels.rms_scaled_softmax import OPERATOR
from pytest_rmsperf.probes import BLOCK, probe_of
from pytest_rmsperf.problem import Problem
from pytest_rmsperf.protocol import Cache, Protocol

PROBLEM = Problem.of(rows=16, columns=131_072)  # x and y are 8 MiB each
CASE = Case(OPERATOR, OPERATOR.variant("megakernel_row"), Submission.DIRECT, PROBLEM)
TURNS = 20
PROTOCOL = Protocol(blocks=7, precision_ppm=0)


def opened() -> Checker:
    context = CudaContext.open()
    return Checker(context, context.identity().arch)


def measured(checker: Checker, protocol: Protocol, *cases: Case) -> TimedSession:
    return Session(checker, protocol, lambda *_: None).measure(cases)


def described(session: TimedSession, case: Case) -> dict[str, object]:
    samples = session.samples[case.id]
    return {
        "device_ns": median(samples.device_ns),
        "completion_ns": median(samples.completion_ns),
        "launches": samples.launches_per_graph,
        "timing": samples.timing.value,
        "blocks": len(session.turns),
        "readings": len(session.during),
        "stop_reason": session.stop_reason.value,
    }


def queued() -> object:
    """Both clocks of one case, taking turns."""
    checker = opened()
    module = checker.on_cuda(CASE.variant)
    plan = CASE.variant.plan(PROBLEM, module)
    invocation = module.prepare(plan, CASE.submission, (*OPERATOR.tensors(PROBLEM), *plan.buffers))
    invocation.memory.upload(dict(OPERATOR.input_sets[0].make(PROBLEM)))
    invocation.run()
    clocks: dict[str, DeviceClock] = {
        "graph": UnrolledLaunches.lasting(invocation, 1000),
        "queued": QueuedLaunches.lasting(invocation, 1000, Blocker(checker.on_cuda(BLOCK))),
    }
    found: dict[str, list[int]] = {name: [] for name in clocks}
    for _ in range(TURNS):
        for name, clock in clocks.items():
            found[name].append(clock.time_ns())
    return {
        name: {"device_ns": median(found[name]), "launches": clock.launches}
        for name, clock in clocks.items()
    }


def fallback() -> object:
    """A session on a device that, as far as it knows, captures nothing."""
    refusal = NotCaptured("cannot be captured into a graph: a test says so")
    with patch.object(Rotation, "capture", side_effect=refusal):
        return described(measured(opened(), PROTOCOL, CASE), CASE)


def held() -> object:
    """Wait for the device while the host itself holds it: only the kernel's own limit ends that."""
    checker = opened()
    blocker = Blocker(checker.on_cuda(BLOCK))
    context = checker.on_cuda(BLOCK).context
    began_s = time.monotonic()
    with blocker.holding():
        context.synchronize()
    gave_up, seconds = blocker.gave_up, time.monotonic() - began_s
    with blocker.holding():
        pass
    context.synchronize()
    return {"gave_up": gave_up, "seconds": seconds, "gave_up_when_let_go": blocker.gave_up}


def cold() -> object:
    """The case and its copy probe, by either submission, with a warm and with a cold cache."""
    checker = opened()
    graph = replace(CASE, submission=Submission.GRAPH)
    cases = {"direct": CASE, "graph": graph, "copy": probe_of(CASE, "copy")}
    null = probe_of(CASE, "null")
    sessions = {
        cache: measured(checker, replace(PROTOCOL, cache=cache), null, *cases.values())
        for cache in Cache
    }
    return {
        name: {cache.value: described(session, case) for cache, session in sessions.items()}
        for name, case in cases.items()
    }


def cooldown() -> object:
    """The case without and with 300 ms of idleness before each block, there and back."""
    checker = opened()
    found: dict[int, list[TimedSession]] = {0: [], 300: []}
    for idle_ms in (0, 300, 300, 0):  # so that a device that drifts does so for both
        found[idle_ms].append(measured(checker, replace(PROTOCOL, cooldown_ms=idle_ms), CASE))
    return {
        f"{idle_ms} ms": {
            "device_ns": median(ns for one in sessions for ns in one.samples[CASE.id].device_ns),
            "readings": [len(one.during) for one in sessions],
        }
        for idle_ms, sessions in found.items()
    }


WAYS = {one.__name__: one for one in (queued, fallback, held, cold, cooldown)}

if __name__ == "__main__":
    print(json.dumps(WAYS[sys.argv[1]]()))
