#pragma once
// What helps, hurts or does nothing on a machine, in words: findings about its memory and about
// the environment variables and container settings that people copy from one another.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ballast/engine/machine/assessment.hpp"

namespace ballast::machine {

enum class Verdict {
    good,     ///< as it should be, or it helps
    nothing,  ///< does nothing here
    note,     ///< worth knowing
    hurts,    ///< costs speed or memory
    broken,   ///< models cannot be loaded like this
};

/// "good", "nothing", "note", "hurts", "broken".
std::string_view to_string(Verdict verdict);

struct Finding {
    Verdict verdict = Verdict::note;
    std::string topic{};   ///< a device, a variable, "container", ...
    std::string text{};    ///< one or two sentences
    std::string remedy{};  ///< what to change; empty where nothing must
};

/// Facts beside the profile; unknown ones are empty.
struct Surroundings {
    /// An environment variable's value, if it is set.
    std::function<std::optional<std::string>(const std::string&)> variable{};
    std::optional<Bytes> shared_memory{};  ///< size of /dev/shm
    std::optional<int> swappiness{};       ///< vm.swappiness
    std::optional<int> threads{};          ///< hardware threads that the process may use
};

/// Findings about devices, host and container.
std::vector<Finding> memory_findings(const MachineProfile& profile, const Assessment& assessment,
                                     const Surroundings& surroundings);

/// Findings about the environment variables that are set and known.
std::vector<Finding> environment_findings(const Assessment& assessment,
                                          const Surroundings& surroundings);

}  // namespace ballast::machine
