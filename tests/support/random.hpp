#pragma once
// Randomness for property tests: the same numbers on every machine for the same seed.

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace ballast::testing {

class Random {
public:
    explicit Random(std::uint64_t seed) : engine_(seed) {}

    std::uint64_t bits() { return engine_(); }
    /// 0 to `end` - 1; `end` must not be 0. (The distributions of the standard library differ from
    /// one library to the next.)
    std::uint64_t below(std::uint64_t end) { return engine_() % end; }
    /// `first` to `last`, both included.
    std::uint64_t between(std::uint64_t first, std::uint64_t last) {
        return first + below(last - first + 1);
    }
    /// True once in `n` times.
    bool once_in(std::uint64_t n) { return below(n) == 0; }

    template <typename T>
    const T& one_of(const std::vector<T>& choices) {
        return choices[below(choices.size())];
    }

    /// `length` letters from `alphabet`.
    std::string text(std::size_t length, std::string_view alphabet) {
        std::string made;
        for (std::size_t i = 0; i < length; ++i) made += alphabet[below(alphabet.size())];
        return made;
    }

    template <typename T>
    void shuffle(std::vector<T>& values) {
        for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[below(i)]);
    }

private:
    std::mt19937_64 engine_;
};

}  // namespace ballast::testing
