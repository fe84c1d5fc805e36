#include "ballast/engine/core/settings_docs.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

namespace ballast {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(SettingsPage, StandsInTheDocumentation) {
    std::ifstream file(std::string(BALLAST_SOURCE_DIR) + "/docs/settings.md");
    std::stringstream committed;
    committed << file.rdbuf();
    EXPECT_EQ(committed.str(), settings_page())
        << "renew it: build/dev/bin/ballast help settings > docs/settings.md";
}

TEST(SettingsPage, NamesEverySettingOnce) {
    const auto page = settings_page();
    for (const auto& setting : kSettings)
        EXPECT_THAT(page,
                    HasSubstr("`" +
                              (commands_now(setting) != 0 ? option_text(setting)
                                                          : "--" + std::string(setting.name)) +
                              "`"));
}

TEST(SettingsPage, LeavesOutAnnouncedChoices) {
    EXPECT_EQ(choices_now(*std::ranges::find(kSettings, "preview", &Setting::name)),
              std::vector<std::string_view>{"none"});
}

}  // namespace
}  // namespace ballast
