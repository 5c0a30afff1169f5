// CUB.
#error "<cub/block/block_reduce.cuh> is not emulated: give the helper a twin"
