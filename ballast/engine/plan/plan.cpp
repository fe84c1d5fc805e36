#include "ballast/engine/plan/plan.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <string_view>

namespace ballast::plan {

Plan resident_plan(const BlockTable& table, DeviceId compute, std::optional<Bytes> available) {
    Plan plan;
    plan.compute = compute;
    plan.homes.assign(table.blocks().size(), compute);
    plan.per_device[compute] = table.bytes();
    if (available && table.bytes() > *available) {
        plan.fits = false;
        plan.shortfall[compute] = {.needed = table.bytes().count(),
                                   .available = available->count()};
    }
    return plan;
}

namespace {

/// FNV-1a over a canonical text; not a defence against forgery, only an equal-or-not for reports.
class Digest {
public:
    void add(std::string_view text) {
        for (const char c : text) mix(static_cast<unsigned char>(c));
        mix(0);
    }
    void add(std::uint64_t number) {
        for (unsigned shift = 0; shift < 64; shift += 8)
            mix(static_cast<unsigned char>((number >> shift) & 0xFFU));
    }
    [[nodiscard]] std::string text() const { return fmt::format("{:016x}", state_); }

private:
    void mix(unsigned char byte) { state_ = (state_ ^ byte) * 0x100000001B3ULL; }

    std::uint64_t state_ = 0xCBF29CE484222325ULL;
};

}  // namespace

std::string digest(const BlockTable& table, const Plan& plan) {
    Digest digest;
    digest.add(to_string(plan.compute));
    for (std::size_t i = 0; i < table.blocks().size(); ++i) {
        const auto& block = table.blocks()[i];
        digest.add(block.name);
        digest.add(i < plan.homes.size() ? to_string(plan.homes[i]) : std::string{});
        for (const auto& tensor : block.tensors) {
            digest.add(tensor.name);
            digest.add(to_string(tensor.type));
            for (const auto axis : tensor.shape) digest.add(static_cast<std::uint64_t>(axis));
            digest.add(tensor.bytes.count());
        }
    }
    return digest.text();
}

}  // namespace ballast::plan
