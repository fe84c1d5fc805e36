#pragma once
// Reads the members of JSON objects, remembering the path to each, for errors that name it.
//
// The first refusal is kept and reading goes on with unknown values, so that readers are plain
// lists of members. Members that nobody asked for are reported with the nearest name.

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ballast/engine/core/bytes.hpp"
#include "ballast/engine/core/device_id.hpp"
#include "ballast/engine/core/error.hpp"

namespace ballast::machine {

using Json = nlohmann::json;

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

/// One object. Its destructor warns about the members that were not asked for.
class JsonMembers {
public:
    /// `value` and `findings` must outlive this.
    JsonMembers(const Json& value, std::string path, JsonFindings& findings);
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
    [[nodiscard]] std::string path_of(std::string_view key) const;
    const Json* find(std::string_view key);
    std::optional<double> number(std::string_view key, double least, std::string_view form);

    const Json* value_;
    std::string path_;
    JsonFindings* findings_;
    std::vector<std::string_view> asked_{};
};

}  // namespace ballast::machine
