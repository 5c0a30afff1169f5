// CUB.
#error "<cub/block/block_radix_sort.cuh> is not emulated: give the helper a twin"
