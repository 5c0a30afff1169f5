// Numbers of 8 bits.
#error "<cuda_fp8.h> is not emulated: give the helper a twin under RMSPERF_EMULATED"
