#pragma once
// Weight files of which only the header exists: all that descriptions look at.

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "ballast/engine/formats/safetensors.hpp"
#include "ballast/models/component.hpp"
#include "tests/support/safetensors_writer.hpp"

namespace ballast::models::testing {

/// The directory of a file that has these parameters, in F16 and below `prefix`.
inline formats::TensorDirectory directory_of(const std::vector<Parameter>& parameters,
                                             std::string_view prefix = {},
                                             const ballast::testing::Metadata& metadata = {}) {
    using ballast::testing::json_quoted;
    std::string texts;
    for (const auto& [key, value] : metadata)
        texts += (texts.empty() ? "" : ",") + json_quoted(key) + ":" + json_quoted(value);
    std::string members = "\"__metadata__\":{" + texts + "}";
    std::uint64_t end = 0;
    for (const auto& parameter : parameters) {
        const auto type =
            parameter.kind == Parameter::Kind::integer ? ElementType::i32 : ElementType::f16;
        std::uint64_t elements = 1;
        for (const auto size : parameter.shape) elements *= static_cast<std::uint64_t>(size);
        const auto begin = end;
        end += bytes_of(type, elements).value().count();
        members +=
            "," + ballast::testing::header_member(std::string(prefix) + parameter.name,
                                                  to_string(type), parameter.shape, begin, end);
    }
    const auto header = "{" + members + "}";
    auto directory = formats::interpret_safetensors("model.safetensors", header,
                                                    Bytes{8 + header.size() + end}, {});
    if (!directory) throw std::invalid_argument(to_string(directory.error()));
    return *std::move(directory);
}

}  // namespace ballast::models::testing
