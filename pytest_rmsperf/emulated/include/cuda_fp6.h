// Numbers of 6 bits.
#error "<cuda_fp6.h> is not emulated: give the helper a twin under RMSPERF_EMULATED"
