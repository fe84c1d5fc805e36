#pragma once
// The runtime with a models folder of its own, and nodes called by name.

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "ballast/runtime/nodes/session.hpp"
#include "ballast/runtime/nodes/values.hpp"
#include "tests/support/temporary_folder.hpp"

namespace ballast::testing {

/// Keeps what nodes tell; stops them on request.
class NodeNotes final : public graph::NodeObserver {
public:
    void progress(std::int64_t value, std::int64_t max) override { steps.emplace_back(value, max); }
    void warning(const std::string& text) override { warnings.push_back(text); }
    [[nodiscard]] bool stop_requested() const override {
        return stops_after >= 0 && stops_after-- == 0;
    }

    std::vector<std::pair<std::int64_t, std::int64_t>> steps;
    std::vector<std::string> warnings;
    mutable int stops_after = -1;  ///< checks until the stop; negative: never
};

class NodeHost {
public:
    explicit NodeHost(std::map<DeviceId, Bytes> limits = {})
        : NodeHost(graph::RuntimeOptions{}, std::move(limits)) {}
    /// Folders are set here.
    explicit NodeHost(graph::RuntimeOptions base, std::map<DeviceId, Bytes> limits = {})
        : session_(options(std::move(base), std::move(limits))) {}

    /// Makes `file` a model of a folder type.
    void add_model(const std::string& type, const std::filesystem::path& file,
                   const std::string& name) const {
        const auto folder = folder_.path() / "models" / type;
        std::filesystem::create_directories(folder);
        std::filesystem::create_symlink(file, folder / name);
    }

    using Inputs = std::map<std::string, graph::Input, std::less<>>;

    Result<graph::NodeResult> try_run(const std::string& class_type, Inputs inputs,
                                      std::size_t outputs = 3) {
        graph::NodeCall call;
        call.node_id = "1";
        call.class_type = class_type;
        call.inputs = std::move(inputs);
        call.output_is_used.assign(outputs, true);
        return session_.run(call, notes);
    }
    std::vector<graph::ValuePtr> run(const std::string& class_type, Inputs inputs,
                                     std::size_t outputs = 3) {
        return runtime::value_or_throw(try_run(class_type, std::move(inputs), outputs)).outputs;
    }

    [[nodiscard]] runtime::nodes::Session& session() { return session_; }
    [[nodiscard]] residency::Registry& registry() { return session_.bench()->registry(); }
    [[nodiscard]] const std::filesystem::path& path() const { return folder_.path(); }

    NodeNotes notes;

private:
    [[nodiscard]] graph::RuntimeOptions options(graph::RuntimeOptions options,
                                                std::map<DeviceId, Bytes> limits) const {
        options.model_roots = {folder_.path() / "models"};
        options.input_folder = folder_.path() / "input";
        options.output_folder = folder_.path() / "output";
        options.temp_folder = folder_.path() / "temp";
        if (!limits.empty()) options.memory.limits = std::move(limits);
        for (const auto* name : {"models", "input", "output", "temp"})
            std::filesystem::create_directories(folder_.path() / name);
        return options;
    }

    TemporaryFolder folder_;
    runtime::nodes::Session session_;
};

template <typename V>
const auto& content(const graph::ValuePtr& value) {
    return **std::dynamic_pointer_cast<const V>(value);
}

}  // namespace ballast::testing
