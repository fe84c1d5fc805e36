#include "ballast/engine/machine/memory_class.hpp"
#include "ballast/engine/core/ascii.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>

namespace ballast::machine {
namespace {

// Bounds of total over host total. GH200's GPU has a fifth of the host's memory although one report
// has it answer "integrated"; a real shared pool shows the device (nearly) all of it.
constexpr double kOwnMemoryBelow = 0.6;
constexpr double kSamePoolLeast = 0.90;
constexpr double kSamePoolMost = 1.10;
constexpr double kHintLeast = 0.95;
constexpr double kHintMost = 1.05;

/// Whether `word` (lower case) stands alone in `text` (lower case): gb10 is not in "gb102".
bool has_word(std::string_view text, std::string_view word) {
    for (auto at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
        const auto end = at + word.size();
        const bool begins = at == 0 || !is_word_character(text[at - 1]);
        const bool ends = end == text.size() || !is_word_character(text[end]);
        if (begins && ends) return true;
    }
    return false;
}

/// The first of the words that the device's name has; empty if none.
std::string_view word_of(const DeviceProfile& device,
                         std::initializer_list<std::string_view> words) {
    if (device.fails(Query::name)) return {};
    const auto name = lower(device.name);
    for (const auto word : words)
        if (has_word(name, lower(word))) return word;
    return {};
}

/// What a rule looks at, with failed queries taken out.
struct Facts {
    std::optional<bool> integrated;
    std::optional<bool> host_page_tables;
    std::optional<bool> own_memory_node;
    std::optional<double> ratio;  ///< device total over host total
};

Facts facts_of(const DeviceProfile& device, const HostProfile& host) {
    Facts facts;
    if (!device.fails(Query::attributes)) {
        facts.integrated = device.integrated;
        facts.host_page_tables = device.attributes.host_page_tables;
        facts.own_memory_node = device.attributes.own_memory_node;
    }
    if (!device.fails(Query::total) && device.total && host.total && !host.total->is_zero())
        facts.ratio =
            static_cast<double>(device.total->count()) / static_cast<double>(host.total->count());
    return facts;
}

Classification decided(MemoryClass memory_class, std::string rule, std::string reason,
                       std::vector<std::string> warnings = {}) {
    return {memory_class, std::move(rule), std::move(reason), std::move(warnings)};
}

Classification overridden(const DeviceProfile& device, ClassOverride said) {
    const auto memory_class =
        said == ClassOverride::unified ? MemoryClass::unified : MemoryClass::discrete;
    return decided(memory_class, "D0", "the user said so (--memory-class)",
                   {fmt::format("{} is treated as {} because --memory-class says so",
                                to_string(device.id), to_string(memory_class))});
}

/// D3a and D3.
Classification integrated_cuda(const DeviceProfile& device, const Facts& facts, System system) {
    const bool has_own_memory =
        facts.own_memory_node.value_or(false) || (facts.ratio && *facts.ratio < kOwnMemoryBelow);
    if (facts.host_page_tables.value_or(false) && has_own_memory)
        return decided(MemoryClass::coherent, "D3a",
                       "the driver calls it integrated, but it has memory of its own beside the "
                       "host's, in one coherent address space");
    if (is_under_windows(system))
        return decided(
            MemoryClass::partitioned, "D3",
            "the driver calls it integrated, and Windows gives it a share of the memory");
    std::vector<std::string> warnings;
    if (facts.ratio && *facts.ratio > kSamePoolMost)
        warnings.push_back(fmt::format(
            "{} shows more memory than the system has, which a virtual machine or container may "
            "hide; budgets follow the system's figure",
            to_string(device.id)));
    return decided(MemoryClass::unified, "D3",
                   "the driver calls it integrated: CPU and GPU share one pool",
                   std::move(warnings));
}

/// D4.
Classification integrated_hip(const DeviceProfile& device) {
    auto gtt = device.gtt;
    if (!gtt && device.total && device.carveout)
        gtt = device.total->minus_or_zero(*device.carveout);
    if (!gtt)
        return decided(MemoryClass::partitioned, "D4",
                       "integrated, with an unknown division of the memory",
                       {fmt::format("{}: how much host memory the graphics driver may map is "
                                    "unknown, so only its own share is used",
                                    to_string(device.id))});
    const auto both = device.carveout.value_or(Bytes{}) + *gtt;
    if (gtt->times(2) >= both)
        return decided(MemoryClass::unified, "D4",
                       "integrated, and most of what it can use is ordinary host memory (GTT)");
    return decided(MemoryClass::partitioned, "D4",
                   "integrated, but the firmware reserved most of its memory for it (carve-out)");
}

/// D8 to D10.
Classification unknown_attributes(const DeviceProfile& device, const Facts& facts) {
    const auto by_name = [&](std::string_view word) {
        return fmt::format(
            "{} was classed by its name ({}): the driver does not say whether it "
            "shares the host's memory",
            to_string(device.id), word);
    };
    if (!is_hip(device) && device.id.kind == DeviceKind::cuda) {
        const auto pool_word = word_of(device, {"GB10", "Thor", "Orin", "Xavier", "Tegra"});
        if (!pool_word.empty() && facts.ratio && *facts.ratio >= kSamePoolLeast &&
            *facts.ratio <= kSamePoolMost)
            return decided(MemoryClass::unified, "D8",
                           "its name is one of a shared pool, and its size is the host's",
                           {by_name(pool_word)});
        const auto coherent_word = word_of(device, {"GB200", "GB300", "GH200", "Grace"});
        if (!coherent_word.empty())
            return decided(MemoryClass::coherent, "D9",
                           "its name is one of a coherent pair of memories",
                           {by_name(coherent_word)});
    }
    std::vector<std::string> warnings;
    if (facts.ratio && *facts.ratio > kHintLeast && *facts.ratio < kHintMost)
        warnings.push_back(fmt::format(
            "{} has as much memory as the system; if it shares the system's memory, say "
            "--memory-class {}=unified",
            to_string(device.id), to_string(device.id)));
    return decided(MemoryClass::discrete, "D10", "nothing says that it shares memory with the host",
                   std::move(warnings));
}

Classification integrated(const DeviceProfile& device, const Facts& facts, System system) {
    if (device.id.kind != DeviceKind::cuda)
        return decided(MemoryClass::unified, "D5",
                       "the driver calls it integrated: CPU and GPU share one pool");
    return is_hip(device) ? integrated_hip(device) : integrated_cuda(device, facts, system);
}

}  // namespace

std::string_view to_string(MemoryClass memory_class) {
    switch (memory_class) {
        case MemoryClass::unified: return "UNIFIED";
        case MemoryClass::partitioned: return "PARTITIONED";
        case MemoryClass::shared: return "SHARED";
        case MemoryClass::coherent: return "COHERENT";
        case MemoryClass::discrete: return "DISCRETE";
        case MemoryClass::none: return "NONE";
    }
    return "";
}

bool is_hip(const DeviceProfile& device) {
    if (device.id.kind != DeviceKind::cuda) return false;
    if (!device.vendor.empty()) return device.vendor == "amd";
    return device.capability.starts_with("gfx") || !word_of(device, {"AMD", "Radeon"}).empty();
}

bool is_nvidia(const DeviceProfile& device) {
    if (device.id.kind != DeviceKind::cuda) return false;
    return device.vendor == "nvidia" || (device.vendor.empty() && !is_hip(device));
}

Classification classify(const DeviceProfile& device, const HostProfile& host, System system,
                        const MemoryOptions& options) {
    const auto said = options.classes.find(device.id);
    const bool is_overridden =
        said != options.classes.end() && said->second != ClassOverride::automatic;
    const auto without_override = [&](Classification result) {
        if (is_overridden)
            result.warnings.push_back(fmt::format("--memory-class for {} has no effect: it is {}",
                                                  to_string(device.id),
                                                  to_string(result.memory_class)));
        return result;
    };
    if (device.id.kind == DeviceKind::cpu || options.vram == VramFlag::cpu)
        return without_override(
            decided(MemoryClass::none, "D1",
                    device.id.kind == DeviceKind::cpu ? "the processor" : "CPU mode (--cpu)"));
    if (device.id.kind == DeviceKind::mps)
        return without_override(
            decided(MemoryClass::shared, "D2", "Metal manages the pool that CPU and GPU share"));
    if (is_overridden) return overridden(device, said->second);

    const auto facts = facts_of(device, host);
    if (!facts.integrated) return unknown_attributes(device, facts);
    if (*facts.integrated) return integrated(device, facts, system);
    if (device.id.kind == DeviceKind::cuda && !is_hip(device) &&
        facts.host_page_tables.value_or(false))
        return decided(MemoryClass::coherent, "D6",
                       "its own memory and the host's lie in one coherent address space");
    return decided(MemoryClass::discrete, "D7", "the driver says that its memory is its own");
}

}  // namespace ballast::machine
