#pragma once
// What must hold for every directory that was accepted, whatever the file was.

#include <fmt/format.h>

#include <string>

#include "ballast/engine/formats/tensor_directory.hpp"

namespace ballast::testing {

/// The first broken rule, for the message of a test; empty if all hold: entries in the order of
/// their bytes, none overlapping, all inside the file, each as large as shape and type say and
/// found by its name.
inline std::string broken_rule(const formats::TensorDirectory& directory) {
    Bytes covered;
    for (const auto& entry : directory.entries()) {
        const auto elements = static_cast<std::uint64_t>(entry.elements());
        if (bytes_of(entry.type, elements) != entry.bytes)
            return fmt::format("{}: {} bytes, {} elements", entry.name, entry.bytes.count(),
                               elements);
        if (directory.find(entry.name) != &entry) return entry.name + " is not found";
        const auto end = Bytes{entry.offset} + entry.bytes;
        if (end > directory.file_size()) return entry.name + " ends behind the file";
        if (entry.bytes.is_zero()) continue;
        if (Bytes{entry.offset} < covered) return entry.name + " overlaps";
        covered = end;
    }
    return {};
}

}  // namespace ballast::testing
