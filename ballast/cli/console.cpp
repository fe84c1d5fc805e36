#include "ballast/cli/console.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

namespace ballast::cli {

Json shortfall_json(const std::map<DeviceId, Shortfall>& shortfall) {
    Json list = Json::object();
    for (const auto& [device, lack] : shortfall)
        list[to_string(device)] = {
            {"needed", lack.needed}, {"available", lack.available}, {"missing", lack.missing()}};
    return list;
}

Json bytes_json(const std::map<DeviceId, Bytes>& sums) {
    Json json = Json::object();
    for (const auto& [device, bytes] : sums) json[to_string(device)] = bytes.count();
    return json;
}

Json to_json(const Error& error) {
    Json where = Json::object();
    if (!error.place.file.empty()) where["file"] = error.place.file;
    if (error.place.offset) where["offset"] = *error.place.offset;
    if (!error.place.node.empty()) where["node"] = error.place.node;
    if (!error.place.key.empty()) where["key"] = error.place.key;
    if (error.place.column) where["column"] = *error.place.column;
    return {{"code", to_string(error.code)},
            {"message", to_string(error)},
            {"where", std::move(where)},
            {"shortfall", shortfall_json(error.shortfall)},
            {"hint", error.hint}};
}

Json error_document(const Error& error) { return {{"error", to_json(error)}}; }

std::string to_text(const Json& document) {
    return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

void write_to_stderr(std::string_view text) noexcept {
    std::fwrite(text.data(), 1, text.size(), stderr);
    std::fflush(stderr);
}

void Console::write(std::string_view text) {
    if (fault_ != 0) return;
    if (std::fwrite(text.data(), 1, text.size(), out_) != text.size()) fault_ = errno;
}

void Console::say(std::string_view text) {
    if (form_ == Form::text) write(text);
}

void Console::print(const Json& document) {
    if (form_ == Form::json) write(to_text(document));
}

void Console::complain(const Error& error) {
    auto text = fmt::format("error: {}\n", to_string(error));
    if (!error.hint.empty()) text += fmt::format("hint: {}\n", escaped(error.hint));
    std::fflush(stdout);
    write_to_stderr(text);
}

void Console::note(std::string_view line) { write_to_stderr(escaped(line) + "\n"); }

int Console::fail(const Error& error) {
    if (form_ == Form::json)
        print(error_document(error));
    else
        complain(error);
    return exit_status(error.code);
}

void Console::keep_for_results() {
    if (out_ != stdout) return;
    flush();
    const int own = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (own < 0) return;  // closed, or no number is left: then all stays as it is
    std::FILE* results = ::fdopen(own, "w");
    if (results == nullptr) {
        ::close(own);
        return;
    }
    out_ = results;
    if (::dup2(STDERR_FILENO, STDOUT_FILENO) >= 0) return;
    const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere < 0) return;
    ::dup2(nowhere, STDOUT_FILENO);
    ::close(nowhere);
}

void Console::flush() {
    if (std::fflush(out_) != 0 && fault_ == 0) fault_ = errno;
}

int Console::finish(int status) {
    flush();
    if (fault_ == 0 || fault_ == EPIPE || status != 0) return status;
    const Error error{.code = Code::write_failed,
                      .what = "cannot write the result",
                      .why = std::generic_category().message(fault_),
                      .place = {.file = "standard output"}};
    complain(error);
    return exit_status(error.code);
}

}  // namespace ballast::cli
