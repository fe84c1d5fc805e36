#include "ballast/graph/runtime.hpp"

#include <algorithm>
#include <thread>

namespace ballast::graph {

unsigned arithmetic_threads(const RuntimeOptions& options) {
    if (options.threads > 0) return static_cast<unsigned>(options.threads);
    return std::max(1U, std::thread::hardware_concurrency());
}

}  // namespace ballast::graph
