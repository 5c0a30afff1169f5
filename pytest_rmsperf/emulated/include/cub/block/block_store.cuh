// CUB.
#error "<cub/block/block_store.cuh> is not emulated: give the helper a twin"
