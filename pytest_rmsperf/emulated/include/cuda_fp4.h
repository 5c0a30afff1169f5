// Numbers of 4 bits.
#error "<cuda_fp4.h> is not emulated: give the helper a twin under RMSPERF_EMULATED"
