#pragma once
// The table of node implementations. A node is its declaration (ballast/graph/nodes) plus one row
// here, in the file of its family.

#include <span>
#include <string_view>

#include "ballast/graph/node_runner.hpp"

namespace ballast::runtime::nodes {

class Session;

/// What an implementation works with besides its inputs.
struct Context {
    Session& session;
    graph::NodeObserver& observer;
};

/// Runs one call. Throws `Failure`.
using Implementation = graph::NodeResult (*)(const Context&, const graph::NodeCall&);

struct ImplementationRow {
    std::string_view class_type;
    Implementation run;
};

std::span<const ImplementationRow> loader_nodes();
std::span<const ImplementationRow> conditioning_nodes();
std::span<const ImplementationRow> latent_nodes();
std::span<const ImplementationRow> autoencoding_nodes();
std::span<const ImplementationRow> image_nodes();
std::span<const ImplementationRow> sampling_nodes();
std::span<const ImplementationRow> custom_sampling_nodes();

/// The implementation of a node class, or null.
Implementation find_implementation(std::string_view class_type);

/// All classes that can run, in no particular order.
std::span<const std::span<const ImplementationRow>> all_implementations();

}  // namespace ballast::runtime::nodes
