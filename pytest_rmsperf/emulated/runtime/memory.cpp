// The registered buffers, and the slots that hold the shared memory of blocks not running.
#include "memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>

namespace rmsperf {

namespace {
constexpr std::size_t SLOT_ALIGNMENT = 1024;  // no variable of a kernel asks for more
}

void Memory::add(Buffer buffer) {
    const auto place = std::upper_bound(
        buffers.begin(), buffers.end(), buffer,
        [](const Buffer& one, const Buffer& other) { return one.begin < other.begin; });
    buffers.insert(place, std::move(buffer));
    last_ = 0;
}

void Memory::remove(const void* begin) {
    buffers.erase(std::remove_if(buffers.begin(), buffers.end(),
                                 [=](const Buffer& one) { return one.begin == begin; }),
                  buffers.end());
    last_ = 0;
}

const Buffer* Memory::find(const void* address) {
    if (buffers.empty()) return nullptr;
    const char* wanted = static_cast<const char*>(address);
    const Buffer& last = buffers[last_];
    if (wanted >= last.begin && wanted < last.end) return &last;
    const auto after =
        std::upper_bound(buffers.begin(), buffers.end(), wanted,
                         [](const char* one, const Buffer& other) { return one < other.begin; });
    if (after == buffers.begin()) return nullptr;
    const Buffer& found = *(after - 1);
    if (wanted >= found.end) return nullptr;
    last_ = static_cast<std::size_t>(&found - buffers.data());
    return &found;
}

void Memory::forget_accesses() {
    for (const Buffer& buffer : buffers) {
        const auto bytes = static_cast<std::size_t>(buffer.end - buffer.begin);
        if (buffer.cells != nullptr) std::fill_n(buffer.cells, bytes / BYTES_PER_CELL, Cell{});
    }
}

void Memory::reserve_slots(std::size_t slots, std::size_t bytes) {
    release_slots();
    slot_bytes_ = (bytes + SLOT_ALIGNMENT - 1) / SLOT_ALIGNMENT * SLOT_ALIGNMENT;
    arena_bytes_ = slots * slot_bytes_;
    if (arena_bytes_ == 0) return;
    void* arena = mmap(nullptr, arena_bytes_, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (arena == MAP_FAILED) throw std::bad_alloc();
    arena_ = static_cast<char*>(arena);
}

char* Memory::take_slot() {
    if (free_slots_.empty()) return slot(static_cast<long>(next_slot_++));
    char* slot = free_slots_.back();
    free_slots_.pop_back();
    return slot;
}

void Memory::give_back_slot(char* slot) { free_slots_.push_back(slot); }

long Memory::slot_of(const void* address) const {
    const char* wanted = static_cast<const char*>(address);
    if (arena_ == nullptr || wanted < arena_ || wanted >= arena_ + arena_bytes_) return -1;
    return static_cast<long>(static_cast<std::size_t>(wanted - arena_) / slot_bytes_);
}

void Memory::release_slots() {
    if (arena_ != nullptr) munmap(arena_, arena_bytes_);
    arena_ = nullptr;
    arena_bytes_ = 0;
    next_slot_ = 0;
    free_slots_.clear();
}

}  // namespace rmsperf
