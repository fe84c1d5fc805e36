#include "ballast/graph/distribution_inputs.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ballast/engine/core/ascii.hpp"
#include "ballast/graph/distribution_nodes.hpp"

namespace ballast::graph {

namespace {

/// The names of the inputs that belong to one model.
struct PartInputs {
    std::string compute;
    std::string virtual_gib;
    std::string donor;
    std::string expert;
};

PartInputs with_prefix(const std::string& prefix) {
    return {prefix + "compute_device", prefix + "virtual_vram_gb", prefix + "donor_device",
            prefix + "expert_mode_allocations"};
}

std::string text_or_nothing(const NodeCall& call, const std::string& input) {
    return call.has(input) ? call.text(input) : std::string{};
}

class Reader {
public:
    explicit Reader(const NodeCall& call) : call_(call) {}

    Result<DistributionInputs> read() {
        read_.base_class = base_class(call_.class_type);
        if (const auto wrapped = wrapped_class(call_.class_type)) {
            read_wrapped(*wrapped);
        } else if (call_.class_type == kAdvancedCheckpoint) {
            read_.network.compute = device("unet_device");
            read_.text_encoder.compute = device("clip_device");
            read_.autoencoder.compute = device("vae_device");
        } else if (call_.class_type == kAdvancedCheckpointDistorch2) {
            read_.network = part(with_prefix("unet_"));
            read_.text_encoder = part(with_prefix("clip_"));
            read_.autoencoder.compute = device("vae_device");
            read_retention();
            read_.high_precision_loras = flag("high_precision_loras").value_or(true);
        } else if (call_.class_type == kLowPrecisionLoader) {
            read_.high_precision_loras = false;
        } else if (call_.class_type == "CLIPLoader" &&
                   text_or_nothing(call_, "device") == to_string(kCpu)) {
            read_.text_encoder.compute = kCpu;
        }
        if (unknown_) return fail(*std::move(unknown_));
        return std::move(read_);
    }

private:
    void read_wrapped(const WrappedClass& wrapped) {
        const auto& loader = *wrapped.loader;
        auto inputs = with_prefix("");
        inputs.compute = wrapped.is_distorch2 ? loader.compute_input : "device";
        const PartDistribution whole{.compute = device(inputs.compute)};
        if (loader.parts.network) read_.network = whole;
        if (loader.parts.text_encoder) read_.text_encoder = whole;
        if (loader.parts.autoencoder) read_.autoencoder = whole;
        if (!wrapped.is_distorch2) return;
        largest(loader.parts).allocation = allocation(inputs, whole.compute);
        read_retention();
    }

    PartDistribution& largest(const LoadedParts& parts) {
        if (parts.network) return read_.network;
        return parts.text_encoder ? read_.text_encoder : read_.autoencoder;
    }

    PartDistribution part(const PartInputs& inputs) {
        const auto compute = device(inputs.compute);
        return {.compute = compute, .allocation = allocation(inputs, compute)};
    }

    [[nodiscard]] std::string allocation(const PartInputs& inputs,
                                         std::optional<DeviceId> compute) const {
        auto expert = text_or_nothing(call_, inputs.expert);
        if (trimmed(expert).empty()) expert.clear();
        const double gib = call_.has(inputs.virtual_gib) ? call_.number(inputs.virtual_gib) : 0.0;
        const auto amount = gib_text(gib);
        const bool is_virtual = amount != gib_text(0);
        if (!is_virtual && expert.empty()) return {};
        // without a name, the first accelerator computes
        const auto head = fmt::format("{}#{}", expert, compute ? to_string(*compute) : "");
        if (!is_virtual) return head;
        auto donor = text_or_nothing(call_, inputs.donor);
        return fmt::format("{};{};{}", head, amount, donor.empty() ? to_string(kCpu) : donor);
    }

    void read_retention() {
        read_.keep_loaded = flag("keep_loaded").value_or(true);
        read_.is_keep_loaded_said =
            call_.has("keep_loaded") && !call_.defaults.contains("keep_loaded");
        read_.eject_models = flag("eject_models");
    }

    [[nodiscard]] std::optional<bool> flag(const char* input) const {
        return call_.has(input) ? std::optional(call_.flag(input)) : std::nullopt;
    }

    std::optional<DeviceId> device(const std::string& input) {
        const auto name = text_or_nothing(call_, input);
        if (name.empty() || name == "None") return std::nullopt;
        const auto found = parse_device(name);
        if (!found || found->kind == DeviceKind::disk)
            unknown_ = Error{.code = Code::usage,
                             .what = "cannot choose the device",
                             .why = fmt::format("'{}' is no device that computes", name),
                             .place = {.node = call_.node_id, .key = input},
                             .hint = "write it as cpu or cuda:0"};
        return found;
    }

    const NodeCall& call_;
    DistributionInputs read_;
    std::optional<Error> unknown_;
};

}  // namespace

Result<DistributionInputs> distribution_inputs(const NodeCall& call) { return Reader(call).read(); }

residency::RetentionFlag retention_of(const DistributionInputs& inputs,
                                      const residency::RetentionWishes& wishes,
                                      std::string_view model, const std::filesystem::path& file) {
    using residency::Retention;
    const auto names_it = [&](const std::string& name) {
        return residency::is_named(name, model, file);
    };
    if (std::ranges::any_of(wishes.kept, names_it))
        return {.value = Retention::keep, .is_said = true};
    if (!inputs.keep_loaded) return {.value = wishes.by_default};
    return {.value = *inputs.keep_loaded ? Retention::keep : Retention::release,
            .is_said = inputs.is_keep_loaded_said};
}

std::string gib_text(double gib) {
    // ten decimals of a GiB are finer than a byte
    auto text = fmt::format("{:.10f}", gib);
    while (text.ends_with('0') && !text.ends_with(".0")) text.pop_back();
    return text;
}

}  // namespace ballast::graph
