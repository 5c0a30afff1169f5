// CUTLASS.
#error "<cutlass/cutlass.h> is not emulated: put it under #ifndef RMSPERF_EMULATED"
