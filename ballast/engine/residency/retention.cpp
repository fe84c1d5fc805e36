#include "ballast/engine/residency/retention.hpp"

namespace ballast::residency {

std::string_view to_string(Retention retention) {
    return retention == Retention::keep ? "keep" : "release";
}

std::optional<Retention> parse_retention(std::string_view text) {
    for (const auto each : {Retention::release, Retention::keep})
        if (text == to_string(each)) return each;
    return std::nullopt;
}

bool is_named(std::string_view wanted, std::string_view model, const std::filesystem::path& file) {
    return wanted == model || wanted == file.string() || wanted == file.filename().string();
}

bool can_be_ejected(RetentionFlag flag) {
    return flag.value == Retention::release || !flag.is_said;
}

Standing standing_of(RetentionFlag flag) {
    if (flag.value == Retention::keep) return Standing::retained;
    return flag.is_said ? Standing::flagged : Standing::ordinary;
}

}  // namespace ballast::residency
