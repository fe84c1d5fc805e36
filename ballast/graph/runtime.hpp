#pragma once
// What the command line and the server know of the part that computes. The runtime is a shared
// library that is opened by name; this interface is all that crosses the border.

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ballast/engine/core/log.hpp"
#include "ballast/engine/device/ledger.hpp"
#include "ballast/engine/machine/options.hpp"
#include "ballast/engine/machine/profile.hpp"
#include "ballast/engine/residency/free_flow.hpp"
#include "ballast/engine/residency/retention.hpp"
#include "ballast/graph/node_runner.hpp"

namespace ballast::graph {

/// Number formats that a user can ask for; `automatic` follows the rules for the device.
enum class ComputeType { automatic, fp32, bf16, fp16 };

struct RuntimeOptions {
    std::vector<std::filesystem::path> model_roots;  ///< each laid out like ComfyUI's models folder
    std::filesystem::path input_folder;
    std::filesystem::path output_folder;
    std::filesystem::path temp_folder;
    /// The machine; empty: this one, as it is found. A simulated one computes on the processor, but
    /// holds and moves what the profile's devices would.
    std::optional<machine::MachineProfile> profile;
    bool is_simulated = false;
    bool is_real_time = false;      ///< copies of simulated devices take their time
    machine::MemoryOptions memory;  ///< limits among them
    std::string allocation;         ///< for networks whose loader says nothing; empty: automatic
    residency::RetentionWishes retention;  ///< which models stay when memory is freed
    bool logs_memory = false;  ///< lines of model management, as ComfyUI-MultiGPU has them
    ComputeType unet_type = ComputeType::automatic;
    ComputeType vae_type = ComputeType::automatic;
    ComputeType text_encoder_type = ComputeType::automatic;
    int threads = 0;            ///< of the arithmetic; 0 = one per core
    bool save_metadata = true;  ///< write the prompt into pictures
    Log log;
};

/// Threads that these options stand for.
unsigned arithmetic_threads(const RuntimeOptions& options);

/// One model that is or was loaded, for reports.
struct ModelReport {
    std::string name;  ///< file name and part, e.g. "sd15.safetensors (unet)"
    DeviceId compute;
    Bytes bytes;
    std::size_t blocks = 0;
    std::string allocation;
    std::map<DeviceId, Bytes> homes;
    std::size_t patched_blocks = 0;
    std::string plan_digest;
};

/// Weights that came from elsewhere while models computed. Seconds are those of simulated devices;
/// of real ones nobody measures them.
struct StreamingReport {
    std::uint64_t transfers = 0;
    Bytes bytes;
    double compute_seconds = 0;
    double transfer_seconds = 0;  ///< of the busiest link
    double wall_seconds = 0;
    double bound_seconds = 0;  ///< what no order of work could beat
};

/// What happened since the last `reset_report`.
struct RuntimeReport {
    device::LedgerSnapshot devices;
    // weights of the models that were loaded at the same time, when that was most
    std::map<DeviceId, Bytes> planned;   ///< by the plans of these models
    std::map<DeviceId, Bytes> realised;  ///< as the ledger granted them
    std::vector<ModelReport> models;     ///< loaded then or since, whether or not they still are
    StreamingReport streaming;
    double load_seconds = 0;
    double sample_seconds = 0;
    double decode_seconds = 0;
};

/// The arithmetic of a machine. One thread calls `run`; everything else from any thread.
class Runtime : public NodeRunner {
public:
    [[nodiscard]] virtual RuntimeReport report() const = 0;
    /// Starts seconds, peaks and the list of models anew, the latter with those loaded now.
    virtual void reset_report() = 0;
    /// Devices that models can live on; those of the profile if it is simulated.
    [[nodiscard]] virtual std::vector<DeviceId> devices() const = 0;
    /// Who is asked to free memory, and told when prompts begin and end. Null: it keeps nothing.
    [[nodiscard]] virtual residency::FreeFlow* flow() { return nullptr; }
    /// "libtorch 2.13.0, AVX512" and the like.
    [[nodiscard]] virtual std::string version() const = 0;
};

/// Grows with every incompatible change of this header.
inline constexpr std::uint32_t kRuntimeInterface = 4;

/// Name and type of the one symbol that the runtime library exports. Returns null when it fails and
/// says why in `error`, which may be null. When the interface number differs, it returns null and
/// touches neither options nor error, whose layout may be another one.
inline constexpr const char* kRuntimeEntryName = "ballast_open_runtime";
using RuntimeEntry = Runtime* (*)(std::uint32_t interface_number, const RuntimeOptions& options,
                                  Error* error);

}  // namespace ballast::graph
