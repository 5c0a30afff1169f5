// `assert` as a fault of the emulated device; may be read again, as the standard's header may.
#undef assert
#ifdef NDEBUG
#define assert(...) static_cast<void>(0)
#else
#define assert(...) \
    RMSPERF_STOP_UNLESS(static_cast<bool>(__VA_ARGS__), "fails assert(" #__VA_ARGS__ ")")
#endif
