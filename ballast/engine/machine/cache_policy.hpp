#pragma once
// What "empty the cache" does: give blocks that the device's allocator keeps back to the driver, or
// keep them because they will be needed again.
//
// On a shared pool a released block must be faulted and zeroed again at its next use, so it is
// kept; but under pressure the kept blocks are memory that the system cannot use.

#include <optional>
#include <string_view>
#include <vector>

#include "ballast/engine/machine/placement.hpp"

namespace ballast::machine {

enum class CacheAction { release, synchronise, nothing };

/// "release", "synchronise", "nothing".
std::string_view to_string(CacheAction action);

/// Why somebody asks.
enum class EmptyingCall {
    soft,          ///< between prompts, or after a free that freed little
    forced,        ///< the user's request, the free flow, eviction of a model
    buffer_reset,  ///< a cast buffer grew or was dropped; it will be filled again at once
};

struct EmptyingQuestion {
    MemoryClass memory_class = MemoryClass::none;
    EmptyingCall call = EmptyingCall::soft;
    std::optional<Bytes> available{};  ///< what the system has left; unknown: no pressure is seen
    Bytes reserve{};                   ///< of the device, as budgets say
    Bytes cached{};                    ///< kept by our allocator without use
};

/// | class | soft | forced | buffer reset |
/// |---|---|---|---|
/// | NONE | nothing | nothing | nothing |
/// | SHARED (Metal) | release | release | release |
/// | UNIFIED | synchronise; release when less than twice the reserve is available and 256 MiB or
/// more are cached | release | nothing | | others | release | release | release |
CacheAction cache_action(const EmptyingQuestion& question);

/// Whether a free that is over empties the cache: always after a model left entirely; else, unless
/// models stay on the device (HIGH), when more than a quarter of the free memory is kept blocks.
bool empties_after_free(bool left_entirely, VramState state, Bytes kept, Bytes free);

/// Whether a release was one for the system, too: on a shared pool what is available must rise by
/// at least 80 percent of what the allocator let go. Unknown readings prove nothing and are no
/// fault. (Only to be logged: what we hold is known from our own account.)
bool reached_the_system(Bytes released, std::optional<Bytes> before, std::optional<Bytes> after);

/// What `release` means on a kind of device, in order.
enum class EmptyingStep { synchronise, release_blocks, collect_shared_handles };
std::vector<EmptyingStep> emptying_steps(DeviceKind kind);

}  // namespace ballast::machine
