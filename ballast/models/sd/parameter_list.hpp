#pragma once
// Parameters of the usual layers, collected in model order.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ballast/models/component.hpp"

namespace ballast::models::sd {

/// Networks add the lists of their own blocks on top of these. `path` is the layer's module path.
class ParameterList {
public:
    using Kind = Parameter::Kind;

    void add(std::string name, std::vector<std::int64_t> shape, Kind kind = Kind::floating) {
        list_.push_back({std::move(name), std::move(shape), kind});
    }
    void norm(const std::string& path, std::int64_t channels) {
        add(path + ".weight", {channels});
        add(path + ".bias", {channels});
    }
    /// A convolution of 3x3.
    void conv(const std::string& path, std::int64_t in, std::int64_t out) {
        add(path + ".weight", {out, in, 3, 3});
        add(path + ".bias", {out});
    }
    /// Without bias.
    void projection(const std::string& path, std::int64_t in, std::int64_t out,
                    Kind kind = Kind::matrix) {
        add(path + ".weight", {out, in}, kind);
    }
    void linear(const std::string& path, std::int64_t in, std::int64_t out,
                Kind kind = Kind::matrix) {
        projection(path, in, out, kind);
        add(path + ".bias", {out});
    }

    std::vector<Parameter> take() { return std::move(list_); }

private:
    std::vector<Parameter> list_;
};

}  // namespace ballast::models::sd
