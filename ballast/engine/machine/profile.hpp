#pragma once
// A machine as data: what memory it has, which devices, and how fast bytes travel between them.
//
// Everything that Ballast decides about memory is a function of this value, so any machine can be
// tried on any other. An empty optional means that nobody could say; that is never the same as
// zero.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ballast/engine/core/bytes.hpp"
#include "ballast/engine/core/device_id.hpp"

namespace ballast::machine {

/// The system that the process runs on; WSL2 is Linux in a virtual machine of Windows, whose
/// limits it shares.
enum class System { gnu_linux, wsl2, windows, macos };
std::string_view to_string(System system);
std::optional<System> parse_system(std::string_view text);
/// Windows itself, or Linux in its virtual machine, where its limits hold.
bool is_under_windows(System system);

/// The memory of the host, as /proc/meminfo and the control groups tell it.
struct HostProfile {
    std::optional<Bytes> total{};      ///< MemTotal: what the system manages
    std::optional<Bytes> available{};  ///< MemAvailable: what can be had without swapping
    std::optional<Bytes> free{};       ///< MemFree
    std::optional<Bytes> cached{};     ///< Cached, which includes `shmem`
    std::optional<Bytes> shmem{};      ///< shared memory and tmpfs: looks like cache, is not
    std::optional<Bytes> swap_total{};
    std::optional<Bytes> swap_free{};
    std::optional<Bytes> huge_pages_free{};  ///< reserved huge pages that nobody uses
    std::optional<Bytes> limit{};            ///< of the container (control group); absent: none
    std::optional<Bytes> limit_used{};       ///< of that limit, without reclaimable file pages
    std::optional<double> copy_gbps{};       ///< memory to memory, 10^9 bytes per second

    bool operator==(const HostProfile&) const = default;
};

/// What CUDA's device attributes say; the numbers are those of the driver interface.
struct DeviceAttributes {
    std::optional<bool> pageable_access{};      ///< 88
    std::optional<bool> host_page_tables{};     ///< 100
    std::optional<bool> managed{};              ///< 83
    std::optional<bool> concurrent_managed{};   ///< 89
    std::optional<bool> direct_managed_host{};  ///< 101
    std::optional<bool> own_memory_node{};      ///< 130: its memory is a NUMA node of the system

    bool operator==(const DeviceAttributes&) const = default;
};

/// A question to the driver that can fail for good on some machines.
enum class Query { attributes, free, total, name };
std::string_view to_string(Query query);

/// One accelerator.
struct DeviceProfile {
    DeviceId id{};
    std::string name{};    ///< as the driver says it; empty: unknown
    std::string vendor{};  ///< lower case: nvidia, amd, intel, apple, ...; empty: unknown
    std::optional<Bytes> total{};
    std::optional<Bytes> free{};
    std::optional<bool> integrated{};
    DeviceAttributes attributes{};
    std::optional<Bytes> gtt{};          ///< AMD: host memory that the graphics driver may map
    std::optional<Bytes> carveout{};     ///< memory that the firmware took from the host for it
    std::optional<Bytes> working_set{};  ///< what the system recommends or grants as the most
    std::string capability{};            ///< "8.9" or "gfx1151"; empty: unknown
    std::vector<std::string> types{};    ///< number formats it computes in: fp16, bf16, fp8, ...
    std::map<std::string, double> tflops{};
    std::optional<double> memory_gbps{};
    std::optional<Bytes> granularity{};  ///< sizes of allocations are rounded up to it
    std::vector<Query> query_fails{};
    std::string uuid{};
    std::string pci{};  ///< "0000:01:00.0"

    [[nodiscard]] bool fails(Query query) const;
    bool operator==(const DeviceProfile&) const = default;
};

/// A way for bytes, in one direction.
struct Link {
    DeviceId from{};
    DeviceId to{};
    double gbps = 0;  ///< 10^9 bytes per second
    double latency_us = 0;
    bool peer = false;                       ///< direct, without a stop in host memory
    std::vector<std::string> shared_with{};  ///< names of links that compete with this one

    bool operator==(const Link&) const = default;
};

/// Where model files lie.
struct StorageProfile {
    std::string kind{};  ///< nvme, ssd, hdd, memory, network; empty: unknown
    std::optional<double> gbps{};
    std::optional<double> latency_us{};

    bool operator==(const StorageProfile&) const = default;
};

struct MachineProfile {
    std::string name{};
    System system = System::gnu_linux;
    std::string system_version{};  ///< "14.5" on macOS; empty: unknown
    HostProfile host{};
    /// Facts about the processor as a device that computes; its memory is the host's.
    std::optional<DeviceProfile> processor{};
    std::vector<DeviceProfile> devices{};  ///< accelerators; the processor is not among them
    std::vector<Link> links{};
    StorageProfile storage{};
    std::vector<std::string> source{};  ///< where the figures come from

    bool operator==(const MachineProfile&) const = default;
};

/// The device of that name, or null.
const DeviceProfile* find_device(const MachineProfile& profile, DeviceId id);

/// What the host can still give to this process without swapping: MemAvailable, or what stands for
/// it where the kernel does not say (free + cache that is not shared memory); under a container
/// limit at most what is left of that. Never more than the total, and never with swap. Empty if
/// unknown.
std::optional<Bytes> host_available(const HostProfile& host);

/// MemTotal, or the container's limit where that is less.
std::optional<Bytes> host_total(const HostProfile& host);

}  // namespace ballast::machine
