#include "ballast/engine/formats/foreign.hpp"

#include <array>
#include <cctype>
#include <string>

namespace ballast::formats {
namespace {

using namespace std::string_view_literals;

struct Signature {
    std::string_view begins;
    std::string_view why;
    std::string_view hint;
};

constexpr std::array kSignatures{
    Signature{"version https://git-lfs"sv,
              "it is a pointer of a large-file store, not the file itself",
              "fetch the real file: git lfs pull, or download it again"},
    Signature{"PK\x03\x04"sv, "it is a zip archive: a pickle checkpoint (.ckpt, .pt) under another name",
              "convert it to safetensors; pickles can run code and are not opened"},
    Signature{"PK\x05\x06"sv, "it is an empty zip archive", "fetch the file again"},
    Signature{"\x80\x02"sv, "it is a pickle checkpoint of an old kind",
              "convert it to safetensors; pickles can run code and are not opened"},
    Signature{"\x80\x04"sv, "it is a pickle", "convert it to safetensors"},
    Signature{"\x93NUMPY"sv, "it is a NumPy array", "convert it to safetensors"},
    Signature{"\x89HDF"sv, "it is an HDF5 file", "convert it to safetensors"},
    Signature{"\x1f\x8b"sv, "it is a gzip archive", "unpack it first"},
    Signature{"Rar!"sv, "it is a RAR archive", "unpack it first"},
    Signature{"7z\xbc\xaf"sv, "it is a 7-Zip archive", "unpack it first"},
    Signature{"\x89PNG"sv, "it is a picture", "choose a weight file"},
    Signature{"\xff\xd8\xff"sv, "it is a picture", "choose a weight file"},
};

bool looks_like_html(std::string_view head) {
    std::string start;
    for (const char c : head) {
        if (start.empty() && std::isspace(static_cast<unsigned char>(c)) != 0) continue;
        start += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        if (start.size() == 9) break;
    }
    return start.starts_with("<!doctype") || start.starts_with("<html") ||
           start.starts_with("<?xml");
}

Error foreign(std::string_view why, std::string_view hint) {
    return Error{.code = Code::foreign_file,
                 .what = "not a weight file",
                 .why = std::string(why),
                 .hint = std::string(hint)};
}

}  // namespace

std::optional<Error> recognise_foreign(std::string_view head) {
    if (head.empty()) return foreign("the file is empty", "fetch it again");
    for (const auto& signature : kSignatures)
        if (head.starts_with(signature.begins)) return foreign(signature.why, signature.hint);
    if (looks_like_html(head)) {
        return foreign("it is a web page, probably an error page of a download",
                       "fetch the file again; some sites want a login first");
    }
    if (head.starts_with("GGUF")) {
        return Error{.code = Code::not_available,
                     .what = "cannot open a GGUF file",
                     .why = "this format is not available yet",
                     .hint = "use a safetensors file"};
    }
    return std::nullopt;
}

}  // namespace ballast::formats
