#include "ballast/engine/residency/model_key.hpp"

#include <gtest/gtest.h>

#include <chrono>

#include "tests/support/temporary_folder.hpp"

namespace ballast::residency {
namespace {

using ballast::testing::TemporaryFolder;

/// As if the file had been written at another time.
void age(const std::filesystem::path& file) {
    std::filesystem::last_write_time(
        file, std::filesystem::last_write_time(file) - std::chrono::seconds(2));
}

TEST(ModelKey, IsTheSameWhoeverAsks) {
    const TemporaryFolder folder;
    const auto file = folder.write("m.safetensors", "weights");
    const auto key = model_key(file, "unet");
    ASSERT_TRUE(key.has_value());
    EXPECT_EQ(key->size, 7U);
    EXPECT_EQ(*key, model_key(file, "unet").value());
    EXPECT_TRUE(require_unchanged(*key).has_value());
}

TEST(ModelKey, DiffersByOptionsFileSizeAndTime) {
    const TemporaryFolder folder;
    const auto file = folder.write("m.safetensors", "weights");
    const auto key = model_key(file, "unet").value();
    EXPECT_NE(key, model_key(file, "vae").value());
    EXPECT_NE(key, model_key(folder.write("other.safetensors", "weights"), "unet").value());
    age(file);
    EXPECT_NE(key, model_key(file, "unet").value()) << "written at another time";
    EXPECT_NE(key.size,
              model_key(folder.write("m.safetensors", "longer weights"), "").value().size);
}

TEST(ModelKey, AMissingFileIsNotFoundAndNamed) {
    const TemporaryFolder folder;
    const auto key = model_key(folder / "gone.safetensors", "");
    ASSERT_FALSE(key.has_value());
    EXPECT_EQ(key.error().code, Code::not_found);
    EXPECT_EQ(key.error().place.file, (folder / "gone.safetensors").string());
    EXPECT_NE(key.error().hint, "");
}

TEST(ModelKey, AFolderIsNoModelAndIsRefusedByTheSystem) {
    const TemporaryFolder folder;
    const auto key = model_key(folder.path(), "");
    ASSERT_FALSE(key.has_value());
    EXPECT_EQ(key.error().code, Code::io);
    EXPECT_NE(key.error().why, "");
}

TEST(ModelKey, AFileThatWasDeletedIsNotFound) {
    const TemporaryFolder folder;
    const auto file = folder.write("m.safetensors", "weights");
    const auto key = model_key(file, "").value();
    std::filesystem::remove(file);
    EXPECT_EQ(require_unchanged(key).error().code, Code::not_found);
}

TEST(ModelKey, AFileThatWasWrittenSinceIsRefusedAlsoAtTheSameSize) {
    const TemporaryFolder folder;
    const auto file = folder.write("m.safetensors", "weights");
    const auto key = model_key(file, "").value();
    age(file);
    const auto same = require_unchanged(key);
    ASSERT_FALSE(same.has_value());
    EXPECT_EQ(same.error().code, Code::corrupt_file);
    EXPECT_EQ(same.error().place.file, file.string());
}

TEST(ModelKey, AFileThatIsPutInItsPlaceIsAnotherOneAlsoAtTheSameSizeAndTime) {
    const TemporaryFolder folder;
    const auto file = folder.write("m.safetensors", "weights");
    const auto key = model_key(file, "unet").value();
    const auto other = folder.write("other.safetensors", "WEIGHTS");
    std::filesystem::last_write_time(other, std::filesystem::last_write_time(file));
    std::filesystem::rename(other, file);
    const auto now = model_key(file, "unet").value();
    EXPECT_EQ(now.size, key.size);
    EXPECT_EQ(now.modified, key.modified);
    EXPECT_FALSE(is_same_version(now, key));
    EXPECT_EQ(require_unchanged(key).error().code, Code::corrupt_file);
    EXPECT_TRUE(is_same_version(now, model_key(file, "vae").value())) << "whatever the options";
}

}  // namespace
}  // namespace ballast::residency
