"""The runtime's C interface: its records, and its functions with their types."""

from __future__ import annotations

import ctypes
from functools import cache

from pytest_rmsperf.emulated.build import build_runtime
from pytest_rmsperf.emulated.toolchain import find_host_compiler

MOST_WAITING = 12


class Parameter(ctypes.Structure):
    """`rmsperf::Parameter`: a kernel's parameter as its signature has it."""

    _fields_ = [("kind", ctypes.c_char), ("nbytes", ctypes.c_size_t)]


class Kernel(ctypes.Structure):
    """`rmsperf::Kernel`: how to call one kernel."""

    _fields_ = [
        ("name", ctypes.c_char_p),
        ("call", ctypes.c_void_p),
        ("parameters", ctypes.POINTER(Parameter)),
        ("parameter_count", ctypes.c_int),
    ]


class Request(ctypes.Structure):
    """`rmsperf::Request`: one launch."""

    _fields_ = [
        ("kernel", ctypes.POINTER(Kernel)),
        ("arguments", ctypes.POINTER(ctypes.c_void_p)),
        ("blocks", ctypes.c_uint32),
        ("threads_per_block", ctypes.c_uint32),
        ("blocks_per_cluster", ctypes.c_uint32),
        ("dynamic_smem_bytes", ctypes.c_uint32),
        ("blocks_per_sm", ctypes.c_uint32),
        ("sms", ctypes.c_uint32),
        ("cooperative", ctypes.c_int32),
        ("read_check", ctypes.c_int32),
        ("seed", ctypes.c_uint64),
        ("selection", ctypes.POINTER(ctypes.c_uint32)),
        ("selected", ctypes.c_uint32),
    ]


class Waiting(ctypes.Structure):
    """`rmsperf::Waiting`: threads that wait at one place."""

    _fields_ = [
        ("code", ctypes.c_void_p),
        ("what", ctypes.c_char_p),
        ("threads", ctypes.c_uint64),
        ("blocks", ctypes.c_uint32),
        ("block", ctypes.c_uint32),
        ("thread", ctypes.c_uint32),
        ("detail", ctypes.c_char * 160),
    ]


class Report(ctypes.Structure):
    """`rmsperf::Report`: how a launch ended."""

    _fields_ = [
        ("faulted", ctypes.c_int32),
        ("interrupted", ctypes.c_int32),
        ("kind", ctypes.c_char_p),
        ("text", ctypes.c_char * 768),
        ("block", ctypes.c_uint32),
        ("thread", ctypes.c_uint32),
        ("code", ctypes.c_void_p),
        ("blocks_finished", ctypes.c_uint32),
        ("blocks_started", ctypes.c_uint32),
        ("waiting_places", ctypes.c_uint32),
        ("waiting", Waiting * MOST_WAITING),
    ]


ProgressFunction = ctypes.CFUNCTYPE(None, ctypes.c_uint32, ctypes.c_uint32, ctypes.POINTER(Report))

SIGNATURES: dict[str, tuple[object, tuple[object, ...]]] = {
    "rmsperf_add_module": (None, (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)),
    "rmsperf_add_shared_variable": (
        None,
        (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_char_p),
    ),
    "rmsperf_module_base": (ctypes.c_void_p, (ctypes.c_void_p,)),
    "rmsperf_map_memory": (ctypes.c_void_p, (ctypes.c_size_t,)),
    "rmsperf_unmap_memory": (None, (ctypes.c_void_p, ctypes.c_size_t)),
    "rmsperf_add_buffer": (
        None,
        (
            ctypes.c_void_p,
            ctypes.c_size_t,
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.c_char_p,
            ctypes.c_uint32,
        ),
    ),
    "rmsperf_remove_buffer": (None, (ctypes.c_void_p,)),
    "rmsperf_tell_progress": (None, (ProgressFunction,)),
    "rmsperf_launch": (
        None,
        (ctypes.c_void_p, ctypes.POINTER(Request), ctypes.POINTER(Report)),
    ),
}


@cache
def load_runtime() -> ctypes.CDLL:
    """Compile (once per machine) and load the runtime; the kernels find its functions globally."""
    library = ctypes.CDLL(str(build_runtime(find_host_compiler())), mode=ctypes.RTLD_GLOBAL)
    for name, (result, arguments) in SIGNATURES.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library
