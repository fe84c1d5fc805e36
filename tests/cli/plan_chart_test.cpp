// `ballast plan --chart` as a user calls it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <regex>

#include "tests/cli/program.hpp"
#include "tests/support/temporary_folder.hpp"

namespace ballast::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30U;

/// Whether `text` is a document of elements that close one another, with quoted attributes and
/// known entities only; the subset of XML that a chart may use.
bool is_well_formed(std::string text) {
    const std::string declaration = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
    if (!text.starts_with(declaration)) return false;
    text.erase(0, declaration.size());
    static const std::regex tag(R"re(<(/?)([a-z]+)((?: [A-Za-z0-9-]+="[^"<]*")*)(/?)>)re");
    static const std::regex entity("&(amp|lt|gt|quot|#39);");
    std::vector<std::string> open;
    std::string between;
    auto rest = text.cbegin();
    for (std::sregex_iterator found(text.begin(), text.end(), tag), end; found != end; ++found) {
        const auto& match = *found;
        between.append(rest, match[0].first).append(match[3]);
        rest = match[0].second;
        if (match[1].length() == 0 && match[4].length() == 0) open.push_back(match[2]);
        if (match[1].length() == 0) continue;
        if (open.empty() || open.back() != match[2]) return false;
        open.pop_back();
    }
    between.append(rest, text.cend());
    between = std::regex_replace(between, entity, "");
    return open.empty() && between.find_first_of("<>&") == std::string::npos;
}

/// A part of a bar.
struct Box {
    std::string style;
    double x = 0;
    double width = 0;
    std::uint64_t bytes = 0;
};

std::vector<Box> boxes_of(const std::string& svg) {
    static const std::regex box(
        R"re(<rect x="([0-9.]+)" y="[0-9.]+" width="([0-9.]+)" height="[0-9.]+" class="([a-z]+)" data-bytes="([0-9]+)")re");
    std::vector<Box> found;
    for (std::sregex_iterator each(svg.begin(), svg.end(), box), end; each != end; ++each)
        found.push_back(
            {(*each)[3], std::stod((*each)[1]), std::stod((*each)[2]), std::stoull((*each)[4])});
    return found;
}

class PlanChart : public ::testing::Test {
protected:
    PlanChart() {
        Json blocks = Json::array();
        for (int i = 0; i < 10; ++i)
            blocks.push_back({{"name", "B" + std::to_string(i)}, {"bytes", kGiB}});
        list_ = Json{{"blocks", blocks}}.dump();
        blocks_ = folder_.write("blocks.json", list_).string();
        const auto card = [](const char* id) {
            return Json{{"id", id},
                        {"vendor", "nvidia"},
                        {"total", 24 * kGiB},
                        {"free", 24 * kGiB},
                        {"integrated", 0}};
        };
        const Json machine{{"host", {{"total", 64 * kGiB}, {"available", 60 * kGiB}}},
                           {"devices", {card("cuda:0"), card("cuda:1")}}};
        machine_ = folder_.write("machine.json", machine.dump()).string();
        chart_ = (folder_ / "chart.svg").string();
    }

    Outcome plan(std::vector<std::string> more) const {
        more.insert(more.begin(),
                    {"plan", "--blocks", blocks_, "--simulate", machine_, "--chart", chart_});
        return run_program(more);
    }
    std::string chart(std::vector<std::string> more) const {
        EXPECT_EQ(plan(std::move(more)).status, 0);
        return content_of(chart_);
    }

    TemporaryFolder folder_;
    std::string list_;
    std::string blocks_;
    std::string machine_;
    std::string chart_;
};

TEST_F(PlanChart, IsAPictureOfEveryDevice) {
    const auto svg = chart({"--allocation", "cuda:0,2.5gb;cuda:1,3.0g;cpu,*"});
    EXPECT_TRUE(is_well_formed(svg)) << svg;
    for (const auto* text :
         {">cpu<", ">cuda:0<", ">cuda:1<", "blocks.json<", ">computes<", ">weights 5.00 GiB<",
          "24.00 GiB in all<", "cuda:0,2560mb;cuda:1,3gb;cpu,*#cuda:0"})
        EXPECT_THAT(svg, HasSubstr(text));
    EXPECT_THAT(svg, Not(HasSubstr("class=\"missing\"")));
}

TEST_F(PlanChart, LengthsAreProportionalToBytes) {
    const auto boxes =
        boxes_of(chart({"--allocation", "cuda:0,2gb;cuda:1,3gb;cpu,*", "--activation", "4gb"}));
    double scale = 0;
    std::map<std::string, std::uint64_t> sums;
    for (const auto& box : boxes) {
        sums[box.style] += box.bytes;
        if (box.style == "free") continue;  // that of the host is cut off
        const auto per_gib =
            box.width / (static_cast<double>(box.bytes) / static_cast<double>(kGiB));
        if (scale == 0) scale = per_gib;
        EXPECT_NEAR(per_gib, scale, 0.02) << box.style;
    }
    EXPECT_EQ(sums["weights"], 10 * kGiB);
    EXPECT_EQ(sums["ring"], 2 * kGiB);
    EXPECT_EQ(sums["activations"], 4 * kGiB);
}

TEST_F(PlanChart, WhatDoesNotFitIsDrawnInRed) {
    const std::vector<std::string> options{"--activation", "20gb", "--allocation",
                                           "cuda:0,9gb;cpu,*", "--json"};
    const auto outcome = plan(options);
    EXPECT_EQ(outcome.status, 4);
    const auto lack = Json::parse(outcome.out).at("shortfall").at("cuda:0");
    const auto svg = content_of(chart_);
    std::optional<Box> missing;
    for (const auto& box : boxes_of(svg))
        if (box.style == "missing") missing = box;
    ASSERT_TRUE(missing.has_value());
    EXPECT_EQ(missing->bytes, lack.at("missing").get<std::uint64_t>());
    EXPECT_THAT(svg, HasSubstr(">missing 7."));
    EXPECT_TRUE(is_well_formed(svg));
}

TEST_F(PlanChart, TheDiskHasNoLimit) {
    const auto svg = chart({"--allocation", "cuda:0,4gb;disk,*"});
    EXPECT_THAT(svg, AllOf(HasSubstr(">disk<"), HasSubstr(">6.00 GiB stay in the file<")));
}

TEST_F(PlanChart, EachModelOfAFileIsAGroupAboveWhichTheOthersStay) {
    const auto file =
        in_repository("data/demo/models/checkpoints/ballast-demo.safetensors").string();
    EXPECT_EQ(run_program({"plan", file, "--simulate", machine_, "--chart", chart_}).status, 0);
    const auto svg = content_of(chart_);
    EXPECT_TRUE(is_well_formed(svg));
    for (const auto* part : {"(unet)<", "(text)<", "(vae)<", ">models above<"})
        EXPECT_THAT(svg, HasSubstr(part));
}

TEST_F(PlanChart, NamesCannotBreakOut) {
    const auto name = std::string("a<script>&amp;\"'\x1b[31m\xff\xef\xbf\xbe.json");
    blocks_ = folder_.write(name, list_).string();
    const auto svg = chart({});
    EXPECT_TRUE(is_well_formed(svg)) << svg;
    EXPECT_THAT(svg, HasSubstr("a&lt;script&gt;&amp;amp;&quot;&#39;\\x1b[31m\\xff\uFFFD.json"));
}

TEST_F(PlanChart, LongNamesKeepTheirEnd) {
    blocks_ = folder_.write(std::string(120, 'n') + "/last.json", list_).string();
    EXPECT_THAT(chart({}), HasSubstr(">\u2026" + std::string(85, 'n') + "/last.json<"));
}

TEST_F(PlanChart, EqualPlansGiveEqualPictures) {
    const auto first = chart({"--allocation", " CUDA:0 , 2GB ; cpu , * "});
    EXPECT_EQ(first, chart({"--allocation", "cuda:0,2gb;cpu,*;"}));
}

TEST_F(PlanChart, AFileThatCannotBeWrittenIsRefusedBeforeAnythingElse) {
    chart_ = (folder_ / "none/chart.svg").string();
    blocks_ = "/nowhere.json";
    const auto outcome = plan({});
    EXPECT_EQ(outcome.status, 3);
    EXPECT_THAT(outcome.err,
                AllOf(HasSubstr("cannot write the chart"), HasSubstr("choose another one")));
    EXPECT_EQ(outcome.out, "");
}

TEST_F(PlanChart, NeverReplacesWhatItReads) {
    chart_ = blocks_;
    EXPECT_EQ(plan({}).status, 2);
    chart_ = machine_;
    EXPECT_EQ(plan({}).status, 2);
    EXPECT_EQ(content_of(blocks_), list_);
}

}  // namespace
}  // namespace ballast::testing
