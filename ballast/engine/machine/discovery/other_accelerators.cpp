#include "ballast/engine/machine/discovery/other_accelerators.hpp"

#include <array>
#include <cstring>
#include <filesystem>

#include "ballast/engine/machine/discovery/nvml.hpp"
#include "ballast/engine/machine/discovery/shared_library.hpp"

namespace ballast::machine {
namespace {

constexpr int kAscendStartedBefore = 100002;  // ACL_ERROR_REPEAT_INITIALIZE
constexpr std::size_t kLongestName = 256;

DeviceProfile named(DeviceKind kind, int index, std::string vendor, std::string name) {
    DeviceProfile profile;
    profile.id = {kind, index};
    profile.vendor = std::move(vendor);
    profile.name = std::move(name);
    if (profile.name.empty()) profile.query_fails.push_back(Query::name);
    return profile;
}

}  // namespace

FoundDevices ascend_devices(std::span<const std::string> libraries) {
    auto library = SharedLibrary::open(libraries);
    if (!library) return {};
    const auto init = library->find<int(const char*)>("aclInit");
    if (init == nullptr) return {};
    library->keep_loaded();
    FoundDevices found{.source = library->name()};
    const int answer = init(nullptr);
    if (answer != 0 && answer != kAscendStartedBefore) return found;
    std::uint32_t count = 0;
    if (!succeeds(library->find<int(std::uint32_t*)>("aclrtGetDeviceCount"), &count)) return found;
    std::string name;
    if (const auto ask = library->find<const char*()>("aclrtGetSocName"))
        if (const char* text = ask()) name = driver_text({text, ::strnlen(text, kLongestName)});
    for (int index = 0; index < believable_count(count); ++index)
        found.devices.push_back(named(DeviceKind::npu, index, "huawei", name));
    return found;
}

FoundDevices cambricon_devices(std::span<const std::string> libraries) {
    // CNdev has changed its width between versions; so wide and zero before, it can be either
    using Handle = std::int64_t;
    auto library = SharedLibrary::open(libraries);
    if (!library) return {};
    const auto init = library->find<int(unsigned)>("cnInit");
    if (init == nullptr) return {};
    library->keep_loaded();
    FoundDevices found{.source = library->name()};
    int count = 0;
    if (init(0) != 0 || !succeeds(library->find<int(int*)>("cnDeviceGetCount"), &count))
        return found;
    const auto get = library->find<int(Handle*, int)>("cnDeviceGet");
    const auto get_name = library->find<int(char*, int, Handle)>("cnDeviceGetName");
    for (int index = 0; index < believable_count(count); ++index) {
        Handle device = 0;
        if (!succeeds(get, &device, index)) device = index;
        std::array<char, kLongestName + 1> text{};
        const bool has_name =
            succeeds(get_name, text.data(), static_cast<int>(kLongestName), device);
        found.devices.push_back(
            named(DeviceKind::mlu, index, "cambricon", has_name ? driver_text(text) : ""));
    }
    return found;
}

FoundDevices directml_devices(std::span<const std::string> files) {
    if (files.empty()) return {};
    std::error_code ignored;
    for (const auto& file : files)
        if (!std::filesystem::is_regular_file(file, ignored)) return {};
    // which card it is on, only Windows knows
    return {.devices = {named(DeviceKind::directml, 0, "", "DirectML adapter")},
            .source = files.front()};
}

FoundDevices corex_devices(std::span<const std::string> libraries) {
    const auto library = Nvml::open(libraries);
    if (!library) return {};
    FoundDevices found{.source = library->name()};
    for (int index = 0; index < library->device_count(); ++index) {
        auto profile = named(DeviceKind::corex, index, "iluvatar", library->device_name(index));
        const auto memory = library->memory(index);
        profile.total = memory.total;
        profile.free = memory.free;
        if (memory.is_unsupported) profile.query_fails.push_back(Query::free);
        found.devices.push_back(std::move(profile));
    }
    return found;
}

}  // namespace ballast::machine
