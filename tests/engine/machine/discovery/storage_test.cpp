#include "ballast/engine/machine/discovery/storage.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>

#include "tests/support/temporary_folder.hpp"

namespace ballast::machine {
namespace {

namespace fs = std::filesystem;

/// A /sys with disks.
class Disks : public ::testing::Test {
protected:
    Disks() { fs::create_directories(folder_ / "dev/block"); }
    void disk(const std::string& name, std::string_view rotational) {
        folder_.write("devices/" + name + "/queue/rotational", rotational);
    }
    void partition(const std::string& disk, const std::string& name) {
        fs::create_directories(folder_ / ("devices/" + disk + "/" + name));
    }
    void number(const std::string& number, const std::string& device) {
        fs::create_directory_symlink(folder_ / ("devices/" + device),
                                     folder_ / ("dev/block/" + number));
    }
    void below(const std::string& upper, const std::string& device) {
        fs::create_directories(folder_ / ("devices/" + upper + "/slaves"));
        fs::create_directory_symlink(
            folder_ / ("devices/" + device),
            folder_ / ("devices/" + upper + "/slaves") / fs::path(device).filename());
    }
    std::string kind(unsigned major, unsigned minor) {
        return block_device_kind(folder_.path(), major, minor);
    }

    ballast::testing::TemporaryFolder folder_;
};

TEST_F(Disks, AreToldByNameAndByWhetherTheyRotate) {
    disk("nvme0n1", "0\n");
    disk("sda", "0\n");
    disk("sdb", "1\n");
    number("259:0", "nvme0n1");
    number("8:0", "sda");
    number("8:16", "sdb");
    EXPECT_EQ(kind(259, 0), "nvme");
    EXPECT_EQ(kind(8, 0), "ssd");
    EXPECT_EQ(kind(8, 16), "hdd");
    EXPECT_EQ(kind(8, 32), "");
}

TEST_F(Disks, APartitionIsWhatItsDiskIs) {
    disk("nvme0n1", "0\n");
    partition("nvme0n1", "nvme0n1p2");
    number("259:2", "nvme0n1/nvme0n1p2");
    EXPECT_EQ(kind(259, 2), "nvme");
}

TEST_F(Disks, AMappedDeviceIsWhatLiesBelow) {
    disk("nvme0n1", "0\n");
    partition("nvme0n1", "nvme0n1p3");
    disk("dm-0", "0\n");
    disk("dm-1", "0\n");
    below("dm-0", "nvme0n1/nvme0n1p3");
    below("dm-1", "dm-0");
    number("253:1", "dm-1");
    EXPECT_EQ(kind(253, 1), "nvme");
}

TEST_F(Disks, CirclesEnd) {
    disk("dm-0", "0\n");
    disk("dm-1", "0\n");
    below("dm-0", "dm-1");
    below("dm-1", "dm-0");
    number("253:0", "dm-0");
    EXPECT_EQ(kind(253, 0), "");
}

TEST_F(Disks, AVirtualDiskThatSaysRotatingIsUnknown) {
    disk("vda", "1\n");
    disk("vdb", "0\n");
    disk("sdc", "perhaps\n");
    number("252:0", "vda");
    number("252:16", "vdb");
    number("8:32", "sdc");
    EXPECT_EQ(kind(252, 0), "");
    EXPECT_EQ(kind(252, 16), "ssd");
    EXPECT_EQ(kind(8, 32), "");
}

TEST_F(Disks, AreFoundByThePathOnThem) {
    struct stat file{};
    struct statfs system{};
    ASSERT_EQ(::stat(folder_.path().c_str(), &file), 0);
    ASSERT_EQ(::statfs(folder_.path().c_str(), &system), 0);
    if (!file_system_kind(static_cast<std::uint32_t>(system.f_type)).empty())
        GTEST_SKIP() << "the folder of temporary files lies on no disk";
    disk("nvme0n1", "0\n");
    number(std::to_string(major(file.st_dev)) + ":" + std::to_string(minor(file.st_dev)),
           "nvme0n1");
    EXPECT_EQ(storage_kind(folder_.path(), folder_.path()), "nvme");
}

TEST(Storage, SomeFileSystemsLieOnNoDisk) {
    EXPECT_EQ(file_system_kind(0x01021994), "memory");
    EXPECT_EQ(file_system_kind(0x6969), "network");
    EXPECT_EQ(file_system_kind(0xFF534D42), "network");
    EXPECT_EQ(file_system_kind(0xEF53), "");
    EXPECT_EQ(storage_kind("/there/is/no/such/path", "/sys"), "");
    struct statfs system{};
    if (::statfs("/dev/shm", &system) == 0 && system.f_type == 0x01021994) {
        EXPECT_EQ(storage_kind("/dev/shm", "/sys"), "memory");
    }
}

}  // namespace
}  // namespace ballast::machine
