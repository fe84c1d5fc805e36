#include "ballast/engine/machine/discovery/nvml.hpp"

#include <array>

#include "ballast/engine/machine/discovery/found_devices.hpp"

namespace ballast::machine {
namespace {

constexpr int kNotSupported = 3;  // NVML_ERROR_NOT_SUPPORTED

/// nvmlMemory_t
struct MemoryFigures {
    unsigned long long total = 0;
    unsigned long long free = 0;
    unsigned long long used = 0;
};

}  // namespace

std::optional<Nvml> Nvml::open(std::span<const std::string> names) {
    auto library = SharedLibrary::open(names);
    if (!library || !succeeds(library->find<int()>("nvmlInit_v2"))) return std::nullopt;
    return Nvml(*std::move(library));
}

Nvml::~Nvml() {
    // null in what was moved from, as its library is
    succeeds(library_.find<int()>("nvmlShutdown"));
}

int Nvml::device_count() const {
    unsigned count = 0;
    if (!succeeds(library_.find<int(unsigned*)>("nvmlDeviceGetCount_v2"), &count)) return 0;
    return believable_count(count);
}

std::string Nvml::device_name(int index) const {
    std::array<char, 257> text{};
    const auto ask = library_.find<int(void*, char*, unsigned)>("nvmlDeviceGetName");
    auto* device = handle(index);
    if (device == nullptr || !succeeds(ask, device, text.data(), 256U)) return {};
    return driver_text(text);
}

ManagedMemory Nvml::memory(int index) const { return memory_of(handle(index)); }

ManagedMemory Nvml::memory_at(const std::string& pci) const {
    void* device = nullptr;
    const auto ask = library_.find<int(const char*, void**)>("nvmlDeviceGetHandleByPciBusId_v2");
    if (pci.empty() || !succeeds(ask, pci.c_str(), &device)) return {};
    return memory_of(device);
}

void* Nvml::handle(int index) const {
    void* device = nullptr;
    const auto ask = library_.find<int(unsigned, void**)>("nvmlDeviceGetHandleByIndex_v2");
    return succeeds(ask, static_cast<unsigned>(index), &device) ? device : nullptr;
}

ManagedMemory Nvml::memory_of(void* device) const {
    const auto ask = library_.find<int(void*, MemoryFigures*)>("nvmlDeviceGetMemoryInfo");
    if (device == nullptr || ask == nullptr) return {};
    MemoryFigures figures;
    const int answer = ask(device, &figures);
    if (answer != 0) return {.is_unsupported = answer == kNotSupported};
    const auto total = believable_bytes(figures.total);
    // zero bytes free is an answer, unlike zero bytes in all
    if (!total || figures.free > figures.total) return {.total = total};
    return {.total = total, .free = Bytes{figures.free}};
}

}  // namespace ballast::machine
