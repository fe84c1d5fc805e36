#include "ballast/engine/formats/foreign.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "ballast/engine/core/ascii.hpp"
#include "ballast/engine/core/utf8.hpp"

namespace ballast::formats {
namespace {

using namespace std::string_view_literals;

constexpr auto kConvert =
    "convert it to safetensors; a pickle can run any code, so Ballast never opens one"sv;
constexpr auto kFetchAgain = "fetch the file again; some sites want a login first"sv;
constexpr auto kUnpack = "unpack it and name the weight file inside"sv;
constexpr auto kChoose = "name a weight file (.safetensors)"sv;

struct Signature {
    std::size_t offset;
    std::string_view bytes;
    std::string_view kind;
    std::string_view hint;
};

constexpr std::array kSignatures{
    Signature{0, "\x93NUMPY"sv, "a NumPy array", "convert it to safetensors"},
    Signature{0, "\x89HDF\r\n\x1a\n"sv, "an HDF5 file (Keras)", "convert it to safetensors"},
    Signature{257, "ustar"sv, "a tar archive, as very old PyTorch wrote its pickles", kConvert},
    Signature{0, "\x1f\x8b"sv, "a gzip archive", kUnpack},
    Signature{0, "\x28\xb5\x2f\xfd"sv, "a Zstandard archive", kUnpack},
    Signature{0, "\xfd\x37zXZ\0"sv, "an xz archive", kUnpack},
    Signature{0, "7z\xbc\xaf\x27\x1c"sv, "a 7-Zip archive", kUnpack},
    Signature{0, "Rar!\x1a\x07"sv, "a RAR archive", kUnpack},
    Signature{0, "\x89PNG\r\n\x1a\n"sv, "a PNG picture", kChoose},
    Signature{0, "\xff\xd8\xff"sv, "a JPEG picture", kChoose},
    Signature{0, "%PDF-"sv, "a PDF document", kChoose},
    Signature{0,
              "\x7f"
              "ELF"sv,
              "a program", kChoose},
};

Error foreign(std::string why, std::string_view hint) {
    return Error{.code = Code::foreign_file,
                 .what = "not a weight file",
                 .why = std::move(why),
                 .hint = std::string(hint)};
}

Error unsupported(std::string_view kind, std::string_view hint) {
    return Error{.code = Code::unsupported,
                 .what = "cannot read this kind of weight file",
                 .why = fmt::format("{} files are not available yet", kind),
                 .hint = std::string(hint)};
}

/// The value of a line `key value`, as pointer files have it.
std::string_view value_of(std::string_view text, std::string_view key) {
    const auto at = text.find(fmt::format("\n{} ", key));
    if (at == std::string_view::npos) return {};
    text.remove_prefix(at + key.size() + 2);
    return text.substr(0, text.find_first_of("\r\n"));
}

/// Format: https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md
std::optional<Error> recognise_pointer(std::string_view head) {
    const bool is_pointer = head.starts_with("version https://git-lfs.github.com/spec/") ||
                            head.starts_with("version https://hawser.github.com/spec/");
    if (!is_pointer) return std::nullopt;
    const auto size = value_of(head, "size");
    const auto real = size.empty() ? std::string() : fmt::format(" of {} bytes", size);
    return foreign(
        fmt::format("it is a Git LFS pointer to the real file{}, not the file itself", real),
        "fetch the real file: run git lfs pull, or download it again");
}

std::optional<Error> recognise_zip(std::string_view head) {
    if (!head.starts_with("PK\x03\x04"sv) && !head.starts_with("PK\x05\x06"sv)) return std::nullopt;
    if (head.find("data.pkl") != std::string_view::npos)
        return foreign("it is a pickle checkpoint (a zip archive, as .ckpt and .pt files are)",
                       kConvert);
    if (head.find(".npy") != std::string_view::npos)
        return foreign("it is an archive of NumPy arrays", "convert it to safetensors");
    return foreign("it is a zip archive, perhaps a pickle checkpoint (.ckpt, .pt)",
                   "if it is a checkpoint, convert it to safetensors; else unpack it");
}

/// Protocols 2 to 5 begin with 80 and their number; protocol 0 and 1 have no mark.
std::optional<Error> recognise_pickle(std::string_view head) {
    if (head.size() < 2 || head[0] != '\x80' || head[1] < 2 || head[1] > 5) return std::nullopt;
    return foreign("it is a raw pickle, as PyTorch before 1.6 wrote its checkpoints", kConvert);
}

std::optional<Error> recognise_other_weights(std::string_view head) {
    constexpr auto kInstead = "use the safetensors file of the same model";
    if (head.starts_with("GGUF")) return unsupported("GGUF", kInstead);
    for (const auto old : {"lmgg"sv, "fmgg"sv, "tjgg"sv, "algg"sv})
        if (head.starts_with(old)) return unsupported("GGML (the forerunner of GGUF)", kInstead);
    return std::nullopt;
}

std::string_view without_leading_blanks(std::string_view text) {
    if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);  // byte order mark
    const auto begin = text.find_first_not_of(" \t\r\n");
    return begin == std::string_view::npos ? std::string_view{} : text.substr(begin);
}

/// Nothing but printable text: what is left of a download that was answered with a message.
bool is_text(std::string_view head) {
    for (std::size_t i = 0; i < head.size();) {
        const auto c = static_cast<unsigned char>(head[i]);
        const bool is_blank = c == '\t' || c == '\n' || c == '\r';
        const auto length = utf8_length(head, i);
        // the last sequence may be cut off where the head ends
        if (length == 0) return head.size() == kHeadBytes && head.size() - i < 4;
        if ((c < 0x20 && !is_blank) || c == 0x7F) return false;
        i += length;
    }
    return !head.empty();
}

std::optional<Error> recognise_text(std::string_view head) {
    const auto begin = without_leading_blanks(head);
    const auto start = lower(begin.substr(0, 16));
    for (const auto tag : {"<!doctype"sv, "<html"sv, "<head"sv, "<?xml"sv, "<error"sv})
        if (start.starts_with(tag))
            return foreign("it is a web page, probably the answer to a failed download",
                           kFetchAgain);
    if (!is_text(head)) return std::nullopt;
    if (begin.starts_with('{') && head.find("\"weight_map\"") != std::string_view::npos)
        return foreign("it is the index of a model in several files", "name one of those files");
    if (begin.starts_with('{') || begin.starts_with('['))
        return foreign("it is a JSON text", kChoose);
    return foreign(fmt::format("it is a text that begins with '{}'",
                               utf8_prefix(begin.substr(0, begin.find_first_of("\r\n")), 40)),
                   kFetchAgain);
}

}  // namespace

std::optional<Error> recognise_foreign(std::string_view head) {
    if (head.empty())
        return foreign("the file is empty",
                       "fetch it again; an interrupted download or copy leaves such files");
    for (const auto recognise :
         {recognise_pointer, recognise_zip, recognise_pickle, recognise_other_weights})
        if (auto known = recognise(head)) return known;
    for (const auto& signature : kSignatures)
        if (head.substr(std::min(signature.offset, head.size())).starts_with(signature.bytes))
            return foreign(fmt::format("it is {}", signature.kind), signature.hint);
    return recognise_text(head);
}

}  // namespace ballast::formats
