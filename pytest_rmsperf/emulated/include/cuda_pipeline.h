// Asynchronous copies in stages.
#error "<cuda_pipeline.h> is not emulated: take cooperative_groups/memcpy_async.h"
