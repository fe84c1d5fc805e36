#include "benchmarks/support/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace ballast::benchmarks {
namespace {

std::string table(const std::vector<Row>& rows) {
    std::size_t width = 4;
    for (const auto& row : rows) width = std::max(width, row.name.size());
    auto text = fmt::format("{:<{}}  {:>12}  {:>12}  {:<6} {:>6}  {}\n", "name", width, "figure",
                            "bound", "unit", "ratio", "bound is");
    for (const auto& row : rows)
        text += fmt::format("{:<{}}  {:>12.4g}  {:>12.4g}  {:<6} {:>6.3g}  {}\n", row.name, width,
                            row.figure, row.bound, row.unit, row.ratio(), row.meaning);
    return text;
}

std::string json(const std::vector<Row>& rows) {
    auto list = nlohmann::json::array();
    for (const auto& row : rows)
        list.push_back({{"name", row.name},
                        {"figure", row.figure},
                        {"unit", row.unit},
                        {"bound", row.bound},
                        {"ratio", row.ratio()}});
    return list.dump() + "\n";
}

}  // namespace

Output output_asked_for(int argc, const char* const* argv) {
    const bool is_asked =
        std::any_of(argv + 1, argv + argc, [](std::string_view text) { return text == "--json"; });
    return is_asked ? Output::json : Output::table;
}

std::string report(const std::vector<Row>& rows, Output output) {
    return output == Output::json ? json(rows) : table(rows);
}

void print_report(const std::vector<Row>& rows, Output output) {
    std::fputs(report(rows, output).c_str(), stdout);
}

}  // namespace ballast::benchmarks
