// Random numbers.
#error "<curand_kernel.h> is not emulated: give the helper a twin under RMSPERF_EMULATED"
