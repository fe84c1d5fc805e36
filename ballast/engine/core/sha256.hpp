#pragma once
// SHA-256 (FIPS 180-4): digests of files and of structures that serve as keys.

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "ballast/engine/core/result.hpp"

namespace ballast {

using Digest = std::array<std::byte, 32>;

/// A running digest. `update` in any number of pieces, then `finish` once.
class Sha256 {
public:
    void update(std::span<const std::byte> bytes);
    void update(std::string_view text);
    /// An integer as eight bytes, the lowest first; its length is fixed, so keys stay unambiguous.
    void update_number(std::uint64_t value);
    [[nodiscard]] Digest finish();

private:
    void compress(std::span<const std::byte, 64> block);

    std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    std::array<std::byte, 64> block_{};
    std::uint64_t length_ = 0;  ///< bytes so far
};

/// 64 lower-case hexadecimal digits.
std::string to_string(const Digest& digest);

Digest sha256(std::string_view text);

/// Hexadecimal digest of a file's content. Fails as `for_each_chunk`.
Result<std::string> sha256_of_file(const std::filesystem::path& path);

}  // namespace ballast
