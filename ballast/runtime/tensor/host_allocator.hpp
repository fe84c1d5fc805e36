#pragma once
// The allocator behind every CPU tensor: accounts activations in a ledger, obeys its limit, and
// reuses memory.
//
// Fresh memory is slow (each first touch of a page is a fault; several times the cost of using
// warm memory), and a sampling step asks for the same sizes again and again. So large blocks that
// are freed stay here, charged as scratch, until they are used again, the limit needs them, or
// `trim` gives them back to the system.
//
// This is the one piece of process-wide state in Ballast: torch has one CPU allocator per process.

#include <cstddef>
#include <memory>

#include "ballast/engine/device/ledger.hpp"

namespace ballast::runtime {

/// Routes torch's CPU allocations to `ledger` (on `cpu`, tag activations) while it lives. One at a
/// time; tensors may outlive it: they are then freed without being accounted. Not thread-safe
/// against itself, unlike the allocator.
class HostAccounting {
public:
    explicit HostAccounting(std::shared_ptr<device::Ledger> ledger);
    HostAccounting(const HostAccounting&) = delete;
    HostAccounting& operator=(const HostAccounting&) = delete;
    ~HostAccounting();

    /// Gives all unused memory back to the system; returns how much that was.
    Bytes trim();
};

/// While it lives, the host computes for a simulated device: what tensors take is charged as
/// simulation, which no limit holds. On the thread that computes; may be nested.
class [[nodiscard]] SimulatedArithmetic {
public:
    SimulatedArithmetic();
    SimulatedArithmetic(const SimulatedArithmetic&) = delete;
    SimulatedArithmetic& operator=(const SimulatedArithmetic&) = delete;
    ~SimulatedArithmetic();

private:
    device::Tag former_;
};

/// The same for code that holds no `HostAccounting` but whose own reservation on `cpu` was refused.
Bytes trim_host_memory();

/// Memory as tensors have it, aligned to 64 bytes: charged as activations while a `HostAccounting`
/// lives. Throws `Failure` (`out_of_memory`) when the limit refuses. `size` is not 0.
void* take_host_memory(std::size_t size);
void give_host_memory_back(void* data) noexcept;

/// Throws as `take_host_memory(size)` would, without taking anything.
void require_host_memory(Bytes size);

}  // namespace ballast::runtime
