#pragma once
// How memory is freed on request: requests come from anywhere at any time, and are carried out by
// the thread that runs prompts, between prompts, in a fixed order.
//
// 1. Models go: those whose flag says so, those that were ejected by name, or all of them by force.
// 2. Kept results of nodes go.
// 3. What allocators keep for reuse goes back to the system, on every device.
//
// With nothing flagged, the first step does nothing at all, and the answer says who was kept.

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "ballast/engine/core/clock.hpp"
#include "ballast/engine/residency/caches.hpp"
#include "ballast/engine/residency/memory_log.hpp"
#include "ballast/engine/residency/pressure_monitor.hpp"
#include "ballast/engine/residency/registry.hpp"

namespace ballast::residency {

/// A request to free memory; what is left open follows from the other.
struct FreeFlags {
    std::optional<bool> unload_models{};  ///< open: as `free_memory`
    std::optional<bool> free_memory{};    ///< open: no

    bool operator==(const FreeFlags&) const = default;
};

/// What came back on one device.
struct DeviceFreed {
    Bytes released{};                 ///< by our own account, whatever it was held for
    std::map<Tier, Bytes> by_tier{};  ///< weights and rings among it
    Bytes kept{};                     ///< weights and rings of models that stay
    Bytes cache_released{};           ///< that allocators gave back to the system
    std::optional<Error> error{};     ///< why the device's cache was not emptied
};

/// The answer to requests that were carried out together.
struct FreeAnswer {
    FreeReport models{};
    bool are_results_dropped = false;
    std::vector<CacheReport> caches{};
    std::map<DeviceId, DeviceFreed> devices{};
    std::vector<Error> errors{};  ///< ejections that named nothing
    /// Of this process in the host's memory, as the system counts it; empty where it does not say.
    std::optional<Bytes> resident_before{};
    std::optional<Bytes> resident_after{};

    /// For people: what went, what stays and how to release it, and bytes per device.
    [[nodiscard]] std::vector<std::string> lines() const;
};

/// What the program holds and does, for who asks. Touches no device that sleeps.
struct MemoryStatus {
    struct Device {
        DeviceId id{};
        bool is_awake = false;
        std::optional<Bytes> total{};  ///< empty: the device sleeps, or does not say
        std::optional<Bytes> free{};
        Bytes cached{};
    };
    std::vector<ModelStatus> models{};
    device::LedgerSnapshot ledger{};
    std::vector<Device> devices{};
    bool is_running = false;    ///< a prompt
    bool has_requests = false;  ///< that wait for the end of the prompt
};

/// Requests from any thread; everything else on the thread that runs prompts.
class FreeFlow {
public:
    enum class Server { present, absent };
    enum class Checks { on, off };
    /// On in debug builds of the library.
    static Checks usual_checks();
    /// After a prompt, caches are emptied no more often than this.
    static constexpr Nanoseconds kLeastPause{10'000'000'000};

    /// All must outlive the flow.
    struct Parts {
        Registry* registry = nullptr;
        device::Ledger* ledger = nullptr;
        const device::DeviceSet* devices = nullptr;
        MemoryLog* memory = nullptr;
        const Clock* clock = nullptr;
        Log log{};
        /// Empties the caches of all devices, each by its policy.
        std::function<std::vector<CacheReport>(machine::EmptyingCall)> empty_caches{};
        /// Gives back host memory that is only kept for reuse.
        std::function<void()> release_kept{};
        /// Used bytes of the host.
        std::function<Bytes()> host_used{};
        /// What of this process lies in the host's memory; null: nobody looks.
        std::function<std::optional<Bytes>()> resident{};
        PressureWatch* pressure = nullptr;  ///< null: nobody watches
        Server server = Server::absent;
        Checks checks = usual_checks();  ///< broken invariants are std::logic_error
    };
    explicit FreeFlow(Parts parts) : parts_(std::move(parts)) {}
    FreeFlow(const FreeFlow&) = delete;
    FreeFlow& operator=(const FreeFlow&) = delete;

    [[nodiscard]] Registry& registry() const { return *parts_.registry; }
    [[nodiscard]] MemoryLog& memory() const { return *parts_.memory; }

    // from any thread: what is asked for is done after the running prompt, or when `settle` is
    // called next; requests that meet are joined, and none takes back another
    void request(const FreeFlags& flags);
    /// Models of that name go, kept or not. Fails with `not_found` if none is loaded now.
    Result<void> request_eject(const std::string& name);
    /// All models go, kept or not.
    void request_unload_all();
    /// ComfyUI-Manager's button for everything: both flags, unless a prompt runs and `force` is
    /// false. Returns the line that it logs.
    std::string force_full_system_cleanup(std::string_view reason, bool force = true);
    /// Asks for the results of nodes to be dropped, and what is flagged with them. False if there
    /// is no server, or a prompt runs and `force` is false.
    bool reset_executor(std::string_view reason, bool force = false);
    [[nodiscard]] MemoryStatus status() const;

    // by the thread that runs prompts
    void begin_prompt();
    /// Carries out what was asked for meanwhile, and before while models were in use that are not
    /// any more. Without a request, caches are emptied softly, at
    /// most every `kLeastPause`, and there is no answer.
    std::optional<FreeAnswer> end_prompt(const std::function<void()>& drop_results);
    /// The same while no prompt runs: nothing without a request.
    std::optional<FreeAnswer> settle(const std::function<void()>& drop_results);
    /// Empties the caches of all devices; by force, results go at the next `settle` as well.
    std::vector<CacheReport> soft_empty_cache(bool force);

private:
    struct Requests {
        bool unloads = false;
        bool frees = false;
        bool unloads_all = false;
        std::vector<std::string> ejected{};

        [[nodiscard]] bool is_empty() const {
            return !unloads && !frees && !unloads_all && ejected.empty();
        }
    };

    FreeAnswer carry_out(const Requests& requests, const std::function<void()>& drop_results);
    FreeReport release_models(const Requests& requests, std::vector<Error>& errors);
    std::vector<CacheReport> empty(machine::EmptyingCall call);
    void watch_pressure();
    [[nodiscard]] std::optional<Bytes> resident() const {
        return parts_.resident ? parts_.resident() : std::nullopt;
    }
    void account(FreeAnswer& answer, const device::LedgerSnapshot& before) const;
    void check(const std::vector<std::string>& broken) const;

    Parts parts_;
    std::mutex pressure_mutex_;  ///< held while the watch is asked or told
    mutable std::mutex mutex_;   ///< guards what follows
    Requests requests_;
    bool is_running_ = false;
    std::optional<Nanoseconds> emptied_at_;  ///< of the worker alone
};

}  // namespace ballast::residency
