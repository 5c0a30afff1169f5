"""What pyproject.toml cannot say yet: the native host clock, and one wheel for all Pythons."""

from __future__ import annotations

import sysconfig

from setuptools import Extension, setup

# A free-threaded Python before 3.15 refuses the limited API; it gets a wheel of its own.
ABI3 = not sysconfig.get_config_var("Py_GIL_DISABLED")

CLOCK = Extension(
    "pytest_rmsperf.device._clock",
    sources=["pytest_rmsperf/device/_clock.c"],
    define_macros=[("Py_LIMITED_API", "0x030A0000")] if ABI3 else [],
    py_limited_api=ABI3,
    extra_compile_args=["-std=c11", "-O2", "-Wall", "-Wextra"],
    libraries=["dl"],  # the driver is opened at run time: no CUDA is needed to build
)

setup(
    ext_modules=[CLOCK],
    options={"bdist_wheel": {"py_limited_api": "cp310"}} if ABI3 else {},
)
