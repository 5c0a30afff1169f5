// The runtime as the launcher sees it, and as a kernel asks who it is.
#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <map>
#include <new>

#include "races.h"
#include "scheduler.h"

namespace rmsperf {

namespace {

constexpr long long CYCLES_PER_LOOK = 1000, CYCLES_PER_NANOSECOND = 2;
constexpr uint64_t LOOKS_BEFORE_GIVING_WAY = 64;

std::map<const void*, Module> modules;  // by the address of their kernels' table

// Finds the loaded object that holds `inside`, and the calling thread's copy of its thread-local
// block.
struct Search {
    const void* inside;
    Module* module;
};

int look_at_object(dl_phdr_info* info, std::size_t, void* data) {
    auto& search = *static_cast<Search*>(data);
    std::vector<Range> image, read_only;
    bool found = false;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr) & part = info->dlpi_phdr[i];
        const auto* begin = reinterpret_cast<const char*>(info->dlpi_addr + part.p_vaddr);
        const Range range = {begin, begin + part.p_memsz};
        const bool load = part.p_type == PT_LOAD;
        if (load) image.push_back(range);
        if (part.p_type == PT_GNU_RELRO || (load && !(part.p_flags & PF_W))) {
            read_only.push_back(range);
        }
        found = found || (load && range.holds(search.inside));
    }
    if (!found) return 0;
    search.module->image = std::move(image);
    search.module->read_only = std::move(read_only);
    search.module->window = static_cast<char*>(info->dlpi_tls_data);
    return 1;
}

void report_out_of_memory() {
    state.launch.faulted = true;
    state.launch.report->faulted = 1;
    state.launch.report->kind = "out of memory";
}

// Nothing may be thrown through a kernel: a thread that runs is left where it is.
void run_out_of_memory() {
    Fiber* current = state.launch.current;
    if (current == nullptr) throw std::bad_alloc();
    report_out_of_memory();
    switch_context(current->context, state.launch.scheduler);
}

void clear_after(Launch& launch) {
    launch.clusters.clear();
    launch.blocks.clear();
    state.memory.release_slots();
    state.stacks.clear();
    forget_expected_change();
}

}  // namespace

extern "C" {

// ---- for the launcher ------------------------------------------------------------------------

// Makes a loaded module known: `kernels` is its table, `dynamic` its dynamic shared memory.
void rmsperf_add_module(const void* kernels, char* dynamic, std::size_t capacity_bytes) {
    Module& module = modules[kernels];
    Search search = {kernels, &module};
    dl_iterate_phdr(look_at_object, &search);
    module.static_bytes = static_cast<std::size_t>(dynamic - module.window);
    module.capacity_bytes = capacity_bytes;
}

// Without a name it is the compiler's own, as the guard of an array whose elements have
// constructors; what is done to it is not judged.
void rmsperf_add_shared_variable(const void* kernels, std::size_t offset, std::size_t bytes,
                                 const char* name) {
    modules[kernels].variables.push_back({offset, bytes, name == nullptr ? "" : name});
}

// Where the object was loaded: addresses in its debug information count from here.
const void* rmsperf_module_base(const void* kernels) {
    Dl_info info{};
    dladdr(kernels, &info);
    return info.dli_fbase;
}

void* rmsperf_map_memory(std::size_t bytes) {
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? nullptr : memory;
}

void rmsperf_unmap_memory(void* memory, std::size_t bytes) { munmap(memory, bytes); }

// `written` has one byte for each byte of the buffer; `cells` one for every four, or is null where
// no race is looked for.
void rmsperf_add_buffer(char* begin, std::size_t bytes, uint8_t* written, Cell* cells,
                        const char* name, uint32_t element_bytes) {
    state.memory.add({begin, begin + bytes, written, cells, name, element_bytes});
}

void rmsperf_remove_buffer(const void* begin) { state.memory.remove(begin); }

// `progress` is called twice a second, and must set `interrupted` to 0 for the launch to go on.
void rmsperf_tell_progress(void (*progress)(uint32_t, uint32_t, Report*)) {
    state.progress = progress;
}

void rmsperf_launch(const void* kernels, const Request* request, Report* report) {
    std::memset(report, 0, sizeof *report);
    state.launch = Launch{};
    Launch& launch = state.launch;
    launch.request = *request;
    launch.report = report;
    forget_order();
    launch.total = request->selection == nullptr ? request->blocks : request->selected;
    state.memory.module = &modules[kernels];
    const auto resident = std::min<uint64_t>(launch.capacity(), launch.total);
    const auto before = std::set_new_handler(run_out_of_memory);
    try {
        state.memory.reserve_slots(resident,
                                   state.memory.module->static_bytes + request->dynamic_smem_bytes);
        run_launch();
    } catch (const std::bad_alloc&) {
        report_out_of_memory();
    }
    std::set_new_handler(before);
    report->blocks_finished = launch.finished;
    report->blocks_started = launch.started;
    clear_after(launch);
}

// ---- for a kernel ----------------------------------------------------------------------------

Index3 rmsperf_thread_index() { return {state.launch.current->rank, 0, 0}; }
Index3 rmsperf_block_index() { return {state.launch.current->block->index, 0, 0}; }
Index3 rmsperf_block_dim() { return {state.launch.request.threads_per_block, 1, 1}; }
Index3 rmsperf_grid_dim() { return {state.launch.request.blocks, 1, 1}; }
unsigned rmsperf_cluster_blocks() { return state.launch.request.blocks_per_cluster; }
unsigned rmsperf_cluster_rank() { return state.launch.current->block->cluster_rank; }
unsigned rmsperf_thread_rank() { return state.launch.current->rank; }
int rmsperf_is_cooperative() { return state.launch.request.cooperative; }
unsigned rmsperf_dynamic_shared_bytes() { return state.launch.request.dynamic_smem_bytes; }

void rmsperf_check_read(const void* address, std::size_t bytes) {
    check_access(address, bytes, Access::read, __builtin_return_address(0), true);
}

void rmsperf_check_write(void* address, std::size_t bytes) {
    settle_expected_change();
    check_access(address, bytes, Access::write, __builtin_return_address(0));
    expect_change(address, bytes);
}

long long rmsperf_clock() {
    Launch& launch = state.launch;
    if (++launch.clock_looks % LOOKS_BEFORE_GIVING_WAY == 0) launch.give_way = true;
    yield();
    return launch.clock += CYCLES_PER_LOOK;
}

void rmsperf_sleep(unsigned nanoseconds) {
    state.launch.clock += CYCLES_PER_NANOSECOND * nanoseconds;
    state.launch.give_way = true;
    yield();
}

void rmsperf_fault(const char* text, Place) {
    fault("invalid operation", __builtin_return_address(0), "%s", text);
}

}  // extern "C"

}  // namespace rmsperf
