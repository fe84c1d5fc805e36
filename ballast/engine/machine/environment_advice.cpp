#include <fmt/format.h>

#include <array>
#include <charconv>

#include "ballast/engine/machine/advice.hpp"

namespace ballast::machine {
namespace {

/// What the rows of the table may ask.
struct Circumstances {
    bool has_pool = false;  ///< some device shares the host's memory
    bool has_card = false;  ///< some device has memory of its own
    std::optional<int> threads{};
};

struct Answer {
    Verdict verdict;
    std::string text;
    std::string remedy{};
};

using Judge = std::optional<Answer> (*)(std::string_view value, const Circumstances& here);

struct Variable {
    const char* name;
    Judge judge;
};

bool is_on(std::string_view value) { return !value.empty() && value != "0"; }

std::optional<int> number(std::string_view text) {
    int value = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (fault != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::optional<Answer> cache_disabled(std::string_view value, const Circumstances&) {
    if (!is_on(value)) return std::nullopt;
    return Answer{Verdict::hurts,
                  "the driver keeps no compiled kernels, so every start compiles them again; it "
                  "saves no memory, shared or not",
                  "unset it"};
}

std::optional<Answer> cache_size(std::string_view, const Circumstances&) {
    return Answer{Verdict::good,
                  "helps if kernels are compiled at start and the cache folder outlives the "
                  "container; without effect for code built for this GPU"};
}

std::optional<Answer> no_caching(std::string_view value, const Circumstances&) {
    if (!is_on(value)) return std::nullopt;
    return Answer{Verdict::hurts,
                  "a switch for debugging: every tensor is a driver call, which is slow",
                  "unset it"};
}

std::optional<Answer> connections(std::string_view value, const Circumstances& here) {
    const auto queues = number(value);
    if (!queues || *queues >= 2) return std::nullopt;
    return Answer{Verdict::hurts,
                  here.has_card ? "one hardware queue makes independent streams wait for one "
                                  "another, so copies cannot hide behind arithmetic; it has "
                                  "nothing to do with the number of GPUs"
                                : "one hardware queue makes independent streams wait for one "
                                  "another; it has nothing to do with the number of GPUs",
                  "unset it (the default is 8)"};
}

std::optional<Answer> copy_connections(std::string_view, const Circumstances& here) {
    if (here.has_card) return std::nullopt;
    return Answer{Verdict::nothing, "there is nothing to copy on one pool of memory", "unset it"};
}

std::optional<Answer> module_loading(std::string_view value, const Circumstances&) {
    if (value != "EAGER" && value != "eager") return std::nullopt;
    return Answer{Verdict::hurts,
                  "every kernel is loaded at start: more memory and a slower start; lazy loading "
                  "is the default",
                  "unset it, or set it to LAZY"};
}

std::optional<Answer> managed(std::string_view value, const Circumstances&) {
    if (!is_on(value)) return std::nullopt;
    return Answer{Verdict::nothing,
                  "it concerns managed allocations of several GPUs without full support; Ballast "
                  "makes none",
                  "unset it"};
}

std::optional<Answer> threads(std::string_view value, const Circumstances& here) {
    const auto count = number(value);
    if (!count || *count < 1) return std::nullopt;
    if (here.threads && *count > *here.threads)
        return Answer{Verdict::hurts,
                      fmt::format("{} threads share {} processors and wait for one another", *count,
                                  *here.threads),
                      "unset it; --threads sets the number for one run"};
    if (here.threads && *count < *here.threads)
        return Answer{Verdict::note,
                      fmt::format("arithmetic on the processor takes {} threads of {}", *count,
                                  *here.threads),
                      "unset it unless that is meant"};
    return Answer{Verdict::nothing, "a constant for this processor; the number is found anyway"};
}

std::optional<Answer> blas_workspace(std::string_view value, const Circumstances&) {
    if (!value.starts_with(":0")) return std::nullopt;
    return Answer{Verdict::hurts,
                  "without a workspace some matrix algorithms are not usable, for tens of MiB",
                  "unset it; for reproducible results set :4096:8"};
}

std::optional<Answer> compile_switch(std::string_view value, const Circumstances&) {
    if (!is_on(value)) return std::nullopt;
    return Answer{Verdict::nothing, "it concerns a compiler of Python programs"};
}

std::optional<Answer> visible(std::string_view value, const Circumstances&) {
    if (value.empty() || value == "-1" || value == "none" || value == "void" ||
        value == "NoDevFiles")
        return Answer{Verdict::broken, "it hides every GPU", "unset it, or name the GPUs to use"};
    if (value == "all") return Answer{Verdict::good, "all GPUs are visible"};
    return Answer{Verdict::note, fmt::format("only these GPUs are visible: {}", value)};
}

std::optional<Answer> capabilities(std::string_view value, const Circumstances&) {
    const bool has_compute = value.find("compute") != std::string_view::npos || value == "all";
    const bool has_utility = value.find("utility") != std::string_view::npos || value == "all";
    if (has_compute && has_utility) return Answer{Verdict::good, "compute and utility are there"};
    return Answer{has_compute ? Verdict::note : Verdict::broken,
                  has_compute ? "without utility, free memory of idle GPUs stays unknown"
                              : "without compute the container has no CUDA driver",
                  "set it to compute,utility"};
}

std::optional<Answer> allocator(std::string_view value, const Circumstances& here) {
    if (value.find("expandable_segments:True") != std::string_view::npos)
        return Answer{Verdict::good, "less memory is lost between blocks of different sizes"};
    if (value.find("backend:cudaMallocAsync") != std::string_view::npos && here.has_pool)
        return Answer{Verdict::note,
                      "the driver's pool keeps what it frees; on shared memory the system cannot "
                      "use it meanwhile",
                      "prefer the default back end"};
    return std::nullopt;
}

std::optional<Answer> pinned_switch(std::string_view value, const Circumstances& here) {
    if (!is_on(value)) return std::nullopt;
    if (here.has_card)
        return Answer{Verdict::hurts,
                      "copies from ordinary host memory are slower and cannot run beside the "
                      "arithmetic",
                      "unset it"};
    return Answer{Verdict::nothing, "nothing is pinned here beyond a small ring"};
}

std::optional<Answer> comfyui_flags(std::string_view value, const Circumstances& here) {
    const auto has = [&](std::string_view flag) {
        return value.find(flag) != std::string_view::npos;
    };
    if (has("--disable-mmap") && here.has_pool)
        return Answer{Verdict::hurts,
                      "--disable-mmap holds every model twice in the one pool while it loads",
                      "leave --disable-mmap out"};
    if (has("--force-fp16"))
        return Answer{Verdict::hurts, "--force-fp16 breaks models that need bf16",
                      "leave --force-fp16 out"};
    if (has("--disable-pinned-memory"))
        return here.has_card
                   ? Answer{Verdict::hurts, "--disable-pinned-memory makes copies slower",
                            "leave --disable-pinned-memory out"}
                   : Answer{Verdict::good,
                            "--disable-pinned-memory is right on one pool, and happens by itself"};
    if (has("--dont-upcast-attention"))
        return Answer{Verdict::note, "--dont-upcast-attention trades quality, not memory"};
    return std::nullopt;
}

std::optional<Answer> swapped_device(std::string_view value, const Circumstances&) {
    return Answer{Verdict::note,
                  fmt::format("the GPU is driven as if it were another one ({})", value)};
}

constexpr std::array kVariables = std::to_array<Variable>({
    {"CUDA_CACHE_DISABLE", cache_disabled},
    {"CUDA_CACHE_MAXSIZE", cache_size},
    {"PYTORCH_NO_CUDA_MEMORY_CACHING", no_caching},
    {"PYTORCH_NO_HIP_MEMORY_CACHING", no_caching},
    {"CUDA_DEVICE_MAX_CONNECTIONS", connections},
    {"CUDA_DEVICE_MAX_COPY_CONNECTIONS", copy_connections},
    {"CUDA_MODULE_LOADING", module_loading},
    {"CUDA_MANAGED_FORCE_DEVICE_ALLOC", managed},
    {"OMP_NUM_THREADS", threads},
    {"CUBLAS_WORKSPACE_CONFIG", blas_workspace},
    {"TORCH_COMPILE_DISABLE", compile_switch},
    {"TORCHDYNAMO_DISABLE", compile_switch},
    {"NVIDIA_VISIBLE_DEVICES", visible},
    {"CUDA_VISIBLE_DEVICES", visible},
    {"HIP_VISIBLE_DEVICES", visible},
    {"ROCR_VISIBLE_DEVICES", visible},
    {"NVIDIA_DRIVER_CAPABILITIES", capabilities},
    {"PYTORCH_CUDA_ALLOC_CONF", allocator},
    {"PYTORCH_HIP_ALLOC_CONF", allocator},
    {"PYTORCH_ALLOC_CONF", allocator},
    {"HSA_OVERRIDE_GFX_VERSION", swapped_device},
    {"BALLAST_DISABLE_PINNED_MEMORY", pinned_switch},
    {"COMFYUI_FLAGS", comfyui_flags},
});

Circumstances circumstances(const Assessment& assessment, const Surroundings& surroundings) {
    Circumstances here{.threads = surroundings.threads};
    for (const auto& device : assessment.devices) {
        const auto memory_class = device.classification.memory_class;
        here.has_pool |=
            memory_class == MemoryClass::unified || memory_class == MemoryClass::shared;
        here.has_card |= memory_class == MemoryClass::discrete ||
                         memory_class == MemoryClass::coherent ||
                         memory_class == MemoryClass::partitioned;
    }
    return here;
}

}  // namespace

std::vector<Finding> environment_findings(const Assessment& assessment,
                                          const Surroundings& surroundings) {
    std::vector<Finding> findings;
    if (!surroundings.variable) return findings;
    const auto here = circumstances(assessment, surroundings);
    for (const auto& [name, judge] : kVariables) {
        const auto value = surroundings.variable(name);
        if (!value) continue;
        if (auto answer = judge(*value, here))
            findings.push_back({answer->verdict, fmt::format("{}={}", name, *value),
                                std::move(answer->text), std::move(answer->remedy)});
    }
    return findings;
}

}  // namespace ballast::machine
