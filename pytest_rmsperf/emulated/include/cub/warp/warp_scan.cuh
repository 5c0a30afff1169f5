// CUB.
#error "<cub/warp/warp_scan.cuh> is not emulated: give the helper a twin"
