#pragma once
// Ranges of a file into the memory of devices.

#include <span>
#include <vector>

#include "ballast/engine/device/transfers.hpp"
#include "ballast/engine/formats/io/reader.hpp"

namespace ballast::weights {

/// Bytes of a file from `offset` on, and where they go.
struct FileRange {
    std::uint64_t offset = 0;
    device::Target to{};
};

/// Reads all ranges with several threads, in file order: straight into memory that the host can
/// address, else through pieces of host memory (tag staging on cpu), from which the device copies.
/// Fails with what the reader, the device, or the ledger says; some bytes have then arrived.
Result<void> read_ranges(const formats::Reader& reader, const std::vector<FileRange>& ranges,
                         device::Transfers& transfers, device::Ledger& ledger, unsigned threads);

}  // namespace ballast::weights
