#include "ballast/graph/node_runner.hpp"

#include <gmock/gmock.h>

#include <stdexcept>

namespace ballast::graph {
namespace {

using ::testing::HasSubstr;

struct Picture final : Value {
    [[nodiscard]] Bytes bytes() const override { return Bytes{1}; }
};
struct Sound final : Value {
    [[nodiscard]] Bytes bytes() const override { return Bytes{2}; }
};

NodeCall call() {
    NodeCall call{.node_id = "7", .class_type = "A", .inputs = {}, .output_is_used = {}};
    call.inputs.emplace("steps", Json(12));
    call.inputs.emplace("seed", Json(18446744073709551615U));
    call.inputs.emplace("cfg", Json(1.5));
    call.inputs.emplace("text", Json("a"));
    call.inputs.emplace("flag", Json(true));
    call.inputs.emplace("picture", ValuePtr{std::make_shared<Picture>()});
    return call;
}

TEST(NodeCall, GivesInputsByType) {
    const auto node = call();
    EXPECT_EQ(node.integer("steps"), 12);
    EXPECT_EQ(node.seed("seed"), 18446744073709551615U);
    EXPECT_EQ(node.number("cfg"), 1.5);
    EXPECT_EQ(node.text("text"), "a");
    EXPECT_TRUE(node.flag("flag"));
    EXPECT_EQ(node.value_as<Picture>("picture")->bytes(), Bytes{1});
    EXPECT_TRUE(node.has("cfg"));
    EXPECT_FALSE(node.has("mask"));
}

TEST(NodeCall, NamesNodeAndInputWhenTheImplementationErrs) {
    const auto node = call();
    const auto fault = [](const auto& read) -> std::string {
        try {
            static_cast<void>(read());
        } catch (const std::logic_error& e) {
            return e.what();
        }
        return {};
    };
    for (const auto& text :
         {fault([&] { return node.integer("cfg"); }), fault([&] { return node.seed("text"); }),
          fault([&] { return node.number("flag"); }), fault([&] { return node.flag("steps"); }),
          fault([&] { return node.text("steps"); }), fault([&] { return node.value("steps"); }),
          fault([&] { return node.text("picture"); }), fault([&] { return node.value("mask"); }),
          fault([&] { return node.value_as<Sound>("picture"); })})
        EXPECT_THAT(text, HasSubstr("node 7 (A): input "));
}

}  // namespace
}  // namespace ballast::graph
