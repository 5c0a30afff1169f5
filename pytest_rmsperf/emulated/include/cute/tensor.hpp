// CUTLASS.
#error "<cute/tensor.hpp> is not emulated: put it under #ifndef RMSPERF_EMULATED"
