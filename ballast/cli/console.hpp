#pragma once
// What the program says: results on standard output, everything else on standard error.

#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "ballast/engine/core/bytes.hpp"
#include "ballast/engine/core/result.hpp"

namespace ballast::cli {

/// Members keep the order in which they are documented.
using Json = nlohmann::ordered_json;

/// How results are printed: for people, or as exactly one JSON document.
enum class Form { text, json };

/// {"cuda:0": N} in bytes
Json bytes_json(const std::map<DeviceId, Bytes>& sums);

/// {"cuda:0": {"needed", "available", "missing"}}
Json shortfall_json(const std::map<DeviceId, Shortfall>& shortfall);

/// One error as {"code", "message", "where", "shortfall", "hint"}.
Json to_json(const Error& error);

/// {"error": {...}}
Json error_document(const Error& error);

/// The text of a document: two blanks of indentation, broken UTF-8 replaced, a newline at the end.
std::string to_text(const Json& document);

/// Text on standard error, at once. Nobody can be told that it cannot be written, so a failure says
/// nothing; it never throws, and destructors may call it.
void write_to_stderr(std::string_view text) noexcept;

/// The two streams of the process. One thread.
class Console {
public:
    explicit Console(Form form) : form_(form) {}
    Console(const Console&) = delete;
    Console& operator=(const Console&) = delete;

    [[nodiscard]] Form form() const { return form_; }

    /// Text on standard output; in JSON form it is not printed.
    void say(std::string_view text);
    /// The one document on standard output; in text form it is not printed.
    void print(const Json& document);
    /// "error: ..." and "hint: ..." on standard error, or the document {"error": ...} on standard
    /// output. Returns the exit status that belongs to it.
    int fail(const Error& error);
    /// The lines of `fail` alone, whatever the form.
    static void complain(const Error& error);
    /// One line on standard error.
    static void note(std::string_view line);

    /// From here on, what libraries print on standard output goes to standard error: results alone
    /// go where standard output led.
    void keep_for_results();
    /// Pushes out what is buffered.
    void flush();
    /// Pushes out what is buffered. The exit status, which becomes that of `write_failed` when
    /// standard output could not take everything; a reader that went away is no failure.
    int finish(int status);

private:
    void write(std::string_view text);

    Form form_;
    std::FILE* out_ = stdout;
    int fault_ = 0;  // errno of the first failed write
};

}  // namespace ballast::cli
