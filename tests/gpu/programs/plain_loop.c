/* The plain C loop that the host clock is held against: it is linked to the driver and calls
 * nothing but it. */
#include <stdint.h>
#include <time.h>

typedef void* Handle;
extern int cuGraphLaunch(Handle graph, Handle stream);
extern int cuStreamSynchronize(Handle stream);

static int64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int plain_loop(Handle graph, Handle stream, int count, int64_t* completion_ns) {
    for (int i = 0; i < count; ++i) {
        const int64_t before = now_ns();
        if (cuGraphLaunch(graph, stream) || cuStreamSynchronize(stream)) return 1;
        completion_ns[i] = now_ns() - before;
    }
    return 0;
}
