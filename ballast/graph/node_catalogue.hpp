#pragma once
// The node classes that a workflow may use.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ballast/graph/devices.hpp"
#include "ballast/graph/node_declaration.hpp"

namespace ballast::graph {

/// A set of declarations by class name. A value; copies share nothing that changes.
class NodeCatalogue {
public:
    /// A class that is declared twice keeps its last declaration.
    explicit NodeCatalogue(std::vector<NodeDeclaration> declarations);

    /// Null if there is no such class. Valid as long as any copy of the catalogue lives.
    [[nodiscard]] const NodeDeclaration* find(std::string_view class_type) const;

    /// All declarations in the order in which they were given.
    [[nodiscard]] const std::vector<NodeDeclaration>& all() const { return *declarations_; }

private:
    std::shared_ptr<const std::vector<NodeDeclaration>> declarations_;
    std::map<std::string, std::size_t, std::less<>> index_;
};

/// Everything that Ballast can run, on a machine with these devices.
NodeCatalogue standard_catalogue(const Devices& devices = Devices{});

}  // namespace ballast::graph
