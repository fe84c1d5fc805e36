#pragma once
// Reads JSON objects member by member, remembering the path to each, for errors that name it.
//
// The first refusal is kept and reading goes on with unknown values, so that readers are plain
// lists of members. Members that nobody asked for are reported with the nearest name.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ballast/engine/core/bytes.hpp"
#include "ballast/engine/core/device_id.hpp"
#include "ballast/engine/core/error.hpp"
#include "ballast/engine/core/result.hpp"

namespace ballast {

struct JsonFindings {
    struct Refusal {
        Code code;
        std::string path;
        std::string why;
        std::string hint;
    };

    /// Keeps the first.
    void refuse(Code code, std::string path, std::string why, std::string hint);

    std::optional<Refusal> refusal{};
    std::vector<std::string> warnings{};
};

/// One object of a document, which it must not outlive. Its destructor warns about the members
/// that were not asked for.
class JsonMembers {
public:
    JsonMembers(JsonMembers&& other) noexcept;
    JsonMembers(const JsonMembers&) = delete;
    JsonMembers& operator=(const JsonMembers&) = delete;
    JsonMembers& operator=(JsonMembers&&) = delete;
    ~JsonMembers();

    [[nodiscard]] bool has(std::string_view key);

    // absent and null members give nothing
    std::string text(std::string_view key);
    std::vector<std::string> texts(std::string_view key);
    std::optional<Bytes> bytes(std::string_view key);    ///< a whole number, 0 to 1 EiB
    std::optional<double> rate(std::string_view key);    ///< above 0
    std::optional<double> amount(std::string_view key);  ///< 0 or more
    std::map<std::string, double> rates(std::string_view key);
    std::optional<bool> truth(std::string_view key);       ///< 0, 1, true, false
    std::optional<DeviceId> device(std::string_view key);  ///< needed
    std::optional<JsonMembers> object(std::string_view key);
    std::vector<JsonMembers> objects(std::string_view key);

    /// Keeps the member as the reason why the text is refused.
    void refuse(std::string_view key, std::string why, std::string hint = {});
    /// Lowers `value` to `most` with a warning.
    void at_most(std::string_view key, std::optional<Bytes>& value, std::string_view most_key,
                 std::optional<Bytes> most);

private:
    friend class JsonDocument;
    /// `value` is the object in the JSON library's own type, which no header of ours shows.
    JsonMembers(const void* value, std::string path, JsonFindings& findings);

    [[nodiscard]] std::string path_of(std::string_view key) const;
    const void* find(std::string_view key);
    std::optional<double> number(std::string_view key, double least, std::string_view form);

    const void* value_;
    std::string path_;
    JsonFindings* findings_;
    std::vector<std::string> asked_{};
};

/// A JSON text whose outermost value is an object.
class JsonDocument {
public:
    /// Fails with `corrupt_file`; `why` says where by line and column, all else is the caller's.
    static Result<JsonDocument> parse(std::string_view text);

    JsonDocument(JsonDocument&& other) noexcept;
    JsonDocument& operator=(JsonDocument&& other) noexcept;
    ~JsonDocument();

    /// The outermost object. Both this and `findings` must outlive it.
    [[nodiscard]] JsonMembers members(JsonFindings& findings) const;

private:
    struct Value;
    explicit JsonDocument(std::unique_ptr<Value> value);

    std::unique_ptr<Value> value_;
};

}  // namespace ballast
