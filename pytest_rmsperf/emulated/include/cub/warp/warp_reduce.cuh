// CUB.
#error "<cub/warp/warp_reduce.cuh> is not emulated: give the helper a twin"
