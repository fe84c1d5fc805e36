#include "ballast/engine/core/sha256.hpp"

#include <algorithm>
#include <bit>
#include <iterator>

#include "ballast/engine/core/file_chunks.hpp"

namespace ballast {

namespace {

/// Fractional parts of the cube roots of the first 64 primes, 32 bits each.
constexpr std::array<std::uint32_t, 64> kRound{
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

std::uint32_t big_endian(std::span<const std::byte, 4> bytes) {
    std::uint32_t word = 0;
    for (const std::byte byte : bytes) word = word << 8U | std::to_integer<std::uint32_t>(byte);
    return word;
}

std::byte byte_of(std::uint64_t value, unsigned shift) {
    return static_cast<std::byte>(value >> shift & 0xFFU);
}

}  // namespace

void Sha256::update(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const std::size_t used = length_ % block_.size();
        const std::size_t count = std::min(bytes.size(), block_.size() - used);
        std::copy_n(bytes.begin(), count,
                    std::next(block_.begin(), static_cast<std::ptrdiff_t>(used)));
        length_ += count;
        bytes = bytes.subspan(count);
        if (length_ % block_.size() == 0) compress(block_);
    }
}

void Sha256::update(std::string_view text) { update(std::as_bytes(std::span{text})); }

void Sha256::update_number(std::uint64_t value) {
    std::array<std::byte, 8> bytes{};
    for (unsigned i = 0; i < bytes.size(); ++i) bytes[i] = byte_of(value, 8 * i);
    update(bytes);
}

Digest Sha256::finish() {
    const std::uint64_t bits = length_ * 8;
    update(std::array{std::byte{0x80}});
    while (length_ % block_.size() != 56) update(std::array{std::byte{0}});
    std::array<std::byte, 8> length{};
    for (unsigned i = 0; i < length.size(); ++i) length[i] = byte_of(bits, 56 - 8 * i);
    update(length);
    Digest digest{};
    for (unsigned i = 0; i < digest.size(); ++i)
        digest[i] = byte_of(state_[i / 4], 24 - 8 * (i % 4));
    return digest;
}

void Sha256::compress(std::span<const std::byte, 64> block) {
    std::array<std::uint32_t, 64> w{};
    for (std::size_t i = 0; i < 16; ++i) w[i] = big_endian(block.subspan(4 * i).first<4>());
    for (std::size_t i = 16; i < w.size(); ++i) {
        const auto s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ w[i - 15] >> 3U;
        const auto s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ w[i - 2] >> 10U;
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    auto [a, b, c, d, e, f, g, h] = state_;
    for (std::size_t i = 0; i < w.size(); ++i) {
        const auto sum1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
        const auto choice = (e & f) ^ (~e & g);
        const auto first = h + sum1 + choice + kRound[i] + w[i];
        const auto sum0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
        const auto majority = (a & b) ^ (a & c) ^ (b & c);
        h = g;
        g = f;
        f = e;
        e = d + first;
        d = c;
        c = b;
        b = a;
        a = first + sum0 + majority;
    }
    const std::array<std::uint32_t, 8> mixed{a, b, c, d, e, f, g, h};
    for (std::size_t i = 0; i < state_.size(); ++i) state_[i] += mixed[i];
}

std::string to_string(const Digest& digest) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string text;
    text.reserve(2 * digest.size());
    for (const std::byte byte : digest) {
        text += kDigits[std::to_integer<std::size_t>(byte >> 4U)];
        text += kDigits[std::to_integer<std::size_t>(byte & std::byte{0xF})];
    }
    return text;
}

Digest sha256(std::string_view text) {
    Sha256 hash;
    hash.update(text);
    return hash.finish();
}

Result<std::string> sha256_of_file(const std::filesystem::path& path) {
    Sha256 hash;
    const auto read = for_each_chunk(path, [&](std::string_view chunk) -> Result<void> {
        hash.update(chunk);
        return {};
    });
    if (!read) return fail(read.error());
    return to_string(hash.finish());
}

}  // namespace ballast
