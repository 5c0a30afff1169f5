// CUB.
#error "<cub/block/block_scan.cuh> is not emulated: give the helper a twin"
