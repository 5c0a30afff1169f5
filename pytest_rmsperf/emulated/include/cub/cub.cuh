// CUB.
#error "<cub/cub.cuh> is not emulated: give the helper a twin under RMSPERF_EMULATED"
