#pragma once
// The host's memory from the text of /proc/meminfo.

#include <string_view>

#include "ballast/engine/machine/profile.hpp"

namespace ballast::machine {

/// Reads the lines in any order; of two with one name the first counts, and lines that make no
/// sense are ignored. The kernel prints all amounts in kB (of 1024 bytes) and only HugePages_* as
/// plain numbers, so an amount that lost its unit on the way is taken as kB too.
///
/// Without MemAvailable (kernels before 3.14), `available` is MemFree plus the file pages on the
/// reclaim lists and reclaimable slab, or, without these lists, MemFree plus cache that is not
/// shared memory plus slab. Swap is never part of it. Container limits are not filled in.
HostProfile parse_meminfo(std::string_view text);

}  // namespace ballast::machine
