#include "ballast/graph/node_description.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <iterator>

#include "tests/graph/support.hpp"

namespace ballast::graph {
namespace {

using testing::RecordedFolders;

/// Texts for people are ours; the recording holds a placeholder, or the original's wording.
Json without_wording(Json value) {
    if (value.is_object()) {
        for (auto& [name, member] : value.get_ref<Json::object_t&>()) {
            if ((name == "tooltip" || name == "description") && member != "")
                member = "<text>";
            else if (name == "output_tooltips")
                for (auto& text : member) text = text.is_null() ? Json() : Json("<text>");
            else
                member = without_wording(member);
        }
    } else if (value.is_array()) {
        for (auto& element : value) element = without_wording(element);
    }
    return value;
}

TEST(NodeDescription, EqualsTheRecordedDescriptionOfEveryNode) {
    const RecordedFolders recorded;
    const auto catalogue = standard_catalogue();
    const Json expected = testing::recorded("golden/api/object_info.json").at("nodes");
    ASSERT_EQ(expected.size(), 43U);
    for (const auto& [name, entry] : expected.get_ref<const Json::object_t&>()) {
        const auto* node = catalogue.find(name);
        ASSERT_NE(node, nullptr) << name;
        // As text, so that the order of members and 1 against 1.0 count.
        EXPECT_EQ(without_wording(describe(*node, recorded.folders())).dump(2),
                  without_wording(entry).dump(2));
    }
    const auto is_recorded = [](const NodeDeclaration& node) {
        return !node.module.starts_with("custom_nodes.");
    };
    EXPECT_EQ(std::ranges::count_if(catalogue.all(), is_recorded), std::ssize(expected));
}

TEST(NodeDescription, ListsModelFilesAsTheyAreNow) {
    const RecordedFolders recorded;
    const auto catalogue = standard_catalogue();
    const auto offered = [&] {
        return describe(*catalogue.find("VAELoader"),
                        recorded.folders())["input"]["required"]["vae_name"][0];
    };
    EXPECT_EQ(offered(), Json({"v.safetensors", "pixel_space"}));
    recorded.root().write("models/vae_approx/taehv.safetensors", "");
    recorded.root().write("models/vae_approx/taesd_encoder.pth", "");
    EXPECT_EQ(offered(), Json({"v.safetensors", "taehv.safetensors", "pixel_space"}));
    recorded.root().write("models/vae_approx/taesd_decoder.pth", "");
    EXPECT_EQ(offered(), Json({"v.safetensors", "taehv.safetensors", "taesd", "pixel_space"}));
}

}  // namespace
}  // namespace ballast::graph
