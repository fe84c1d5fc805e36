#include "ballast/engine/machine/discovery/meminfo.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "tests/support/temporary_folder.hpp"

namespace ballast::machine {
namespace {

using namespace literals;

Bytes kib(std::uint64_t count) { return Bytes{count}.times(1024); }

TEST(Meminfo, TakesTheKernelsFigureWhereCacheIsReallySharedMemory) {
    const auto host = parse_meminfo(
        ballast::testing::content_of(BALLAST_TEST_DATA "/cases/36-meminfo-shmem.txt"));
    EXPECT_EQ(host.total, kib(127602688));
    EXPECT_EQ(host.available, 40_GiB);
    EXPECT_EQ(host.free, 3_GiB);
    EXPECT_EQ(host.cached, 100_GiB);
    EXPECT_EQ(host.shmem, 63_GiB);
    EXPECT_EQ(host.swap_total, 16_GiB);
    EXPECT_EQ(host.swap_free, 16_GiB);
    EXPECT_EQ(host_available(host), 40_GiB);
    EXPECT_EQ(host.limit, std::nullopt);
    EXPECT_EQ(host.huge_pages_free, std::nullopt) << "there is no line HugePages_Free";
}

TEST(Meminfo, WithoutTheAvailableLineCountsTheFileListsAndTheSlab) {
    const auto host = parse_meminfo(
        "MemFree: 10 kB\nCached: 1000 kB\nShmem: 600 kB\nActive(file): 200 kB\n"
        "Inactive(file): 100 kB\nSReclaimable: 5 kB\nSwapFree: 999999 kB\n");
    EXPECT_EQ(host.available, kib(315));
}

TEST(Meminfo, WithoutTheListsCountsCacheThatIsNotSharedMemory) {
    EXPECT_EQ(parse_meminfo("MemFree: 10 kB\nCached: 1000 kB\nShmem: 600 kB\nSReclaimable: 5 kB\n"
                            "Active(file): 7 kB\n")
                  .available,
              kib(415));
    EXPECT_EQ(parse_meminfo("MemFree: 10 kB\nCached: 5 kB\nShmem: 600 kB\n").available, kib(10));
    EXPECT_EQ(parse_meminfo("Cached: 5 kB\n").available, std::nullopt);
}

TEST(Meminfo, TakesAnyOrderMissingUnitsAndMissingFields) {
    const auto host = parse_meminfo("SwapFree:1\r\n MemAvailable:\t 2048\nMemTotal:   4096 kB");
    EXPECT_EQ(host.total, 4_MiB);
    EXPECT_EQ(host.available, 2_MiB);
    EXPECT_EQ(host.swap_free, 1_KiB);
    EXPECT_EQ(host.free, std::nullopt);
    EXPECT_EQ(parse_meminfo(""), HostProfile{});
}

TEST(Meminfo, CountsFreeHugePagesInBytes) {
    EXPECT_EQ(parse_meminfo("HugePages_Total: 8\nHugePages_Free: 3\nHugepagesize: 2048 kB\n")
                  .huge_pages_free,
              6_MiB);
    EXPECT_EQ(parse_meminfo("HugePages_Free: 3\n").huge_pages_free, std::nullopt);
}

TEST(Meminfo, IgnoresLinesThatMakeNoSense) {
    const auto host = parse_meminfo(
        "MemTotal: -5 kB\nMemFree: 12 MB\nCached: twelve kB\nShmem 5 kB\n:::\n\n\n"
        "SwapTotal: 99999999999999999999999 kB\nXMemAvailable: 1 kB\nMemAvailable:\n");
    EXPECT_EQ(host, HostProfile{});
    EXPECT_EQ(parse_meminfo("MemTotal: 1 kB\nMemTotal: 2 kB\n").total, 1_KiB);
    EXPECT_EQ(parse_meminfo("MemTotal: nonsense\nMemTotal: 2 kB\n").total, 2_KiB);
}

TEST(Meminfo, SaturatesInsteadOfWrapping) {
    const Bytes most{std::numeric_limits<std::uint64_t>::max()};
    const auto host = parse_meminfo(
        "MemFree: 18446744073709551615 kB\nActive(file): 18446744073709551615 kB\n"
        "Inactive(file): 1 kB\nHugePages_Free: 18446744073709551615\nHugepagesize: 2048 kB\n");
    EXPECT_EQ(host.free, most);
    EXPECT_EQ(host.available, most);
    EXPECT_EQ(host.huge_pages_free, most);
}

}  // namespace
}  // namespace ballast::machine
