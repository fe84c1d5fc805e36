#pragma once
// Expected failures as values: what went wrong, where, and what to do about it.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "ballast/engine/core/device_id.hpp"

namespace ballast {

class Bytes;

/// The kind of failure. Decides the exit status of the command line (see `exit_status`).
enum class Code {
    internal,       ///< a fault of ours
    usage,          ///< an option or an allocation text that means nothing
    not_available,  ///< a feature that does not exist (yet)
    not_found,      ///< a file, folder or name that does not exist
    foreign_file,   ///< a file of another kind than its name says
    corrupt_file,   ///< a file of the right kind, inconsistent or truncated
    unsupported,    ///< well-formed input that we cannot work with
    bad_workflow,   ///< a workflow or profile that does not hold together
    bad_value,      ///< a value out of its range
    io,             ///< the system refused to read or write
    does_not_fit,   ///< refused: more bytes than a limit allows
    out_of_memory,  ///< failed while running
    device_lost,    ///< failed while running
    write_failed,   ///< failed while running: no room for what was made
    interrupted,    ///< stopped by the user
};

/// "corrupt_file" and so on; the stable name in JSON.
std::string_view to_string(Code code);

/// 0..5 and 130 as the command line documents them.
int exit_status(Code code);

/// Where it happened. Only what is known is set.
struct Place {
    std::string file{};
    std::optional<std::uint64_t> offset{};  ///< bytes from the start of the file
    std::string node{};                     ///< node id of a workflow
    std::string key{};                      ///< tensor, input, option or JSON path
    std::optional<std::size_t> column{};    ///< 1-based, in a text

    bool operator==(const Place&) const = default;
};

/// "model.safetensors, offset 12, tensor.name": the known parts joined; empty when none is.
std::string to_string(const Place& place);

/// What a device lacks, in bytes.
struct Shortfall {
    std::uint64_t needed = 0;
    std::uint64_t available = 0;

    [[nodiscard]] std::uint64_t missing() const {
        return needed > available ? needed - available : 0;
    }
    bool operator==(const Shortfall&) const = default;
};

/// What each of several devices lacks.
using Shortfalls = std::map<DeviceId, Shortfall>;

/// "cuda:0: needed 2.00 GiB, available 1.50 GiB, missing 512.00 MiB".
std::string to_string(DeviceId device, const Shortfall& lack);
/// The same for all of them, with semicolons between.
std::string to_string(const Shortfalls& shortfalls);

/// Keeps for each device the larger lack of both.
void keep_worst(Shortfalls& worst, const Shortfalls& others);

/// One expected failure. `what` names the thing that could not be done ("cannot open the model"),
/// `why` the reason; `hint` is the remedy, if there is one.
struct Error {
    Code code = Code::internal;
    std::string what{};
    std::string why{};
    Place place{};
    std::string hint{};
    Shortfalls shortfall{};
};

/// `error: <what>: <where>: <why>` without the leading word and without the hint, on one line;
/// control characters from foreign files are escaped. A column with a key and nothing else is a
/// place in a typed text, whose faulty part the key is: `<what>, column 8 ("<key>"): <why>`.
std::string to_string(const Error& error);

/// The error, at that node of a workflow unless it names one itself.
Error at_node(Error error, const std::string& node);

/// `text` with broken UTF-8 and all characters that steer a terminal (control characters, line
/// separators, overrides of writing direction) replaced by \xNN: one line, safe for terminal and
/// log.
std::string escaped(std::string_view text);

}  // namespace ballast
