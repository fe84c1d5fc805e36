#include "tests/verification/axes.hpp"

namespace ballast::verification {
namespace {

using machine::MemoryClass;
using residency::FreeFlow;

constexpr DeviceId kCard{DeviceKind::cuda, 0};
constexpr DeviceId kOtherCard{DeviceKind::cuda, 1};
constexpr DeviceId kMetal{DeviceKind::mps, 0};

void replace_all(std::string& text, std::string_view what, const std::string& by) {
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
        text.replace(at, what.size(), by);
}

}  // namespace

const std::vector<MachineRow>& machines() {
    static const std::vector<MachineRow> rows{
        {.title = "DISCRETE, one card",
         .profile = "rtx-4090-64gb.json",
         .memory_class = MemoryClass::discrete,
         .compute = kCard},
        {.title = "DISCRETE, two cards",
         .profile = "rtx-3090-pair-nvlink.json",
         .memory_class = MemoryClass::discrete,
         .compute = kCard,
         .others = {kOtherCard}},
        {.title = "UNIFIED",
         .profile = "dgx-spark-gb10-128gb.json",
         .memory_class = MemoryClass::unified,
         .compute = kCard},
        {.title = "PARTITIONED",
         .profile = "strix-halo-96gb-carve-out.json",
         .memory_class = MemoryClass::partitioned,
         .compute = kCard},
        {.title = "COHERENT",
         .profile = "gh200-480gb.json",
         .memory_class = MemoryClass::coherent,
         .compute = kCard},
        {.title = "SHARED",
         .profile = "mac-studio-m4-max-64gb.json",
         .memory_class = MemoryClass::shared,
         .compute = kMetal},
        {.title = "NONE, no accelerator",
         .profile = "cpu-32gb.json",
         .memory_class = MemoryClass::none,
         .compute = kCpu},
        {.title = "NONE, an accelerator that is not to be used",
         .profile = "rtx-4090-64gb.json",
         .memory_class = MemoryClass::none,
         .compute = kCpu,
         .vram = machine::VramFlag::cpu},
    };
    return rows;
}

const std::vector<PlacementRow>& placements() {
    static const std::vector<PlacementRow> rows{
        {.name = "all where it computes", .text = "COMPUTE,100%"},
        {.name = "a part on cpu", .text = "COMPUTE,40%;cpu,60%", .needs_accelerator = true},
        {.name = "over two devices and cpu",
         .text = "COMPUTE,40%;OTHER,30%;cpu,30%",
         .needs_accelerator = true,
         .needs_other = true},
        {.name = "streamed from the file", .text = "COMPUTE,40%;disk,60%"},
    };
    return rows;
}

bool exists_on(const PlacementRow& placement, const MachineRow& machine) {
    return (!placement.needs_accelerator || machine.compute != kCpu) &&
           (!placement.needs_other || !machine.others.empty());
}

std::string allocation_text(const PlacementRow& placement, const MachineRow& machine) {
    std::string text(placement.text);
    replace_all(text, "COMPUTE", to_string(machine.compute));
    if (!machine.others.empty()) replace_all(text, "OTHER", to_string(machine.others.front()));
    return text;
}

const std::vector<FlagsRow>& flags() {
    static const std::vector<FlagsRow> rows{
        {.name = "none flagged", .is_flagged = {false, false, false}},
        {.name = "text encoder flagged", .is_flagged = {false, true, false}},
        {.name = "all flagged", .is_flagged = {true, true, true}},
    };
    return rows;
}

const std::vector<FreeRow>& free_kinds() {
    static const std::vector<FreeRow> rows{
        {.name = "unload_models",
         .ask = [](FreeFlow& flow) { flow.request({.unload_models = true}); },
         .goes = Goes::flagged},
        {.name = "free_memory",
         .ask = [](FreeFlow& flow) { flow.request({.free_memory = true}); },
         .goes = Goes::flagged,
         .drops_results = true},
        {.name = "both",
         .ask = [](FreeFlow& flow) { flow.request({.unload_models = true, .free_memory = true}); },
         .goes = Goes::flagged,
         .drops_results = true},
        {.name = "free_memory, unload_models: false",
         .ask = [](FreeFlow& flow) { flow.request({.unload_models = false, .free_memory = true}); },
         .goes = Goes::nothing,
         .drops_results = true},
        {.name = "both, asked during a prompt",
         .ask = [](FreeFlow& flow) { flow.request({.unload_models = true, .free_memory = true}); },
         .goes = Goes::flagged,
         .drops_results = true,
         .moment = Moment::in_prompt},
        {.name = "the manager's button",
         .ask = [](FreeFlow& flow) { static_cast<void>(flow.force_full_system_cleanup("manual")); },
         .goes = Goes::flagged,
         .drops_results = true},
        {.name = "eject the unet by name",
         .ask =
             [](FreeFlow& flow) {
                 static_cast<void>(flow.request_eject(std::string(kModelNames[0])));
             },
         .goes = Goes::unet},
        {.name = "unload all by force",
         .ask = [](FreeFlow& flow) { flow.request_unload_all(); },
         .goes = Goes::all},
        {.name = "nothing asked, a prompt ends",
         .ask = [](FreeFlow&) {},
         .goes = Goes::nothing,
         .moment = Moment::in_prompt,
         .call = machine::EmptyingCall::soft,
         .is_answered = false},
    };
    return rows;
}

}  // namespace ballast::verification
