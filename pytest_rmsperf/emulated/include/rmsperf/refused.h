// What the emulated device refuses by name; read last, for nothing below may be said after it.
#pragma once

// clang-format off
#define RMSPERF_NO_PTX                                                                        \
    _Pragma("GCC error \"inline PTX is not emulated: put it into a helper with a name of its \
own, and give the helper a twin in plain C++ under #ifdef RMSPERF_EMULATED\"")
// clang-format on
#define asm RMSPERF_NO_PTX asm
#define __asm RMSPERF_NO_PTX __asm
#define __asm__ RMSPERF_NO_PTX __asm__
