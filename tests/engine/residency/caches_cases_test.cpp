// Emptying caches on machines of others, from the reports that they came with.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/engine/residency/cards.hpp"
#include "tests/support/temporary_folder.hpp"

namespace ballast::residency {
namespace {

using namespace ballast::literals;
using machine::CacheAction;
using machine::EmptyingCall;
using nlohmann::json;
using testing::by_device;
using testing::Cards;
using testing::cuda;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

DeviceId device_in(const json& name) { return parse_device(name.get<std::string>()).value(); }

std::vector<DeviceId> devices_in(const json& names) {
    std::vector<DeviceId> ids;
    for (const auto& name : names) ids.push_back(device_in(name));
    return ids;
}

json case_of(const std::string& name) {
    return json::parse(ballast::testing::content_of(BALLAST_TEST_DATA "/cases/" + name));
}

TEST(CachesCases, OfSeveralDevicesAreEmptiedEachForItself) {
    const auto file = case_of("37-clear-cache-per-device.json");
    std::vector<DeviceId> ids;
    std::optional<DeviceId> full;
    for (const auto& each : file.at("devices")) {
        ids.push_back(device_in(each.at("id")));
        if (each.value("full_with_other_job", false)) full = ids.back();
    }
    Cards cards(ids, full);
    for (const auto& each : file.at("devices")) {
        if (!each.at("context").get<bool>()) continue;
        cards.fill_cache(device_in(each.at("id")), Bytes{each.at("cached_bytes")});
        cards.machine.inject(device_in(each.at("id")),
                             {.empty_cache = each.value("clear_fails", false)});
    }
    cards.called();

    const auto& first = file.at("calls").at(0);
    const auto one = cards.empty(EmptyingCall::forced, devices_in(first.at("clear")));
    EXPECT_EQ(cards.called(), devices_in(first.at("expect").at("calls_into")));
    ASSERT_EQ(one.size(), 1U);
    EXPECT_EQ(one[0].released, Bytes{first.at("expect").at("released_bytes")});
    EXPECT_FALSE(one[0].error.has_value());

    const auto& expected = file.at("calls").at(1).at("expect");
    auto all = by_device(cards.empty(EmptyingCall::forced));
    EXPECT_EQ(cards.called(), devices_in(expected.at("calls_into")));
    for (const auto id : devices_in(expected.at("not_touched"))) {
        EXPECT_TRUE(all.at(id).is_asleep);
        EXPECT_EQ(cards.machine.calls(id), 0U);
    }
    const auto failing = devices_in(expected.at("errors"));
    for (const auto id : ids)
        EXPECT_EQ(all.at(id).error.has_value(), std::ranges::count(failing, id) == 1)
            << to_string(id);
    EXPECT_EQ(all.at(cuda(1)).kept, Bytes{expected.at("cuda:1_cached_after")});
    EXPECT_EQ(all.at(cuda(2)).kept, 1_GiB) << "and that is told";
    EXPECT_THAT(cards.lines->lines(LogLevel::warning), ElementsAre(HasSubstr("cuda:2")));
}

TEST(CachesCases, OfDevicesThatNobodyUsesAreLeftAloneWhateverIsAsked) {
    const auto file = case_of("18-stats-must-not-touch.json");
    std::vector<DeviceId> ids;
    std::vector<DeviceId> untouchable;
    for (const auto& each : file.at("devices")) {
        ids.push_back(device_in(each.at("id")));
        if (!each.at("initialised").get<bool>()) untouchable.push_back(ids.back());
    }
    ASSERT_THAT(untouchable, ElementsAre(cuda(1)));
    Cards cards(ids);
    cards.fill_cache(cuda(0), 1_GiB);
    const auto look_at_all = [&] {
        for (const auto& device : cards.machine.devices().all()) {
            static_cast<void>(device->memory());
            static_cast<void>(device->is_awake());
        }
    };
    look_at_all();
    for (const auto call : {EmptyingCall::soft, EmptyingCall::forced, EmptyingCall::buffer_reset}) {
        const auto reports = by_device(cards.empty(call));
        EXPECT_TRUE(reports.at(cuda(1)).is_asleep);
        EXPECT_EQ(reports.at(cuda(1)).action, CacheAction::nothing);
        EXPECT_FALSE(reports.at(cuda(1)).error.has_value());
        look_at_all();
    }
    EXPECT_TRUE(cards[cuda(0)].allocate(1_GiB).has_value()) << "the one in use works";
    EXPECT_EQ(cards.machine.calls(cuda(1)), file.at("expect").at("calls_into_cuda1"));
    EXPECT_FALSE(cards[cuda(1)].is_awake());
}

}  // namespace
}  // namespace ballast::residency
