#include "ballast/graph/json.hpp"
#include "ballast/engine/core/text_position.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <vector>

namespace ballast::graph {

namespace {

/// An object's members as the plain sequence that they are stored in. Appending to it does not look
/// for an equal key, which the map's own interface does, one by one.
Json::object_t::Container& sequence(Json::object_t& object) { return object; }

/// Positions of an object's members, kept once it is too large for looking through.
class MemberIndex {
public:
    /// The slot for a member of that name, appended if it is new.
    Json& slot(Json::object_t& object, std::string& key) {
        constexpr std::size_t kLinear = 16;
        if (object.size() < kLinear) {
            for (auto& [name, value] : object)
                if (name == key) return value;
        } else {
            if (positions_.empty())
                for (std::size_t i = 0; i < object.size(); ++i)
                    positions_.emplace(sequence(object)[i].first, i);
            const auto [found, is_new] = positions_.emplace(key, object.size());
            if (!is_new) return sequence(object)[found->second].second;
        }
        return sequence(object).emplace_back(std::move(key), nullptr).second;
    }

private:
    std::unordered_map<std::string, std::size_t> positions_;
};

/// Builds a value from the parser's events. Unlike the library's own builder it needs linear time
/// for large objects and refuses deep nesting.
class Builder {
public:
    explicit Builder(Json& root) : root_(root) {}

    [[nodiscard]] const std::string& error() const { return error_; }
    /// Where the parser stopped, in bytes from the start; 0 if it does not tell.
    [[nodiscard]] std::size_t error_position() const { return error_position_; }

    // The names below are the library's.
    bool null() { return put(nullptr); }
    bool boolean(bool value) { return put(value); }
    bool number_integer(Json::number_integer_t value) { return put(value); }
    bool number_unsigned(Json::number_unsigned_t value) { return put(value); }
    bool number_float(Json::number_float_t value, const std::string&) { return put(value); }
    bool string(std::string& value) { return put(std::move(value)); }
    bool binary(Json::binary_t&) { return false; }
    bool start_object(std::size_t) { return open(Json::object()); }
    bool start_array(std::size_t) { return open(Json::array()); }
    bool end_object() { return close(); }
    bool end_array() { return close(); }
    bool key(std::string& name) {
        Level& level = levels_.back();
        level.member = &level.index.slot(level.value->get_ref<Json::object_t&>(), name);
        return true;
    }
    bool parse_error(std::size_t position, const std::string&,
                     const nlohmann::detail::exception& e) {
        error_position_ = position;
        // "[json.exception.parse_error.101] parse error at line 1, column 5: syntax error ...", or
        // "[json.exception.out_of_range.406] number overflow ...": the reason only
        error_ = e.what();
        error_.erase(0, error_.find("] ") + 2);
        if (error_.starts_with("parse error")) error_.erase(0, error_.find(": ") + 2);
        return false;
    }

private:
    struct Level {
        Json* value = nullptr;
        Json* member = nullptr;  ///< where an object's next value goes
        MemberIndex index = {};
    };

    Json* place() {
        if (levels_.empty()) return &root_;
        Level& level = levels_.back();
        if (level.value->is_object()) return level.member;
        auto& elements = level.value->get_ref<Json::array_t&>();
        elements.emplace_back();
        return &elements.back();
    }

    bool put(Json value) {
        *place() = std::move(value);
        return true;
    }

    bool open(Json value) {
        if (levels_.size() == kMaxJsonDepth) {
            error_ = fmt::format("nested deeper than {} levels", kMaxJsonDepth);
            return false;
        }
        Json* where = place();
        *where = std::move(value);
        levels_.push_back({.value = where});
        return true;
    }

    bool close() {
        levels_.pop_back();
        return true;
    }

    Json& root_;
    std::vector<Level> levels_;
    std::string error_;
    std::size_t error_position_ = 0;
};

/// `text` with the bare words that Python writes for numbers which JSON lacks replaced by null.
/// Offsets change only behind the first of them.
std::string without_non_numbers(std::string_view text) {
    std::string clean;
    clean.reserve(text.size());
    bool in_string = false;
    for (std::size_t i = 0; i < text.size();) {
        if (in_string && text[i] == '\\' && i + 1 < text.size()) {
            clean += text.substr(i, 2);
            i += 2;
            continue;
        }
        if (text[i] == '"') in_string = !in_string;
        const auto rest = in_string ? std::string_view{} : text.substr(i);
        const auto word = [&](std::string_view name) {
            if (!rest.starts_with(name)) return false;
            clean += "null";
            i += name.size();
            return true;
        };
        if (word("NaN") || word("Infinity") || word("-Infinity")) continue;
        clean += text[i++];
    }
    return clean;
}

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace

Result<Json> parse_json(std::string_view text, const std::string& source) {
    if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    std::string replaced;
    if (text.find("NaN") != std::string_view::npos ||
        text.find("Infinity") != std::string_view::npos) {
        replaced = without_non_numbers(text);
        text = replaced;
    }
    // the parser takes a zero character for the end and what follows for nothing
    if (const auto zero = text.find('\0'); zero != std::string_view::npos)
        return fail({.code = Code::bad_workflow,
                     .what = "this is not JSON",
                     .why = line_and_column(text, zero) + ": a zero character",
                     .place = {.file = source},
                     .hint = "export the workflow again; this file is damaged"});
    Json root;
    Builder builder(root);
    if (Json::sax_parse(text, &builder)) return root;
    std::string why = builder.error();
    if (builder.error_position() != 0)
        why = line_and_column(text, builder.error_position() - 1) + ": " + why;
    return fail({.code = Code::bad_workflow,
                 .what = "this is not JSON",
                 .why = std::move(why),
                 .place = {.file = source},
                 .hint = "export the workflow again, or mend the text at that place"});
}

void append_member(Json& object, std::string key, Json value) {
    sequence(object.get_ref<Json::object_t&>()).emplace_back(std::move(key), std::move(value));
}

const Json* find_member(const Json& object, std::string_view key) {
    if (!object.is_object()) return nullptr;
    for (const auto& [name, value] : object.get_ref<const Json::object_t&>())
        if (name == key) return &value;
    return nullptr;
}

}  // namespace ballast::graph
