#pragma once
// The runtime as the command line and the server see it: runs nodes, owns the account of memory,
// knows which models are in use.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ballast/graph/folders.hpp"
#include "ballast/graph/runtime.hpp"
#include "ballast/runtime/nodes/loaded_part.hpp"
#include "ballast/runtime/tensor/host_allocator.hpp"
#include "ballast/runtime/text/clip_tokenizer.hpp"

namespace ballast::runtime::nodes {

/// `report` and `reset_report` come from any thread; they touch nothing but ledger, record and
/// traffic, which guard themselves. All else belongs to the thread that calls `run`.
class Session final : public graph::Runtime {
public:
    explicit Session(graph::RuntimeOptions options);

    Result<graph::NodeResult> run(const graph::NodeCall& call,
                                  graph::NodeObserver& observer) override;
    [[nodiscard]] graph::RuntimeReport report() const override;
    void reset_report() override;
    [[nodiscard]] std::vector<DeviceId> devices() const override;
    [[nodiscard]] residency::FreeFlow* flow() override { return &bench_->flow(); }
    [[nodiscard]] std::string version() const override;

    [[nodiscard]] const graph::RuntimeOptions& options() const { return options_; }
    [[nodiscard]] const graph::Folders& folders() const { return folders_; }
    [[nodiscard]] const std::shared_ptr<Workbench>& bench() const { return bench_; }
    [[nodiscard]] const Log& log() const { return options_.log; }
    /// One line about a file that was opened, with its size.
    void log_opened(const std::filesystem::path& file) const;

    /// The tokenizer for text networks of that width; unpacking its vocabulary takes a while.
    const text::ClipTokenizer& tokenizer(std::size_t width);

    /// Five lower-case letters that a preview's file names carry, new for each session.
    [[nodiscard]] const std::string& preview_suffix() const { return preview_suffix_; }

private:
    graph::RuntimeOptions options_;
    graph::Folders folders_;
    std::shared_ptr<Workbench> bench_;
    HostAccounting accounting_;
    std::map<std::size_t, text::ClipTokenizer> tokenizers_;
    std::string preview_suffix_;
};

}  // namespace ballast::runtime::nodes
