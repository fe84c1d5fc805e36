#include "ballast/models/sd/declared_config.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

namespace ballast::models::sd {
namespace {

using nlohmann::json;

constexpr std::int64_t kLargestNumber = std::int64_t{1} << 20;
constexpr std::size_t kLongestList = 1024;

Error config_error(const formats::TensorDirectory& directory, const std::string& source, Code code,
                   std::string why) {
    Error error;
    error.code = code;
    error.what = "cannot use this model";
    error.why = std::move(why);
    error.place.file = directory.path().string();
    error.place.key = "metadata " + source;
    error.hint =
        code == Code::corrupt_file
            ? fmt::format("correct the entry {} in the file's metadata, or remove it", source)
            : "use a Stable Diffusion 1.x file";
    return error;
}

/// A positive (or zero, in lists) integer of sensible size.
std::optional<std::int64_t> as_number(const json& value) {
    if (!value.is_number_integer()) return std::nullopt;
    if (value.is_number_unsigned() &&
        value.get<std::uint64_t>() > static_cast<std::uint64_t>(kLargestNumber))
        return std::nullopt;
    const auto number = value.get<std::int64_t>();
    if (number < 0 || number > kLargestNumber) return std::nullopt;
    return number;
}

std::optional<std::vector<std::int64_t>> as_numbers(const json& value) {
    if (!value.is_array()) {
        const auto number = as_number(value);
        if (!number) return std::nullopt;
        return std::vector{*number};
    }
    if (value.size() > kLongestList) return std::nullopt;
    std::vector<std::int64_t> numbers;
    for (const auto& element : value) {
        const auto number = as_number(element);
        if (!number) return std::nullopt;
        numbers.push_back(*number);
    }
    return numbers;
}

/// Reads members and remembers the first one that is wrong.
class Reader {
public:
    explicit Reader(const json& root) : root_(root) {}

    [[nodiscard]] const std::string& fault() const { return fault_; }

    std::optional<std::int64_t> positive(std::string_view part, std::string_view name) {
        const auto* value = member(part, name);
        if (value == nullptr) return std::nullopt;
        const auto number = as_number(*value);
        if (!number || *number == 0) {
            blame(fmt::format("{}.{}", part, name), "a positive integer");
            return std::nullopt;
        }
        return number;
    }

    void numbers(std::string_view part, std::string_view name, std::vector<DeclaredNumbers>& out) {
        const auto* value = member(part, name);
        if (value == nullptr) return;
        const auto key = fmt::format("{}.{}", part, name);
        if (auto list = as_numbers(*value))
            out.push_back({key, *std::move(list)});
        else
            blame(key, "an integer or a list of integers");
    }

    std::optional<NormGroups> norm_groups() {
        const auto found = root_.find("norm_groups");
        if (found == root_.end()) return std::nullopt;
        constexpr auto kWanted = "a positive integer or {\"max\": n, \"channels_per_group\": n}";
        NormGroups groups;
        if (found->is_object()) {
            const auto max = number_in(*found, "max");
            const auto channels = number_in(*found, "channels_per_group");
            if (!max || !channels) return blame("norm_groups", kWanted), std::nullopt;
            return NormGroups{*max, *channels};
        }
        const auto number = as_number(*found);
        if (!number || *number == 0) return blame("norm_groups", kWanted), std::nullopt;
        groups.max = *number;
        return groups;
    }

private:
    static std::optional<std::int64_t> number_in(const json& object, const char* name) {
        const auto found = object.find(name);
        if (found == object.end()) return std::nullopt;
        const auto number = as_number(*found);
        return number && *number > 0 ? number : std::nullopt;
    }

    const json* member(std::string_view part, std::string_view name) {
        const auto object = root_.find(part);
        if (object == root_.end()) return nullptr;
        if (!object->is_object()) {
            blame(std::string(part), "an object");
            return nullptr;
        }
        const auto found = object->find(name);
        return found == object->end() ? nullptr : &*found;
    }

    void blame(const std::string& key, std::string_view wanted) {
        if (fault_.empty()) fault_ = fmt::format("{} must be {}", key, wanted);
    }

    const json& root_;
    std::string fault_;
};

constexpr std::array kUNetNumbers{
    "in_channels",    "out_channels",      "model_channels",           "channel_mult",
    "num_res_blocks", "transformer_depth", "transformer_depth_middle", "transformer_depth_output",
    "context_dim"};
constexpr std::array kClipNumbers{"hidden_size", "num_hidden_layers", "intermediate_size"};
constexpr std::array kVaeNumbers{"ch", "ch_mult", "num_res_blocks", "z_channels", "embed_dim"};

}  // namespace

Result<DeclaredConfig> declared_config(const formats::TensorDirectory& directory) {
    DeclaredConfig declared;
    auto entry = directory.metadata().find("ballast.config");
    if (entry == directory.metadata().end()) entry = directory.metadata().find("tiny_config");
    if (entry == directory.metadata().end()) return declared;
    declared.source = entry->first;

    const auto root = json::parse(entry->second, nullptr, false);
    if (!root.is_object())
        return fail(config_error(directory, declared.source, Code::corrupt_file,
                                 "the text is not a JSON object"));
    // A component file may declare its own numbers only, without naming a family.
    if (const auto family = root.find("family");
        family != root.end() && (!family->is_string() || *family != "sd15"))
        return fail(
            config_error(directory, declared.source, Code::unsupported,
                         fmt::format("the file declares the family {}; Ballast runs sd15 so far",
                                     family->dump(-1, ' ', true, json::error_handler_t::replace))));

    Reader reader(root);
    declared.unet_heads = reader.positive("unet", "num_heads");
    declared.clip_heads = reader.positive("clip_l", "num_attention_heads");
    declared.norm_groups = reader.norm_groups();
    for (const auto* name : kUNetNumbers) reader.numbers("unet", name, declared.numbers);
    for (const auto* name : kClipNumbers) reader.numbers("clip_l", name, declared.numbers);
    for (const auto* name : kVaeNumbers) reader.numbers("vae", name, declared.numbers);
    if (!reader.fault().empty())
        return fail(config_error(directory, declared.source, Code::corrupt_file, reader.fault()));
    return declared;
}

Result<void> require_agreement(const formats::TensorDirectory& directory,
                               const DeclaredConfig& declared,
                               const std::vector<DeclaredNumbers>& derived) {
    for (const auto& stated : declared.numbers) {
        const auto found = std::ranges::find(derived, stated.key, &DeclaredNumbers::key);
        if (found == derived.end() || found->values == stated.values) continue;
        return fail(config_error(
            directory, declared.source, Code::corrupt_file,
            fmt::format("{} is declared as {}, but the tensors say {}", stated.key,
                        fmt::join(stated.values, ", "), fmt::join(found->values, ", "))));
    }
    return {};
}

}  // namespace ballast::models::sd
