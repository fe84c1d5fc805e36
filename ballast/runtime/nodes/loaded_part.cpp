#include "ballast/runtime/nodes/loaded_part.hpp"

#include <fmt/format.h>

#include "ballast/engine/formats/io/file.hpp"

namespace ballast::runtime::nodes {

void LoadedPart::load() {
    if (store_) return;
    const Stopwatch stopwatch(bench_->clock, bench_->record, Phase::load);
    // positioned reads into our own memory: a map of the file would count twice in a limited
    // container, and its first touch is several times slower
    const auto reader =
        value_or_throw(formats::open_reader(description_.file, formats::ReaderKind::positioned));
    auto store = weights::WeightStore::load(
        {.reader = reader,
         .table = description_.table,
         .plan = plan::resident_plan(description_.table, kCpu, std::nullopt),
         .ledger = bench_->ledger.get()});
    if (!store) {
        auto error = std::move(store).error();
        error.place.file = description_.file.string();
        throw Failure(std::move(error));
    }
    store_ = *std::move(store);
    bench_->record.add_model(report(), store_);
    bench_->log.info(fmt::format("loaded {}: {} in {:.2f} s on {}", description_.name,
                                 to_string(description_.table.bytes()), stopwatch.seconds(),
                                 to_string(store_->plan().compute)));
}

WeightSource LoadedPart::weights() {
    load();
    return WeightSource(store_, description_.compute_type, bench_->widening);
}

graph::ModelReport LoadedPart::report() const {
    return {.name = description_.name,
            .compute = kCpu,
            .bytes = description_.table.bytes(),
            .blocks = description_.table.blocks().size(),
            .allocation = "resident",
            .homes = {{kCpu, description_.table.bytes()}},
            .patched_blocks = 0,
            .plan_digest = plan::digest(store_->table(), store_->plan())};
}

void load_together(const std::vector<LoadedPart*>& parts, Workbench& bench) {
    Bytes missing;
    std::string names;
    for (const auto* part : parts) {
        if (part->is_loaded()) continue;
        missing += part->description().table.bytes();
        names += (names.empty() ? "" : " + ") + part->description().name;
    }
    if (!missing.is_zero()) {
        bench.widening.clear();  // nothing computes now, and the room may be needed
        // held only as a question: each part reserves for itself right after
        const auto room = bench.ledger->reserve(kCpu, missing, device::Tag::weights);
        if (!room) {
            auto error = room.error();
            error.what = "cannot load " + names;
            throw Failure(std::move(error));
        }
    }
    for (auto* part : parts) part->load();
}

}  // namespace ballast::runtime::nodes
