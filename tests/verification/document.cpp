#include "tests/verification/document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "tests/verification/world.hpp"

namespace ballast::verification {
namespace {

constexpr std::string_view kIntroduction = R"(# Verification: freeing memory

This page is written by a program: `scripts/verify-matrix.sh` runs the matrix and renews the page,
`scripts/verify-matrix.sh --check` only compares, as the test `verification.document` does.

Memory is freed in {} ways on {} machines, for every placement that a machine has room for and every
choice of flags: {} cells. All of them came out as expected, else there would be no page.

In each cell three models are loaded (a unet U, a text encoder T, a vae V) and used, and a prompt
leaves results of nodes on cpu (R) and activations in the allocator's cache. Then memory is freed.
What must come of it is written down a second time, apart from the library, and compared:

* the machine has the class that it must have, also after it was made smaller;
* exactly those models go that are flagged, or named, or all by force;
* those that stay are the same objects in the same order, have the bytes of the file in every block,
  and read at their next use only what they read at every use;
* those that went cannot be used any more, and hold nothing even where something still refers to
  them;
* on each device exactly the bytes come back that those models held, weights and ring, and on cpu the
  results, if they were dropped; account, devices and answer agree to the byte;
* caches are emptied once, on each device as its class asks for; devices that sleep are not woken;
* what is asked for during a prompt changes nothing and calls no device before the prompt is over;
* asked a second time, nothing more goes;
* the library's own checks of its invariants are on, and nothing is warned of.

Machines are those of `profiles/`, simulated at 1 : {} with real bytes: what is a MiB here stands for
a GiB there. Tables and answers give the bytes that were held and released; lines of memory are
written for the full size, so 1.50 in a line is 1.50 MiB in an answer. In the lines, the clock ticks a
millisecond with each snapshot, and `[MultiGPU Model Management] `, which the log puts before
snapshots, is left out. Adapters do not exist yet; another row in `tests/verification/axes.cpp` is
another row or column here.
)";

constexpr std::string_view kLetters = "UTV";  // of the models

/// 1234567 -> "1,234,567".
std::string grouped(Bytes bytes) {
    auto text = std::to_string(bytes.count());
    for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3)
        text.insert(static_cast<std::size_t>(at), ",");
    return text;
}

std::string list_of(const std::map<DeviceId, Bytes>& sums) {
    std::string text;
    for (const auto& [device, bytes] : sums)
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", to_string(device), grouped(bytes));
    return text.empty() ? "nothing" : text;
}

std::string models_of(const std::array<bool, kModels>& chosen) {
    std::string text;
    for (std::size_t m = 0; m < kModels; ++m)
        if (chosen[m]) text += fmt::format("{}{}", text.empty() ? "" : " ", kLetters[m]);
    return text;
}

/// "T, R: cpu 1,834,304, cuda:0 629,376".
std::string outcome(const Cell& cell) {
    auto gone = models_of(cell.has_gone);
    if (cell.are_results_dropped) gone += gone.empty() ? "R" : " R";
    if (gone.empty()) return "–";
    return fmt::format("{}: {}", gone, list_of(cell.released));
}

std::string caches_of(const Cell& cell) {
    std::string text;
    for (const auto& [device, emptied] : cell.caches) {
        text += text.empty() ? "" : "; ";
        if (emptied.is_asleep)
            text += fmt::format("{} sleeps, left alone", to_string(device));
        else
            text += fmt::format("{} {}, released {}, kept {}", to_string(device),
                                machine::to_string(emptied.action), grouped(emptied.released),
                                grouped(emptied.kept));
    }
    return text.empty() ? "none to empty" : text;
}

std::string block_of(const std::vector<std::string>& lines) {
    std::string text = "```text\n";
    for (const auto& line : lines) text += line + "\n";
    return text + "```\n";
}

class Document {
public:
    explicit Document(const std::vector<MachineReport>& reports) : reports_(&reports) {}

    std::string write() {
        introduction();
        for (const auto& report : *reports_) {
            machine(report);
            homes(report);
            summary(report);
            worked(report);
            all_cells(report);
        }
        return std::move(text_);
    }

private:
    void say(const std::string& text) { text_ += text + "\n"; }

    void introduction();
    void axes();
    void machine(const MachineReport& report);
    void homes(const MachineReport& report);
    void summary(const MachineReport& report);
    void worked(const MachineReport& report);
    void worked(const Cell& cell);
    void all_cells(const MachineReport& report);

    const std::vector<MachineReport>* reports_;
    std::string text_;
};

void Document::introduction() {
    std::size_t cells = 0;
    for (const auto& report : *reports_) cells += report.cells.size();
    say(fmt::format(kIntroduction, free_kinds().size(), reports_->size(), cells, kScale));
    axes();
}

void Document::axes() {
    say("| what is asked | which models go | results of nodes | caches |");
    say("|---|---|---|---|");
    const auto who = [](Goes goes) {
        switch (goes) {
            case Goes::nothing: return "none";
            case Goes::flagged: return "those flagged";
            case Goes::unet: return "the unet, flagged or kept";
            case Goes::all: return "all, flagged or kept";
        }
        return "";
    };
    for (const auto& kind : free_kinds())
        say(fmt::format("| {} | {} | {} | {} |", kind.name, who(kind.goes),
                        kind.drops_results ? "dropped" : "stay",
                        kind.call == machine::EmptyingCall::forced ? "forced" : "soft"));
    say("");
}

void Document::machine(const MachineReport& report) {
    const auto& machine = report.machine;
    say(fmt::format("## {}\n", report.row->title));
    say(fmt::format("{} (`profiles/{}`).\n", machine.full.name, report.row->profile));
    if (machine.full.devices.empty()) return;
    say("| device | class (rule) | here: total | weights may take | soft emptying | forced |");
    say("|---|---|---|---|---|---|");
    for (const auto& device : machine.small.devices) {
        const auto& judged = machine.judged(device.id);
        const auto* planned = machine.planning.find(device.id);
        const auto action = [&](machine::EmptyingCall call) {
            return machine::to_string(machine::cache_action(
                {.memory_class = judged.classification.memory_class, .call = call}));
        };
        say(fmt::format("| {} | {} ({}) | {} | {} | {} | {} |", to_string(device.id),
                        to_string(judged.classification.memory_class), judged.classification.rule,
                        grouped(device.total.value_or(Bytes{})),
                        planned == nullptr ? "nothing" : grouped(planned->capacity),
                        action(machine::EmptyingCall::soft),
                        action(machine::EmptyingCall::forced)));
    }
    say("");
}

/// Where the blocks of each model are, by placement.
void Document::homes(const MachineReport& report) {
    say("| placement | allocation | U, bytes | T, bytes | V, bytes |");
    say("|---|---|---|---|---|");
    std::set<std::string_view> told;
    for (const auto& cell : report.cells) {
        if (!told.insert(cell.at.placement->name).second) continue;
        auto line = fmt::format("| {} | `{}` |", cell.at.placement->name,
                                allocation_text(*cell.at.placement, *cell.at.machine));
        for (std::size_t m = 0; m < kModels; ++m) {
            line += " " + list_of(cell.homes[m]);
            if (!cell.rings[m].is_zero()) line += fmt::format("; ring {}", grouped(cell.rings[m]));
            line += " |";
        }
        say(line);
    }
    say("");
}

void Document::summary(const MachineReport& report) {
    say("Who went (R: results of nodes), and the bytes that came back:\n");
    std::string head = "| placement, flags |";
    std::string rule = "|---|";
    for (const auto& kind : free_kinds()) {
        head += fmt::format(" {} |", kind.name);
        rule += "---|";
    }
    say(head);
    say(rule);
    const auto columns = free_kinds().size();
    for (std::size_t first = 0; first < report.cells.size(); first += columns) {
        const auto& at = report.cells[first].at;
        auto line = fmt::format("| {}, {} |", at.placement->name, at.flags->name);
        for (std::size_t k = 0; k < columns; ++k)
            line += fmt::format(" {} |", outcome(report.cells[first + k]));
        say(line);
    }
    say("");
}

/// The widest placement of the machine, step by step.
void Document::worked(const MachineReport& report) {
    const auto& placement = [&]() -> const PlacementRow& {
        const auto* last = report.cells.front().at.placement;
        for (const auto& cell : report.cells)
            if (cell.at.placement->needs_accelerator) last = cell.at.placement;
        return *last;
    }();
    say(fmt::format("### {}: step by step\n", report.row->title));
    for (const auto& cell : report.cells) {
        const auto& at = cell.at;
        const bool is_shown =
            at.placement == &placement &&
            ((at.flags == &flags()[1] && at.kind->name == "both, asked during a prompt") ||
             (at.flags == &flags()[0] && at.kind->name == "the manager's button") ||
             (at.flags == &flags()[0] && at.kind->name == "unload all by force") ||
             (at.flags == &flags()[2] && !at.kind->is_answered));
        if (is_shown) worked(cell);
    }
}

void Document::worked(const Cell& cell) {
    say(fmt::format("#### {}, {}: {}\n", cell.at.placement->name, cell.at.flags->name,
                    cell.at.kind->name));
    std::vector<std::string> lines;
    for (const auto& step : cell.steps) {
        lines.push_back("# " + step.title);
        lines.insert(lines.end(), step.lines.begin(), step.lines.end());
    }
    say(block_of(lines));
    if (cell.answer.empty()) return say("There is no answer, since nothing was asked for.\n");
    say("The answer:\n");
    say(block_of(cell.answer));
}

/// Lines of memory while freeing; ways of freeing with equal lines stand together.
void Document::all_cells(const MachineReport& report) {
    say(fmt::format("### {}: lines of all cells\n", report.row->title));
    const auto columns = free_kinds().size();
    for (std::size_t first = 0; first < report.cells.size(); first += columns) {
        const auto& at = report.cells[first].at;
        say(fmt::format("#### {}, {}\n", at.placement->name, at.flags->name));
        std::set<std::size_t> told;
        for (auto c = first; c < first + columns; ++c) {
            if (told.contains(c)) continue;
            const auto& cell = report.cells[c];
            std::string names;
            for (auto other = c; other < first + columns; ++other) {
                const auto& same = report.cells[other];
                if (same.free_lines != cell.free_lines || same.caches != cell.caches) continue;
                told.insert(other);
                names += fmt::format("{}{}", names.empty() ? "" : " · ", same.at.kind->name);
            }
            say(fmt::format("{} (caches: {})\n", names, caches_of(cell)));
            say(block_of(cell.free_lines));
        }
    }
}

}  // namespace

std::string document_of(const std::vector<MachineReport>& reports) {
    return Document(reports).write();
}

}  // namespace ballast::verification
