#include "ballast/graph/folders.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <utility>

#include "tests/graph/support.hpp"

namespace ballast::graph {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::RecordedFolders;
using testing::TemporaryFolder;
using Names = std::vector<std::string>;

TEST(Folders, ListModelsRecursivelySortedAndByEnding) {
    const RecordedFolders recorded;
    const auto& folders = recorded.folders();
    EXPECT_EQ(folders.models("checkpoints"),
              (Names{"a.ckpt", "b.safetensors", "more/c.safetensors"}));
    EXPECT_EQ(folders.models("loras"), (Names{"nometa.safetensors", "one.safetensors", "two.pt"}));
    EXPECT_EQ(folders.models("gligen"), Names{});
}

TEST(Folders, JoinTheFoldersOfOldAndNewNames) {
    const RecordedFolders recorded;
    const auto& folders = recorded.folders();
    const Names networks{"d2.sft", "u1.safetensors"};
    EXPECT_EQ(folders.models("diffusion_models"), networks);
    EXPECT_EQ(folders.models("unet"), networks);
    EXPECT_EQ(folders.models("text_encoders"), (Names{"clip_l.safetensors", "t5.safetensors"}));
    EXPECT_EQ(folders.models("clip"), folders.models("text_encoders"));
}

TEST(Folders, SeeFilesThatCameAMomentAgo) {
    const RecordedFolders recorded;
    recorded.root().write("models/vae/NEW.SafeTensors", "");
    EXPECT_EQ(recorded.folders().models("vae"), (Names{"NEW.SafeTensors", "v.safetensors"}));
}

TEST(Folders, PreferEarlierRoots) {
    const TemporaryFolder first;
    const TemporaryFolder second;
    first.write("vae/both.pt", "");
    second.write("vae/both.pt", "");
    second.write("vae/only.pt", "");
    const Folders folders({.model_roots = {first.path(), second.path()}});
    EXPECT_EQ(folders.models("vae"), (Names{"both.pt", "only.pt"}));
    EXPECT_EQ(folders.model_path("vae", "both.pt"), first / "vae/both.pt");
    EXPECT_EQ(folders.model_path("vae", "only.pt"), second / "vae/only.pt");
}

TEST(Folders, FollowLinksButNotInCircles) {
    const TemporaryFolder root;
    root.write("models/loras/a.pt", "");
    root.write("elsewhere/b.pt", "");
    root.write("models/loras/.git/c.pt", "");
    std::filesystem::create_directory_symlink(root / "elsewhere", root / "models/loras/linked");
    std::filesystem::create_directory_symlink(root / "models/loras", root / "models/loras/self");
    const Folders folders({.model_roots = {root / "models"}});
    EXPECT_EQ(folders.models("loras"), (Names{"a.pt", "linked/b.pt"}));
}

TEST(Folders, ResolveNamesToFiles) {
    const RecordedFolders recorded;
    EXPECT_EQ(recorded.folders().model_path("checkpoints", "more/c.safetensors"),
              recorded.root() / "models/checkpoints/more/c.safetensors");
}

TEST(Folders, NameSimilarFilesAndTheFoldersSearched) {
    const RecordedFolders recorded;
    const auto found = recorded.folders().model_path("text_encoders", "t5xxl.safetensors");
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().code, Code::not_found);
    EXPECT_EQ(found.error().place.file, "t5xxl.safetensors");
    EXPECT_THAT(found.error().why, HasSubstr((recorded.root() / "models/text_encoders").string()));
    EXPECT_THAT(found.error().why, HasSubstr((recorded.root() / "models/clip").string()));
    EXPECT_THAT(found.error().hint, HasSubstr("t5.safetensors"));
    const auto none = Folders({}).model_path("vae", "x.pt");
    EXPECT_THAT(none.error().why, HasSubstr("no folder to search"));
}

TEST(Folders, NeverLeadOutside) {
    const RecordedFolders recorded;
    const auto& folders = recorded.folders();
    const std::string absolute = (recorded.root() / "models/vae/v.safetensors").string();
    for (const std::string& name : {std::string{"../vae/v.safetensors"}, absolute, std::string{},
                                    std::string{"more/../../vae/v.safetensors"}})
        EXPECT_EQ(folders.model_path("checkpoints", name).error().code, Code::bad_value) << name;
    EXPECT_EQ(folders.picture_path("../models/vae/v.safetensors").error().code, Code::bad_value);
    EXPECT_EQ(folders.picture_path("../input/rgb.png [output]").error().code, Code::bad_value);
}

TEST(Folders, ListInputPicturesOfTheTopLevel) {
    const RecordedFolders recorded;
    EXPECT_EQ(recorded.folders().input_pictures(),
              (Names{"broken.png", "masked.png", "rgb.png", "rgba.png", "up (1).png", "up (2).png",
                     "up.png"}));
    EXPECT_EQ(Folders({}).input_pictures(), Names{});
}

TEST(Folders, FindPicturesByNameAndFolder) {
    const RecordedFolders recorded;
    const auto& folders = recorded.folders();
    EXPECT_EQ(folders.picture_path("rgb.png"), recorded.root() / "input/rgb.png");
    EXPECT_EQ(folders.picture_path("rgb.png [input]"), recorded.root() / "input/rgb.png");
    EXPECT_EQ(folders.picture_path("sub/inner.png"), recorded.root() / "input/sub/inner.png");
    EXPECT_EQ(folders.picture_path("made.png [output]"), recorded.root() / "output/made.png");
    EXPECT_EQ(folders.picture_path("seen.png [temp]"), recorded.root() / "temp/seen.png");
    EXPECT_EQ(folders.picture_path("rgb.png [output]").error().code, Code::not_found);
    EXPECT_EQ(folders.picture_path("sub").error().code, Code::not_found);
    EXPECT_EQ(folders.picture_path("[input]").error().code, Code::bad_value);
}

TEST(Folders, NamePicturesOfTheFolderThatWasSearched) {
    const RecordedFolders recorded;
    const auto absent = recorded.folders().picture_path("mode.png [output]").error();
    EXPECT_THAT(absent.why, HasSubstr((recorded.root() / "output").string()));
    EXPECT_THAT(absent.hint, HasSubstr("made.png"));
    // the input folder has such a picture, the output folder has not
    const auto elsewhere = recorded.folders().picture_path("rgb.png [output]").error();
    EXPECT_THAT(elsewhere.hint, Not(HasSubstr("rgb")));
    EXPECT_THAT(elsewhere.hint, HasSubstr("present: made.png"));
}

TEST(Folders, SayWhatStandsInThePlaceOfAFile) {
    const TemporaryFolder root;
    root.write("models/vae/v.pt", "");
    const auto vae = root / "models/vae";
    ASSERT_EQ(::mkfifo((vae / "pipe.pt").c_str(), 0600), 0);
    std::filesystem::create_symlink("gone.pt", vae / "dangling.pt");
    std::filesystem::create_symlink("circle.pt", vae / "circle.pt");
    std::filesystem::create_symlink("/dev/null", vae / "device.pt");
    std::filesystem::create_symlink("v.pt", vae / "link.pt");
    std::filesystem::create_directories(vae / "folder.pt");
    const Folders folders({.model_roots = {root / "models"}, .input = vae});
    EXPECT_EQ(folders.models("vae"), (Names{"link.pt", "v.pt"}));
    EXPECT_TRUE(folders.model_path("vae", "link.pt"));
    for (const auto& [name, what] :
         {std::pair{"pipe.pt", "a pipe"}, std::pair{"dangling.pt", "link to gone.pt"},
          std::pair{"circle.pt", "back to itself"}, std::pair{"device.pt", "a device"},
          std::pair{"folder.pt", "a folder"}}) {
        for (const auto& error :
             {folders.model_path("vae", name).error(), folders.picture_path(name).error()}) {
            EXPECT_EQ(error.code, Code::not_found) << name;
            EXPECT_THAT(error.why, HasSubstr("no regular file")) << name;
            EXPECT_THAT(error.why, HasSubstr(what)) << name;
            EXPECT_THAT(error.hint, Not(HasSubstr(name))) << name;
        }
    }
}

TEST(Folders, TakeNoNameWithAZeroCharacter) {
    const RecordedFolders recorded;
    EXPECT_FALSE(recorded.folders().picture_path(std::string("rgb.png\0x", 9)));
    EXPECT_FALSE(recorded.folders().model_path("vae", std::string("v.safetensors\0x", 15)));
}

TEST(Folders, SayWhatToDoAboutNamesThatLeadOutside) {
    EXPECT_FALSE(Folders({}).model_path("vae", "../x.pt").error().hint.empty());
}

}  // namespace
}  // namespace ballast::graph
