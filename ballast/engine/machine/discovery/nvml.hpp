#pragma once
// NVIDIA's management library: what needs no context on the device. Iluvatar's ixML has the same
// functions.

#include <optional>
#include <span>
#include <string>

#include "ballast/engine/core/bytes.hpp"
#include "ballast/engine/machine/discovery/shared_library.hpp"

namespace ballast::machine {

struct ManagedMemory {
    std::optional<Bytes> total{};
    std::optional<Bytes> free{};
    bool is_unsupported = false;  ///< the device has no such figure (GB10): asking again is useless
};

/// The library, started; shut down and closed when destroyed. Move-only.
class Nvml {
public:
    /// Nothing if the library is missing, is another one of that name, or does not start.
    static std::optional<Nvml> open(std::span<const std::string> names);

    Nvml(Nvml&&) noexcept = default;
    Nvml& operator=(Nvml&&) = delete;
    Nvml(const Nvml&) = delete;
    Nvml& operator=(const Nvml&) = delete;
    ~Nvml();

    [[nodiscard]] const std::string& name() const { return library_.name(); }
    [[nodiscard]] int device_count() const;
    [[nodiscard]] std::string device_name(int index) const;
    [[nodiscard]] ManagedMemory memory(int index) const;
    /// Of the device at that PCI address.
    [[nodiscard]] ManagedMemory memory_at(const std::string& pci) const;

private:
    explicit Nvml(SharedLibrary library) : library_(std::move(library)) {}
    [[nodiscard]] void* handle(int index) const;
    [[nodiscard]] ManagedMemory memory_of(void* device) const;

    SharedLibrary library_;
};

}  // namespace ballast::machine
