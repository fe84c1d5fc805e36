#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ballast/engine/plan/distorch2.hpp"

namespace ballast::plan {
namespace {

using Parts = std::vector<std::pair<DeviceId, std::string>>;

Error refusal(std::string_view entry, std::string why) {
    return {.code = Code::usage,
            .what = "allocation string, read as DisTorch2 does",
            .why = std::move(why),
            .place = {.key = std::string(entry)},
            .hint = "leave out --placement distorch2, which reads more forms"};
}

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    for (std::size_t begin = 0; begin <= text.size();) {
        const auto stop = std::min(text.find(separator, begin), text.size());
        parts.push_back(text.substr(begin, stop - begin));
        begin = stop + 1;
    }
    return parts;
}

/// The longest start of `text` that is digits with at most one point between digits.
std::string_view leading_number(std::string_view text) {
    constexpr std::string_view kDigits = "0123456789";
    auto length = std::min(text.find_first_not_of(kDigits), text.size());
    if (length > 0 && length + 1 < text.size() && text[length] == '.') {
        const auto stop = std::min(text.find_first_not_of(kDigits, length + 1), text.size());
        if (stop > length + 1) length = stop;
    }
    return text.substr(0, length);
}

/// bytes / total to four decimals, ties to even.
std::string four_decimals(const Wide& bytes, Bytes total) {
    const Wide whole{total.count()};
    const auto scaled = bytes * Wide{10'000};
    auto steps = scaled / whole;
    const auto twice_rest = scaled % whole * Wide{2};
    const bool is_odd = !(steps % Wide{2}).is_zero();
    if (twice_rest > whole || (twice_rest == whole && is_odd)) steps += Wide{1};
    auto digits = steps.text();
    if (digits.size() < 5) digits.insert(0, 5 - digits.size(), '0');
    return digits.insert(digits.size() - 4, ".");
}

class FractionWriter {
public:
    explicit FractionWriter(const Distorch2Request& request) : request_(request) {
        for (const auto& block : request.blocks)
            if (!block.is_loose) total_ += block.bytes.count();
    }

    Result<Distorch2Fractions> write() {
        const std::string_view text = request_.text;
        const auto hash = std::min(text.find('#'), text.size());
        const auto tail = split(text.substr(std::min(hash + 1, text.size())), ';');
        made_.compute = request_.machine.compute;
        if (!tail[0].empty() && tail[0] != "None") {
            const auto compute = device_of(tail[0]);
            if (!compute) return fail(compute.error());
            made_.compute = *compute;
        }
        const auto expert = text.substr(0, hash);
        auto fault = expert.empty() ? write_virtual(tail) : write_expert(expert);
        if (fault) return fail(std::move(*fault));
        for (const auto& present : request_.machine.devices)
            if (present.id.kind != DeviceKind::disk && find(present.id) == made_.parts.end())
                made_.parts.emplace_back(present.id, "0.0");
        return std::move(made_);
    }

private:
    /// One "device,amount" as typed.
    struct Entry {
        std::string_view typed{};
        DeviceId device{};
        std::string_view amount{};
    };

    Parts::iterator find(DeviceId device) {
        return std::find_if(made_.parts.begin(), made_.parts.end(),
                            [device](const auto& part) { return part.first == device; });
    }

    /// A device named again keeps its place and takes the later amount.
    void set(DeviceId device, std::string fraction) {
        const auto known = find(device);
        if (known != made_.parts.end()) {
            known->second = std::move(fraction);
        } else {
            made_.parts.emplace_back(device, std::move(fraction));
        }
    }

    std::optional<Error> set_bytes(std::string_view typed, DeviceId device, const Wide& bytes) {
        const auto total = total_of(request_.machine.devices, device);
        if (!total || total->is_zero())
            return refusal(typed, "the memory of " + to_string(device) + " is unknown");
        set(device, four_decimals(bytes, *total));
        return std::nullopt;
    }

    [[nodiscard]] Result<DeviceId> device_of(std::string_view name) const {
        const auto device = parse_device(name);
        const auto& devices = request_.machine.devices;
        const bool is_present =
            device && device->kind != DeviceKind::disk &&
            std::any_of(devices.begin(), devices.end(),
                        [&](const auto& present) { return present.id == *device; });
        if (!is_present) return fail(refusal(name, "unknown device"));
        return *device;
    }

    [[nodiscard]] Result<std::vector<Entry>> entries_of(std::string_view expert) const {
        std::vector<Entry> entries;
        for (const auto typed : split(expert, ';')) {
            const auto comma = typed.find(',');
            if (comma == std::string_view::npos) continue;
            const auto device = device_of(typed.substr(0, comma));
            if (!device) return fail(device.error());
            entries.push_back({typed, *device, typed.substr(comma + 1)});
        }
        return entries;
    }

    std::optional<Error> write_expert(std::string_view expert) {
        const auto entries = entries_of(expert);
        if (!entries) return entries.error();
        if (expert.find_first_of("gmkbGMKB") != std::string_view::npos)
            return write_bytes(*entries);
        return expert.find('%') != std::string_view::npos ? write_shares(*entries)
                                                          : write_as_typed(*entries);
    }

    std::optional<Error> write_bytes(const std::vector<Entry>& entries);
    std::optional<Error> write_shares(const std::vector<Entry>& entries);
    std::optional<Error> write_as_typed(const std::vector<Entry>& entries);
    std::optional<Error> write_virtual(const std::vector<std::string_view>& tail);

    const Distorch2Request& request_;
    WideBytes total_ = 0;
    Distorch2Fractions made_;
};

/// A number by its beginning, with a unit if one follows: "1e3gb" is one byte.
std::optional<Wide> bytes_by_prefix(std::string_view amount) {
    const auto number = leading_number(amount);
    const auto parsed = Decimal::parse(number);
    if (number.empty() || !parsed) return std::nullopt;
    auto unit = amount.substr(number.size());
    unit.remove_prefix(std::min(unit.find_first_not_of(' '), unit.size()));
    constexpr std::array<std::pair<char, unsigned>, 3> kUnits{{{'k', 10}, {'m', 20}, {'g', 30}}};
    unsigned shift = 0;
    for (const auto& [letter, power] : kUnits)
        if (!unit.empty() && (unit.front() | 0x20) == letter) shift = power;
    return parsed->floor_times(Wide{std::uint64_t{1} << shift});
}

std::optional<Error> FractionWriter::write_bytes(const std::vector<Entry>& entries) {
    Wide left{total_};
    DeviceId rest = kCpu;
    std::vector<std::pair<DeviceId, Wide>> given;
    const auto amount_of = [&given](DeviceId device) {
        return std::find_if(given.begin(), given.end(),
                            [device](const auto& part) { return part.first == device; });
    };
    for (const auto& entry : entries) {
        if (entry.amount.find('*') != std::string_view::npos) {
            rest = entry.device;
            continue;
        }
        const auto bytes = bytes_by_prefix(entry.amount);
        if (!bytes) return refusal(entry.typed, "no amount of bytes");
        if (left.is_zero()) continue;
        const auto taken = std::min(*bytes, left);
        left -= taken;
        if (const auto known = amount_of(entry.device); known != given.end()) {
            known->second = taken;
        } else {
            given.emplace_back(entry.device, taken);
        }
    }
    if (const auto known = amount_of(rest); known != given.end()) {
        known->second += left;
    } else if (!left.is_zero()) {
        given.emplace_back(rest, left);
    }
    for (const auto& [device, bytes] : given)
        if (auto fault = set_bytes(to_string(device), device, bytes)) return fault;
    return std::nullopt;
}

std::optional<Error> FractionWriter::write_shares(const std::vector<Entry>& entries) {
    std::vector<std::pair<Entry, Decimal>> shares;
    unsigned scale = 0;
    for (const auto& entry : entries) {
        const auto number = Decimal::parse(entry.amount.substr(0, entry.amount.find('%')));
        if (!number) return refusal(entry.typed, "no percentage");
        const auto known = std::find_if(shares.begin(), shares.end(), [&](const auto& share) {
            return share.first.device == entry.device;
        });
        if (known != shares.end()) {
            known->second = *number;
        } else {
            shares.emplace_back(entry, *number);
        }
        scale = std::max(scale, number->scale());
    }
    Wide sum;
    for (const auto& [entry, share] : shares) sum += share.at_scale(scale);
    if (sum.is_zero()) return refusal(request_.text, "shares of zero");
    for (const auto& [entry, share] : shares) {
        const auto bytes = share.at_scale(scale) * Wide{total_} / sum;
        if (auto fault = set_bytes(entry.typed, entry.device, bytes)) return fault;
    }
    return std::nullopt;
}

std::optional<Error> FractionWriter::write_as_typed(const std::vector<Entry>& entries) {
    for (const auto& entry : entries) {
        if (!Decimal::parse(entry.amount)) return refusal(entry.typed, "no fraction");
        set(entry.device, std::string(entry.amount));
    }
    return std::nullopt;
}

std::optional<Error> FractionWriter::write_virtual(const std::vector<std::string_view>& tail) {
    if (tail.size() != 3) return refusal(request_.text, "no amount and no donors");
    const auto number = Decimal::parse(tail[1]);
    if (!number) return refusal(tail[1], "no number");
    const auto amount = number->floor_times(Wide{std::uint64_t{1} << 30U}).to_wide_bytes();
    const WideBytes model = request_.counted_bytes ? request_.counted_bytes->count() : total_;
    const auto kept = model > amount ? model - amount : 0;
    if (auto fault = set_bytes(tail[0], made_.compute, Wide{kept})) return fault;
    auto uncovered = amount;
    for (const auto name : split(tail[2], ',')) {
        const auto donor = device_of(name);
        if (!donor) return donor.error();
        const auto memory = total_of(request_.machine.devices, *donor).value_or(Bytes{});
        const auto bytes = std::min<WideBytes>(uncovered, memory.count());
        uncovered -= bytes;
        if (auto fault = set_bytes(name, *donor, Wide{bytes})) return fault;
    }
    return std::nullopt;
}

}  // namespace

Result<Distorch2Fractions> distorch2_fractions(const Distorch2Request& request) {
    return FractionWriter(request).write();
}

}  // namespace ballast::plan
