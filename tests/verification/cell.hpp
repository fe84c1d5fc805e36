#pragma once
// One cell of the matrix: three models are loaded, used and freed, and everything that must hold
// before, meanwhile and after is checked.

#include <array>
#include <map>
#include <string>
#include <vector>

#include "tests/verification/axes.hpp"
#include "tests/verification/models.hpp"
#include "tests/verification/scaled_machine.hpp"

namespace ballast::verification {

/// Something that happened, and what the log said of memory.
struct Step {
    std::string title{};
    std::vector<std::string> lines{};
};

struct Coordinates {
    const MachineRow* machine = nullptr;
    const PlacementRow* placement = nullptr;
    const FlagsRow* flags = nullptr;
    const FreeRow* kind = nullptr;
};

/// What an emptying of caches did on one device.
struct Emptied {
    machine::CacheAction action = machine::CacheAction::nothing;
    bool is_asleep = false;
    Bytes released{};
    Bytes kept{};

    bool operator==(const Emptied&) const = default;
};

struct Cell {
    Coordinates at{};
    std::vector<Step> steps{};
    std::array<std::map<DeviceId, Bytes>, kModels> homes{};  ///< of each model's blocks
    std::array<Bytes, kModels> rings{};                      ///< on the compute device
    std::array<bool, kModels> has_gone{};
    bool are_results_dropped = false;
    std::map<DeviceId, Bytes> released{};   ///< by our account
    std::map<DeviceId, Emptied> caches{};   ///< of accelerators
    std::vector<std::string> free_lines{};  ///< of memory, from the request to the end
    std::vector<std::string> answer{};      ///< for people
    std::vector<std::string> broken{};      ///< what was not as it must be; empty: nothing
};

/// The cell's place in words.
std::string name_of(const Coordinates& at);

Cell run_cell(const Coordinates& at, const ScaledMachine& machine, const Models& models);

}  // namespace ballast::verification
