#pragma once
// What a benchmark prints: every figure beside its bound, in the same unit.

#include <string>
#include <string_view>
#include <vector>

namespace ballast::benchmarks {

/// One figure. The bound is what the figure is judged by: a promise ("at most 100 ms") or what the
/// machine itself can do, measured in the same run.
struct Row {
    std::string name;  ///< stable, lower case: "formats.header_100k"
    double figure = 0;
    std::string unit;  ///< of figure and bound: "ms", "GB/s"
    double bound = 0;
    std::string meaning;  ///< of the bound, for people: "promised", "reading the same bytes"

    /// Figure over bound; 0 when the bound is 0.
    [[nodiscard]] double ratio() const { return bound == 0 ? 0 : figure / bound; }
};

/// How rows are written: a table for people, or one JSON array of
/// {"name","figure","unit","bound","ratio"} for scripts.
enum class Output { table, json };

/// `Output::json` when `--json` is among the arguments of the program.
Output output_asked_for(int argc, const char* const* argv);

/// All rows as text that ends in a line break.
std::string report(const std::vector<Row>& rows, Output output);

/// Writes `report` to standard output.
void print_report(const std::vector<Row>& rows, Output output);

}  // namespace ballast::benchmarks
