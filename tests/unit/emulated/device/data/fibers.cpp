// Switches among many stacks, and says what did not survive it. Prints nothing when all did.
#include <cstdint>
#include <cstdio>
#include <set>
#include <vector>

#include "fiber.h"

namespace {

constexpr int FIBERS = 3000, ROUNDS = 20;

struct Task {
    rmsperf::Context context;
    char* stack = nullptr;
    bool ended = false;
    std::uint64_t integers = 0;
    double reals = 0;
};

rmsperf::Context home;
std::vector<Task> tasks(FIBERS);
int current = 0;

void complain(const char* what) { std::printf("fiber %d: %s\n", current, what); }

// More values than a call may clobber: some stay in registers that a switch must save.
template <bool SWITCHING>
void work(Task& task, std::uint64_t number) {
    std::uint64_t a = number, b = a * 3, c = b ^ 5, d = c + 7, e = d * 11, f = e ^ 13, g = f + 17;
    double p = static_cast<double>(number), q = p / 3, r = q + 0.1, s = r * 7, t = s - q;
    for (int round = 0; round < ROUNDS; ++round) {
        a += b, b ^= c, c += d, d ^= e, e += f, f ^= g, g += a;
        p = p * 0.5 + q, q = q * 0.5 + r, r = r * 0.5 + s, s = s * 0.5 + t, t = t * 0.5 + p;
        if (SWITCHING) rmsperf::switch_context(task.context, home);
    }
    task.integers = a ^ b ^ c ^ d ^ e ^ f ^ g;
    task.reals = p + q + r + s + t;
}

void begin() {
    Task& task = tasks[current];
    alignas(16) volatile char local[16];
    if (reinterpret_cast<std::uintptr_t>(&local) % 16 != 0) complain("its stack is not aligned");
    work<true>(task, static_cast<std::uint64_t>(current) + 1);
    task.ended = true;
    rmsperf::switch_context(task.context, home);
    complain("it came back after its end");
}

void check_switches(rmsperf::StackPool& stacks) {
    for (Task& task : tasks) {
        task.stack = stacks.take();
        rmsperf::prepare(task.context, task.stack, task.stack + rmsperf::STACK_BYTES, begin);
    }
    for (int round = 0; round <= ROUNDS; ++round) {
        for (current = 0; current < FIBERS; ++current) {
            rmsperf::switch_context(home, tasks[current].context);
        }
    }
    for (current = 0; current < FIBERS; ++current) {
        Task alone;
        work<false>(alone, static_cast<std::uint64_t>(current) + 1);
        const Task& task = tasks[current];
        if (!task.ended) complain("it did not end");
        if (task.integers != alone.integers) complain("its integers are others");
        if (task.reals != alone.reals) complain("its numbers are others");
    }
}

// More than the pool keeps for the next launch.
void check_pool(rmsperf::StackPool& stacks) {
    for (int launch = 0; launch < 3; ++launch) {
        std::set<char*> taken;
        for (int i = 0; i < 12 * 1024; ++i) taken.insert(stacks.take());
        if (taken.size() != 12 * 1024) complain("a stack was given twice");
        const char* before = nullptr;
        for (char* stack : taken) {
            if (before != nullptr && stack - before < static_cast<long>(rmsperf::STACK_BYTES)) {
                complain("two stacks overlap");
            }
            before = stack;
            stack[0] = stack[rmsperf::STACK_BYTES - 1] = 1;
            stacks.give_back(stack);
        }
        stacks.clear();
    }
}

}  // namespace

int main() {
    rmsperf::StackPool stacks;
    check_switches(stacks);
    for (Task& task : tasks) stacks.give_back(task.stack);
    stacks.clear();
    check_pool(stacks);
    return 0;
}
