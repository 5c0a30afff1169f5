// CUB.
#error "<cub/block/block_load.cuh> is not emulated: give the helper a twin"
