#include <fmt/format.h>

#include <algorithm>

#include "ballast/engine/plan/allocation_reader.hpp"

namespace ballast::plan {
namespace {

constexpr unsigned kMostGib = 128;

/// Reads what stands behind '#': compute device, GiB to free, donors.
class TailReader {
public:
    TailReader(const AllocationText& text, std::size_t begin, Policy& policy)
        : text_(text),
          policy_(policy),
          has_entries_(policy.mode != Mode::automatic),
          begin_(begin),
          end_(text.size()),
          shown_(text.trimmed(begin, end_)) {
        // nothing follows a last ';'
        while (end_ > begin_ && text_.of(text_.trimmed(begin_, end_)).ends_with(';'))
            end_ = text_.trimmed(begin_, end_).end - 1;
    }

    std::optional<Error> read() {
        if (const auto again = text_.find('#', begin_, text_.size()); again != text_.size())
            return fault(again, "a second '#'", "the text has one '#', before the compute device");
        const auto compute_end = text_.find(';', begin_, end_);
        if (auto wrong = read_compute({begin_, compute_end})) return wrong;
        if (compute_end == end_) return std::nullopt;
        const auto amount_end = text_.find(';', compute_end + 1, end_);
        if (auto wrong = read_amount(text_.trimmed(compute_end + 1, amount_end))) return wrong;
        if (amount_end == end_)
            return fault(text_.size(), "the donor list is empty", "name a donor: #cuda:0;4.0;cpu");
        const auto donors_end = text_.find(';', amount_end + 1, end_);
        for (auto begin = amount_end + 1; begin <= donors_end;) {
            const auto stop = text_.find(',', begin, donors_end);
            if (auto wrong = read_donor({text_.trimmed(begin, stop).begin, stop})) return wrong;
            begin = stop + 1;
        }
        if (donors_end != end_)
            return fault(donors_end, "expected the end of the text",
                         "three parts follow '#': compute device; GiB; donors");
        settle();
        return std::nullopt;
    }

private:
    [[nodiscard]] Error fault(std::size_t at, std::string why, std::string hint) const {
        return text_.fault(shown_, at, {.why = std::move(why), .hint = std::move(hint)});
    }

    [[nodiscard]] static bool is_none(std::string_view name) {
        constexpr std::string_view kUpper = "NONE";
        constexpr std::string_view kLower = "none";
        if (name.size() != kUpper.size()) return false;
        for (std::size_t i = 0; i < name.size(); ++i)
            if (name[i] != kUpper[i] && name[i] != kLower[i]) return false;
        return true;
    }

    std::optional<Error> read_compute(TextPart open) {
        auto part = text_.trimmed(open.begin, open.end);
        if (part.is_empty() || is_none(text_.of(part))) return std::nullopt;
        const auto at = part.begin;
        const auto device = text_.read_device(part, shown_);
        if (!device) return device.error();
        if (!part.is_empty())
            return fault(part.begin, "expected ';' or the end after the compute device",
                         "write it as #cuda:0 or #cuda:0;4.0;cpu");
        if (device->kind == DeviceKind::disk)
            return fault(at, "disk stores only and cannot compute", "name a device that computes");
        policy_.compute = *device;
        return std::nullopt;
    }

    std::optional<Error> read_amount(TextPart part) {
        if (part.is_empty())
            return fault(part.end, "expected the number of GiB to free",
                         "write it as #cuda:0;4.0;cpu");
        auto number = read_number(text_.of(part));
        if (!number) return text_.fault(shown_, part.begin, std::move(number.error()));
        if (number->exceeds(kMostGib))
            return fault(part.begin, fmt::format("too large: more than {} GiB", kMostGib),
                         "write how many GiB the compute device shall free");
        amount_ = number->floor_times(Wide{std::uint64_t{1} << 30U}).to_bytes();
        return std::nullopt;
    }

    std::optional<Error> read_donor(TextPart part) {
        const auto at = part.begin;
        const auto device = text_.read_device(part, shown_);
        if (!device) return device.error();
        if (!part.is_empty())
            return fault(part.begin, "expected ',' or the end after a donor",
                         "separate donors by ',': cuda:1,cpu");
        if (std::find(named_.begin(), named_.end(), *device) != named_.end())
            return fault(at, std::string(kListedTwice), "name each donor once");
        named_.push_back(*device);
        if (named_.size() > kMostEntries)
            return fault(at, fmt::format("more than {} donors", kMostEntries), "name fewer donors");
        if (*device != policy_.compute) {
            donors_.push_back(*device);
        } else {
            policy_.warnings.push_back(
                text_.warning(shown_, at, "the compute device cannot be its own donor; ignored"));
        }
        return std::nullopt;
    }

    void settle() {
        if (amount_.is_zero()) return;
        const auto warn = [this](std::string why) {
            policy_.warnings.push_back(text_.warning(shown_, shown_.begin, std::move(why)));
        };
        if (has_entries_)
            return warn(fmt::format("the entries before '#' decide; {} to free is ignored",
                                    to_string(amount_)));
        if (donors_.empty()) return warn("no donor is left; nothing is distributed");
        policy_.mode = Mode::virtual_vram;
        policy_.virtual_bytes = amount_;
        policy_.donors = std::move(donors_);
    }

    const AllocationText& text_;
    Policy& policy_;
    bool has_entries_;
    std::size_t begin_;
    std::size_t end_;
    TextPart shown_;
    Bytes amount_{};
    std::vector<DeviceId> named_;
    std::vector<DeviceId> donors_;
};

}  // namespace

std::optional<Error> read_tail(const AllocationText& text, std::size_t begin, Policy& policy) {
    return TailReader(text, begin, policy).read();
}

}  // namespace ballast::plan
