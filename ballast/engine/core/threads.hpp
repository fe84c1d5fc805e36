#pragma once
// Whether the system lets a program have the threads that it is about to start.

#include <pthread.h>

#include <functional>

#include "ballast/engine/core/result.hpp"

namespace ballast {

/// As pthread_create without attributes: 0 or an errno.
using StartThread = std::function<int(pthread_t*, void* (*)(void*), void*)>;

/// Starts `count` threads at once and lets them end again: libraries that start theirs later end
/// the whole process when they cannot. Fails with `out_of_memory`, saying how many there could be.
Result<void> require_threads(int count, const StartThread& start = {});

}  // namespace ballast
