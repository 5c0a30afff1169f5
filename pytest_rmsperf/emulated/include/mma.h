// Tensor core operations.
#error "<mma.h>, wmma, is not emulated: give the helper a twin under RMSPERF_EMULATED"
