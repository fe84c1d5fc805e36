// verify_matrix [--compare FILE]: runs the matrix of freeing memory and prints it as a document, or
// compares that with a file. Nothing in it depends on the machine that runs it or on the time.

#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/verification/cell.hpp"
#include "tests/verification/document.hpp"

namespace ballast::verification {
namespace {

std::vector<MachineReport> run_all() {
    const Models models;
    std::vector<MachineReport> reports;
    for (const auto& row : machines()) {
        MachineReport report{.row = &row, .machine = scaled_machine(row, BALLAST_PROFILES)};
        for (const auto& placement : placements()) {
            if (!exists_on(placement, row)) continue;
            for (const auto& flag : flags())
                for (const auto& kind : free_kinds())
                    report.cells.push_back(
                        run_cell({&row, &placement, &flag, &kind}, report.machine, models));
        }
        reports.push_back(std::move(report));
    }
    return reports;
}

/// Prints what is not as it must be; whether that is nothing.
bool is_sound(const std::vector<MachineReport>& reports) {
    bool is_sound = true;
    for (const auto& report : reports)
        for (const auto& cell : report.cells)
            for (const auto& broken : cell.broken) {
                std::fprintf(stderr, "%s: %s\n", name_of(cell.at).c_str(), broken.c_str());
                is_sound = false;
            }
    return is_sound;
}

/// Prints the first line that differs; whether there is none.
bool is_same(const std::string& document, const char* path) {
    std::ifstream file(path, std::ios::binary);
    std::istringstream now(document);
    std::string there;
    std::string here;
    for (int line = 1;; ++line) {
        const bool is_there = static_cast<bool>(std::getline(file, there));
        const bool is_here = static_cast<bool>(std::getline(now, here));
        if (!is_there && !is_here) return true;
        if (is_there == is_here && there == here) continue;
        std::fprintf(
            stderr, "error: %s, line %d: it says\n  %s\nbut it is\n  %s\nif that is right, ", path,
            line, is_there ? there.c_str() : "(the end)", is_here ? here.c_str() : "(the end)");
        std::fprintf(stderr, "renew it with scripts/verify-matrix.sh\n");
        return false;
    }
}

int run(int count, char** arguments) {
    const char* path = nullptr;
    if (count == 3 && std::strcmp(arguments[1], "--compare") == 0) path = arguments[2];
    if (count != 1 && path == nullptr) {
        std::fprintf(stderr, "usage: verify_matrix [--compare FILE]\n");
        return 2;
    }
    const auto reports = run_all();
    if (!is_sound(reports)) return 1;
    const auto document = document_of(reports);
    if (path != nullptr) return is_same(document, path) ? 0 : 1;
    std::fwrite(document.data(), 1, document.size(), stdout);
    return std::fflush(stdout) == 0 ? 0 : 1;
}

}  // namespace
}  // namespace ballast::verification

int main(int count, char** arguments) {
    try {
        return ballast::verification::run(count, arguments);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "error: %s\n", e.what());
        return 1;
    }
}
