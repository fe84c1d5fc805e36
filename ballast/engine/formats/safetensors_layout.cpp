#include "ballast/engine/formats/safetensors_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <tuple>

namespace ballast::formats {
namespace {

constexpr auto kFetchAgain = "the file is damaged or was written wrongly: fetch it again";

Error fault(const LayoutRequest& request, std::uint64_t offset, std::string_view tensor,
            std::string why, std::string hint) {
    return Error{.code = Code::corrupt_file,
                 .what = "the safetensors file is inconsistent",
                 .why = std::move(why),
                 .place = {.file = request.path.string(),
                           .offset = request.data_begin + offset,
                           .key = std::string(tensor)},
                 .hint = std::move(hint)};
}

std::vector<std::uint32_t> order_by_offset(const std::deque<DescribedTensor>& tensors) {
    std::vector<std::uint32_t> order(tensors.size());
    std::iota(order.begin(), order.end(), 0U);
    // by index at last, so that no sorting algorithm can change the result
    const auto comes_before = [&](std::uint32_t a, std::uint32_t b) {
        return std::tie(tensors[a].begin, tensors[a].end, a) <
               std::tie(tensors[b].begin, tensors[b].end, b);
    };
    // writers store the header in the order of the bytes
    if (!std::is_sorted(order.begin(), order.end(), comes_before))
        std::sort(order.begin(), order.end(), comes_before);
    return order;
}

/// Bytes that no tensor owns, with tensors on both sides or in front of the first.
struct Gaps {
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;
    std::uint64_t first_begin = 0;
    std::uint64_t first_bytes = 0;

    void add(std::uint64_t begin, std::uint64_t size) {
        if (count == 0) first_begin = begin, first_bytes = size;
        ++count;
        bytes += size;
    }
};

/// One walk over the tensors in the order of their bytes.
class Walk {
public:
    explicit Walk(const LayoutRequest& request) : request_(request) {}

    std::optional<Error> visit(const DescribedTensor& tensor) {
        if (tensor.begin == tensor.end) return check_presence(tensor);
        if (tensor.begin < covered_) return overlap(tensor);
        if (auto error = check_presence(tensor)) return error;
        if (tensor.begin > covered_) gaps_.add(covered_, tensor.begin - covered_);
        covered_ = tensor.end;
        last_ = &tensor;
        return std::nullopt;
    }

    std::optional<Error> finish(std::vector<std::string>& warnings) {
        if (gaps_.count != 0) {
            auto text = describe_gaps();
            if (!request_.options.accept_gaps)
                return fault(request_, gaps_.first_begin, {}, std::move(text), kFetchAgain);
            warnings.push_back(std::move(text));
        }
        const auto trailing = request_.file_size - request_.data_begin - covered_;
        if (trailing == 0) return std::nullopt;
        auto text = fmt::format("{} bytes follow the last tensor and belong to none", trailing);
        if (request_.options.strict)
            return fault(request_, covered_, {}, std::move(text), kFetchAgain);
        warnings.push_back(std::move(text));
        return std::nullopt;
    }

private:
    /// Comparisons only: ends may lie anywhere below 2^64.
    std::optional<Error> check_presence(const DescribedTensor& tensor) const {
        const auto present = request_.file_size - request_.data_begin;
        if (tensor.end <= present) return std::nullopt;
        if (tensor.end > std::numeric_limits<std::uint64_t>::max() - request_.data_begin)
            return fault(request_, 0, tensor.name,
                         fmt::format("its bytes would end at {}, far beyond any file", tensor.end),
                         kFetchAgain);
        return fault(request_, present, tensor.name,
                     fmt::format("truncated: {} of {} bytes present", request_.file_size,
                                 request_.data_begin + furthest_end()),
                     "the download or copy was cut off: fetch the file again");
    }

    /// Where the file would have to end, as far as such an end makes sense.
    [[nodiscard]] std::uint64_t furthest_end() const {
        const auto most = std::numeric_limits<std::uint64_t>::max() - request_.data_begin;
        std::uint64_t furthest = 0;
        for (const auto& tensor : request_.tensors)
            if (tensor.end <= most) furthest = std::max(furthest, tensor.end);
        return furthest;
    }

    [[nodiscard]] std::optional<Error> overlap(const DescribedTensor& tensor) const {
        auto why = last_->name == tensor.name
                       ? fmt::format("two tensors are called {}", quoted(tensor.name))
                       : fmt::format("tensors {} and {} share the bytes {} to {} behind the header",
                                     quoted(last_->name), quoted(tensor.name), tensor.begin,
                                     std::min(covered_, tensor.end));
        return fault(request_, tensor.begin, tensor.name, std::move(why), kFetchAgain);
    }

    [[nodiscard]] std::string describe_gaps() const {
        const auto place = request_.data_begin + gaps_.first_begin;
        if (gaps_.count == 1)
            return fmt::format("{} bytes at offset {} belong to no tensor", gaps_.bytes, place);
        return fmt::format("{} bytes in {} places belong to no tensor, the first {} at offset {}",
                           gaps_.bytes, gaps_.count, gaps_.first_bytes, place);
    }

    const LayoutRequest& request_;
    std::uint64_t covered_ = 0;
    const DescribedTensor* last_ = nullptr;
    Gaps gaps_;
};

}  // namespace

Result<Layout> lay_out(const LayoutRequest& request) {
    Layout layout{.order = order_by_offset(request.tensors), .warnings = {}};
    Walk walk(request);
    for (const auto index : layout.order)
        if (auto error = walk.visit(request.tensors[index])) return fail(*std::move(error));
    if (auto error = walk.finish(layout.warnings)) return fail(*std::move(error));
    return layout;
}

}  // namespace ballast::formats
