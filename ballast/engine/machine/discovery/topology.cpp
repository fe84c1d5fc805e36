#include "ballast/engine/machine/discovery/topology.hpp"

#include <hwloc.h>

#include <algorithm>
#include <memory>
#include <type_traits>

namespace ballast::machine {
namespace {

struct Destroy {
    void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
using Handle = std::unique_ptr<std::remove_pointer_t<hwloc_topology_t>, Destroy>;

Error failure(Code code, std::string why, std::string description) {
    return {.code = code,
            .what = "cannot find out about processors and caches",
            .why = std::move(why),
            .place = {.key = std::move(description)}};
}

int count_of(const Handle& handle, hwloc_obj_type_t type) {
    return std::max(0, hwloc_get_nbobjs_by_type(handle.get(), type));
}

}  // namespace

Result<Topology> topology(const std::optional<std::string>& synthetic) {
    hwloc_topology_t raw = nullptr;
    if (hwloc_topology_init(&raw) != 0) return fail(failure(Code::io, "hwloc does not start", ""));
    const Handle handle(raw);
    if (synthetic && hwloc_topology_set_synthetic(raw, synthetic->c_str()) != 0)
        return fail(
            failure(Code::bad_value, "hwloc does not understand the description", *synthetic));
    if (hwloc_topology_load(raw) != 0)
        return fail(failure(Code::io, "hwloc cannot read the machine", synthetic.value_or("")));
    Topology found{.cores = count_of(handle, HWLOC_OBJ_CORE),
                   .threads = count_of(handle, HWLOC_OBJ_PU),
                   .numa_nodes = count_of(handle, HWLOC_OBJ_NUMANODE)};
    for (int i = 0; i < count_of(handle, HWLOC_OBJ_L3CACHE); ++i) {
        const auto* cache = hwloc_get_obj_by_type(raw, HWLOC_OBJ_L3CACHE, static_cast<unsigned>(i));
        if (cache != nullptr && cache->attr != nullptr)
            found.l3_caches.emplace_back(cache->attr->cache.size);
    }
    return found;
}

}  // namespace ballast::machine
