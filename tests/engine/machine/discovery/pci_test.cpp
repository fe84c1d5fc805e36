#include <gtest/gtest.h>

#include "ballast/engine/machine/discovery/pci_address.hpp"
#include "ballast/engine/machine/discovery/pci_links.hpp"
#include "tests/support/temporary_folder.hpp"

namespace ballast::machine {
namespace {

namespace fs = std::filesystem;

std::string normal(std::string_view text) {
    const auto address = parse_pci(text);
    return address ? to_string(*address) : "";
}

TEST(PciAddress, IsReadAsAnyDriverWritesIt) {
    EXPECT_EQ(normal("0000:C5:00.0"), "0000:c5:00.0");
    EXPECT_EQ(normal("00000000:01:00.0"), "0000:01:00.0");
    EXPECT_EQ(normal("000F:01:1F.7"), "000f:01:1f.7");
    EXPECT_EQ(normal("10000:01:00.0"), "10000:01:00.0");
    EXPECT_EQ(normal("01:00.0"), "0000:01:00.0");
    EXPECT_EQ(normal("0000:01:00"), "0000:01:00.0");
}

TEST(PciAddress, IsNothingElse) {
    for (const auto* text :
         {"", ".", ":", "::.", "0000:01:00.8", "0000:01:20.0", "0000:100:00.0", "100000000:01:00.0",
          "../../:01:00.0", "0:0:0:0.0", "-1:01:00.0", "0000:01:00.0 ", "pci0000:00", "x"})
        EXPECT_EQ(normal(text), "") << text;
}

TEST(PciLinks, CopiesReachMostOfTheRateAfterEncoding) {
    EXPECT_NEAR(*copy_gbps("16.0 GT/s PCIe\n", 16), 26.78, 0.01);
    EXPECT_NEAR(*copy_gbps("8.0 GT/s PCIe", 8), 6.69, 0.01);
    EXPECT_NEAR(*copy_gbps("2.5 GT/s PCIe", 1), 0.2125, 0.0001);
    EXPECT_NEAR(*copy_gbps("32 GT/s", 16), 53.56, 0.01);
    EXPECT_NEAR(*copy_gbps("64.0 GT/s PCIe", 16), 102.85, 0.01);
    for (const auto* text : {"", "Unknown", "16.0", "-5 GT/s", "nan GT/s", "inf GT/s", "1e9 GT/s",
                             "0 GT/s", "16 MB/s"})
        EXPECT_EQ(copy_gbps(text, 16), std::nullopt) << text;
    EXPECT_EQ(copy_gbps("16.0 GT/s", 0), std::nullopt);
    EXPECT_EQ(copy_gbps("16.0 GT/s", 255), std::nullopt);
}

/// A card below a slot, in the folders that the kernel would make.
class PciTree : public ::testing::Test {
protected:
    PciTree() {
        fs::create_directories(folder_ / kCard);
        fs::create_directories(folder_ / "bus/pci/devices");
        fs::create_directory_symlink(folder_ / kCard, folder_ / "bus/pci/devices/0000:01:00.0");
        device_.id = {DeviceKind::cuda, 1};
        device_.pci = "0000:01:00.0";
    }
    void link(const std::string& part, std::string_view speed, std::string_view width) {
        folder_.write(part + "/max_link_speed", speed);
        folder_.write(part + "/max_link_width", width);
    }
    std::vector<Link> links() { return pci_links(folder_.path(), device_); }

    static constexpr auto kSlot = "devices/pci0000:00/0000:00:01.0";
    static constexpr auto kCard = "devices/pci0000:00/0000:00:01.0/0000:01:00.0";
    ballast::testing::TemporaryFolder folder_;
    DeviceProfile device_;
};

TEST_F(PciTree, GivesBothDirections) {
    link(kCard, "16.0 GT/s PCIe\n", "16\n");
    ASSERT_EQ(links().size(), 2U);
    EXPECT_EQ(links()[0].from, kCpu);
    EXPECT_EQ(links()[0].to, device_.id);
    EXPECT_EQ(links()[1].from, device_.id);
    EXPECT_EQ(links()[1].to, kCpu);
    EXPECT_NEAR(links()[0].gbps, 26.78, 0.01);
    EXPECT_EQ(links()[0].gbps, links()[1].gbps);
}

TEST_F(PciTree, ACardIsNoFasterThanItsSlot) {
    link(kCard, "16.0 GT/s PCIe\n", "16\n");
    link(kSlot, "8.0 GT/s PCIe\n", "4\n");
    EXPECT_NEAR(links()[0].gbps, 3.35, 0.01);
    link(kSlot, "Unknown\n", "255\n");
    EXPECT_NEAR(links()[0].gbps, 26.78, 0.01);
}

TEST_F(PciTree, GivesNothingWhereNothingCanBeTold) {
    EXPECT_TRUE(links().empty());
    link(kCard, "Unknown", "0");
    EXPECT_TRUE(links().empty());
    link(kCard, "16.0 GT/s PCIe\n", "16\n");
    device_.integrated = true;
    EXPECT_TRUE(links().empty()) << "no such way between an integrated device and its memory";
    device_.integrated = false;
    device_.pci = "0000:02:00.0";
    EXPECT_TRUE(links().empty());
    device_.pci = "../devices/0000:01:00.0";
    EXPECT_TRUE(links().empty());
    device_.pci = "";
    EXPECT_TRUE(links().empty());
}

}  // namespace
}  // namespace ballast::machine
