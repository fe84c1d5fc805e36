#include <fmt/format.h>

#include <algorithm>

#include "ballast/engine/plan/allocation_reader.hpp"

namespace ballast::plan {
namespace {

/// One entry as typed, with the places that faults of the whole text refer to.
struct TypedEntry {
    PolicyEntry entry{};
    TextPart part{};
    std::size_t value_at = 0;

    [[nodiscard]] bool is_nothing() const {
        return entry.bytes.is_zero() && entry.number.is_zero();
    }
};

/// Reads the entries before '#'.
class ExpertReader {
public:
    ExpertReader(const AllocationText& text, Policy& policy) : text_(text), policy_(policy) {}

    std::optional<Error> read(std::size_t end) {
        for (std::size_t begin = 0; begin <= end;) {
            const auto stop = text_.find(';', begin, end);
            const auto part = text_.trimmed(begin, stop);
            begin = stop + 1;
            if (part.is_empty()) continue;
            if (++count_ > kMostEntries)
                return text_.fault(part, part.begin,
                                   {.why = fmt::format("more than {} entries", kMostEntries),
                                    .hint = "leave out devices that get nothing"});
            if (auto fault = read_entry(part, stop)) return fault;
        }
        return count_ == 0 ? std::nullopt : finish();
    }

private:
    /// `stop` is where the next entry's ';' or the end stands: there a missing thing is missed.
    std::optional<Error> read_entry(TextPart part, std::size_t stop) {
        TextPart rest{part.begin, stop};
        const auto device = text_.read_device(rest, part);
        if (!device) return device.error();
        if (std::find(devices_.begin(), devices_.end(), *device) != devices_.end())
            return text_.fault(
                part, part.begin,
                {.why = std::string(kListedTwice), .hint = "give each device one entry"});
        devices_.push_back(*device);
        if (text_.of(rest).substr(0, 1) != ",")
            return text_.fault(part, rest.begin,
                               {.why = "expected ',' as the separator of device and amount",
                                .hint = "write it as cuda:0,2.5gb;cpu,*"});
        const auto value = text_.trimmed(rest.begin + 1, stop);
        if (value.is_empty())
            return text_.fault(
                part, value.begin,
                {.why = "expected an amount after ','", .hint = "write 2.5gb, 25%, 0.5 or *"});
        auto read = read_value(text_.of(value));
        if (!read) return text_.fault(part, value.begin, std::move(read.error()));
        return accept({.entry = {.device = *device}, .part = part, .value_at = value.begin}, *read);
    }

    std::optional<Error> accept(TypedEntry typed, const AllocationValue& value) {
        const auto& part = typed.part;
        if (value.is_rest && policy_.rest)
            return text_.fault(
                part, part.begin,
                {.why = fmt::format("only one rest marker '*' is possible; one rest marker stands "
                                    "at {} already",
                                    to_string(*policy_.rest)),
                 .hint = "give one of them an amount"});
        if (value.mode && mode_ && *value.mode != *mode_)
            return text_.fault(
                part, part.begin,
                {.why = fmt::format("mixed modes: {} and {}", to_string(*mode_),
                                    to_string(*value.mode)),
                 .hint =
                     "write all amounts in bytes (2gb), all as shares (25%) or all as fractions "
                     "of a device (0.5)"});
        if (value.mode) mode_ = value.mode;
        if (auto fault = set_amount(typed, value)) return fault;
        if (value.is_rest) {
            policy_.rest = typed.entry.device;
            if (value.mode) policy_.advisory = typed.entry.bytes;
        } else {
            typed_.push_back(typed);
        }
        return std::nullopt;
    }

    std::optional<Error> set_amount(TypedEntry& typed, const AllocationValue& value) {
        const auto refuse = [&](std::string why, std::string hint) {
            return text_.fault(typed.part, typed.value_at, {std::move(why), std::move(hint)});
        };
        const auto device = typed.entry.device;
        const auto total = total_of(text_.context().devices, device);
        if (value.mode == Mode::bytes) {
            const auto bytes = value.bytes();
            if (!bytes) return refuse("too large: more than 2^63 bytes", "write * for the rest");
            typed.entry.bytes = *bytes;
            if (total && *bytes > *total)
                policy_.warnings.push_back(text_.warning(
                    typed.part, typed.value_at,
                    fmt::format("more than the {} of {}", to_string(*total), to_string(device))));
            return std::nullopt;
        }
        typed.entry.number = value.number;
        if (value.mode != Mode::fraction) return std::nullopt;
        if (value.number.exceeds(1))
            return refuse(fmt::format("{} without a unit is a fraction of the device, from 0 to 1; "
                                      "did you mean %?",
                                      value.number.text()),
                          fmt::format("write {0}gb or {0}%", value.number.text()));
        if (!total)
            return refuse(fmt::format("the memory of {} is unknown, so no fraction of it either",
                                      to_string(device)),
                          "write an amount in bytes");
        return std::nullopt;
    }

    std::optional<Error> finish() {
        policy_.mode = mode_.value_or(Mode::bytes);
        const auto is_nothing = [](const TypedEntry& typed) { return typed.is_nothing(); };
        if (!policy_.rest && std::all_of(typed_.begin(), typed_.end(), is_nothing))
            return text_.fault(typed_.front().part, typed_.front().value_at,
                               {.why = "every amount is zero and no '*' takes the rest",
                                .hint = "add the rest marker: cpu,*"});
        if (auto fault = check_percentages()) return fault;
        for (const auto& typed : typed_)
            if (!typed.is_nothing() || remainder_of(policy_) == typed.entry.device)
                policy_.entries.push_back(typed.entry);
        if (policy_.entries.empty()) policy_.mode = Mode::bytes;
        if (policy_.mode == Mode::ratio && !policy_.rest) normalise_shares(policy_.entries);
        return std::nullopt;
    }

    /// With a rest marker, percentages are of the model and cannot be more than all of it.
    std::optional<Error> check_percentages() const {
        if (policy_.mode != Mode::ratio || !policy_.rest) return std::nullopt;
        unsigned scale = 0;
        for (const auto& typed : typed_) scale = std::max(scale, typed.entry.number.scale());
        Wide sum;
        for (const auto& typed : typed_) {
            sum += typed.entry.number.at_scale(scale);
            if (sum > Wide{100} * Wide::power_of_ten(scale))
                return text_.fault(
                    typed.part, typed.value_at,
                    {.why = fmt::format("the percentages add up to {}, too large beside a rest "
                                        "marker: more than 100",
                                        Decimal::scaled(sum, scale).text()),
                     .hint = "lower them, or leave out the rest marker"});
        }
        return std::nullopt;
    }

    const AllocationText& text_;
    Policy& policy_;
    std::optional<Mode> mode_;
    std::vector<DeviceId> devices_;
    std::vector<TypedEntry> typed_;
    std::size_t count_ = 0;
};

}  // namespace

std::optional<Error> read_expert(const AllocationText& text, std::size_t end, Policy& policy) {
    return ExpertReader(text, policy).read(end);
}

}  // namespace ballast::plan
