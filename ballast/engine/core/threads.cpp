#include "ballast/engine/core/threads.hpp"

#include <fmt/format.h>

#include <mutex>
#include <vector>

#include "ballast/engine/core/system_error.hpp"

namespace ballast {
namespace {

/// Lives until the mutex is free.
void* wait_for(void* mutex) {
    const std::scoped_lock lock(*static_cast<std::mutex*>(mutex));
    return nullptr;
}

int start_one(pthread_t* thread, void* (*work)(void*), void* argument) {
    return ::pthread_create(thread, nullptr, work, argument);
}

}  // namespace

Result<void> require_threads(int count, const StartThread& start) {
    std::mutex held;
    std::vector<pthread_t> threads;
    threads.reserve(static_cast<std::size_t>(count));
    int fault = 0;
    {
        const std::scoped_lock lock(held);
        for (int i = 0; i < count && fault == 0; ++i) {
            pthread_t thread{};
            fault = start ? start(&thread, &wait_for, &held) : start_one(&thread, &wait_for, &held);
            if (fault == 0) threads.push_back(thread);
        }
    }
    for (const auto thread : threads) ::pthread_join(thread, nullptr);
    if (fault == 0) return {};
    return fail(Error{.code = Code::out_of_memory,
                      .what = fmt::format("cannot start {} threads", count),
                      .why = fmt::format("{} after {}", system_reason(fault), threads.size()),
                      .hint = "use fewer with --threads, or raise the limit on processes "
                              "(ulimit -u, or that of the container)"});
}

}  // namespace ballast
