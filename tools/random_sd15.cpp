// Writes a checkpoint with the layout and size of Stable Diffusion 1.5 and random weights, for
// benchmarks: random_sd15 OUT.safetensors [fp32|fp16|bf16] [unet|all].
//
// Weights are uniform with variance 1 / fan-in, norms are identities, so that activations neither
// vanish nor overflow. Equal arguments give an equal file.

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "ballast/engine/core/element_type.hpp"
#include "ballast/models/sd/clip.hpp"
#include "ballast/models/sd/unet.hpp"
#include "ballast/models/sd/vae.hpp"

namespace {

using namespace ballast;
using models::Parameter;

std::int64_t elements(const Parameter& parameter) {
    std::int64_t count = 1;
    for (const auto size : parameter.shape) count *= size;
    return count;
}

/// Real files store 1x1 convolutions with four axes.
bool is_convolution(const Parameter& parameter) {
    return parameter.kind == Parameter::Kind::matrix &&
           parameter.name.find("transformer_blocks") == std::string::npos &&
           parameter.name.find("emb") == std::string::npos;
}

/// splitmix64 (Steele et al., 2014): uniform in -1..1.
class Uniform {
public:
    explicit Uniform(std::uint64_t seed) : state_(seed) {}
    float next() {
        state_ += 0x9E3779B97F4A7C15U;
        auto z = state_;
        z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
        z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
        return static_cast<float>((z ^ (z >> 31U)) >> 40U) * 0x1p-23F - 1.0F;
    }

private:
    std::uint64_t state_;
};

/// The upper bits of a value of ordinary size; what is too small becomes zero.
std::uint16_t narrowed(float value, ElementType type) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    if (type == ElementType::bf16) return static_cast<std::uint16_t>(bits >> 16U);
    constexpr std::uint32_t kRebias = (127U - 15U) << 10U;
    const auto sign = (bits >> 16U) & 0x8000U;
    const auto magnitude = (bits & 0x7FFFFFFFU) >> 13U;
    return static_cast<std::uint16_t>(magnitude <= kRebias ? sign : sign | (magnitude - kRebias));
}

void write_values(std::ofstream& file, const Parameter& parameter, ElementType type,
                  Uniform& random) {
    const auto count = elements(parameter);
    const bool is_vector = parameter.shape.size() == 1;
    const auto fan_in = static_cast<float>(count / parameter.shape.front());
    const float scale = is_vector ? 0.0F : std::sqrt(3.0F / fan_in);
    // one-dimensional weights belong to norms
    const float centre = is_vector && parameter.name.ends_with(".weight") ? 1.0F : 0.0F;
    std::vector<char> bytes;
    for (std::int64_t i = 0; i < count; ++i) {
        const float value = centre + scale * random.next();
        const auto append = [&bytes](auto bits) {
            const auto raw = std::bit_cast<std::array<char, sizeof bits>>(bits);
            bytes.insert(bytes.end(), raw.begin(), raw.end());
        };
        if (type == ElementType::f32)
            append(value);
        else
            append(narrowed(value, type));
        if (bytes.size() < (std::size_t{1} << 20U) && i + 1 < count) continue;
        file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
        bytes.clear();
    }
}

std::vector<Parameter> checkpoint(bool is_whole) {
    std::vector<Parameter> all;
    const auto add = [&all](std::string_view prefix, std::vector<Parameter> part) {
        for (auto& parameter : part) {
            parameter.name.insert(0, prefix);
            if (is_convolution(parameter)) parameter.shape.insert(parameter.shape.end(), {1, 1});
            all.push_back(std::move(parameter));
        }
    };
    add("model.diffusion_model.", models::sd::parameters(models::sd::UNetConfig{}));
    if (!is_whole) return all;
    add("first_stage_model.", models::sd::parameters(models::sd::VaeConfig{}));
    add("cond_stage_model.transformer.text_model.",
        models::sd::parameters(models::sd::ClipConfig{}));
    return all;
}

}  // namespace

int main(int argc, char** argv) {
    const std::string_view type_name = argc > 2 ? argv[2] : "fp16";
    const auto type = type_name == "fp32"   ? ElementType::f32
                      : type_name == "bf16" ? ElementType::bf16
                                            : ElementType::f16;
    if (argc < 2) {
        std::fputs("usage: random_sd15 OUT.safetensors [fp32|fp16|bf16] [unet|all]\n", stderr);
        return 2;
    }
    const auto all = checkpoint(argc < 4 || std::string_view(argv[3]) != "unet");

    std::string header = "{";
    std::uint64_t offset = 0;
    for (const auto& parameter : all) {
        const auto end = offset + static_cast<std::uint64_t>(elements(parameter)) * bits(type) / 8;
        header += fmt::format(R"({}"{}":{{"dtype":"{}","shape":{},"data_offsets":[{},{}]}})",
                              header.size() > 1 ? "," : "", parameter.name, to_string(type),
                              models::to_string(parameter.shape), offset, end);
        offset = end;
    }
    header += '}';
    header.resize((header.size() + 7) / 8 * 8, ' ');

    std::ofstream file(argv[1], std::ios::binary);
    const auto length = std::bit_cast<std::array<char, 8>>(std::uint64_t{header.size()});
    file.write(length.data(), length.size());
    file << header;
    Uniform random(1);
    for (const auto& parameter : all) write_values(file, parameter, type, random);
    file.close();
    if (!file) {
        std::fputs("cannot write the file; is the disk full?\n", stderr);
        return 1;
    }
}
