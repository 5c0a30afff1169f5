// CUB.
#error "<cub/block/block_exchange.cuh> is not emulated: give the helper a twin"
