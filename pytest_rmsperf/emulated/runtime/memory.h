// Which addresses exist, who may touch them, and which bytes have been written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "model.h"

namespace rmsperf {

// The state of a byte of a registered buffer or of shared memory.
enum : uint8_t { UNWRITTEN = 0, WRITTEN_BEFORE = 1, WRITTEN_BY_KERNEL = 2 };

struct Buffer {
    char* begin;
    char* end;
    uint8_t* written;  // one byte for each byte
    Cell* cells;       // one for every four bytes, or null
    std::string name;
    uint32_t element_bytes;
};

struct SharedVariable {
    std::size_t offset;
    std::size_t bytes;
    std::string name;  // empty for what the compiler put there for itself
};

struct Range {
    const char* begin;
    const char* end;
    bool holds(const void* address) const {
        return address >= static_cast<const void*>(begin) &&
               address < static_cast<const void*>(end);
    }
};

// A loaded module: its code and data, and the window through which its kernels see shared memory.
struct Module {
    std::vector<Range> image;
    std::vector<Range> read_only;    // parts of it
    char* window = nullptr;          // the thread-local block of the module
    std::size_t static_bytes = 0;    // of it, before the dynamic shared memory
    std::size_t capacity_bytes = 0;  // of the dynamic shared memory
    std::vector<SharedVariable> variables;
};

class Memory {
public:
    std::vector<Buffer> buffers;  // by address
    Module* module = nullptr;

    void add(Buffer buffer);
    void remove(const void* begin);
    const Buffer* find(const void* address);

    // Makes room for the shared memory of `slots` blocks, `bytes` each.
    void reserve_slots(std::size_t slots, std::size_t bytes);
    char* take_slot();
    void give_back_slot(char* slot);
    // The number of the slot that holds the address, or -1.
    long slot_of(const void* address) const;
    // Of all buffers.
    void forget_accesses();
    std::size_t slot_bytes() const { return slot_bytes_; }
    char* slot(long number) const {
        return arena_ + static_cast<std::size_t>(number) * slot_bytes_;
    }
    void release_slots();

private:
    std::size_t last_ = 0;
    char* arena_ = nullptr;
    std::size_t arena_bytes_ = 0;
    std::size_t slot_bytes_ = 0;
    std::size_t next_slot_ = 0;
    std::vector<char*> free_slots_;
};

// Volatile and atomic accesses order others and race with none.
enum class Access { read, write, volatile_read, volatile_write, atomic_read, atomic_write, update };

// Ends the launch with a fault unless the running thread may make this access; notes what is
// written. `whole` is for copies of structs: padding in them is never written.
void check_access(const void* address, std::size_t bytes, Access access, const void* code,
                  bool whole = false);

}  // namespace rmsperf
