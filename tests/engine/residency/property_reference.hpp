#pragma once
// What must be loaded, in a few lines that know nothing of how the library does it.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/engine/residency/property_scene.hpp"

namespace ballast::residency::property {

/// How a user names models.
enum class By { name, path, file };

/// One model that must be loaded.
struct Expected {
    enum class Goes { stays, unless_kept, certainly };  ///< when nobody uses it any more

    ModelHandle handle{};
    std::size_t model = 0;
    std::uint32_t version = 0;  ///< of its file
    RetentionFlag flag{};
    const weights::WeightStore* store = nullptr;
    bool is_complete = true;
    int users = 0;
    std::uint64_t uses = 0;
    Goes goes = Goes::stays;

    [[nodiscard]] bool is_kept() const { return flag.value == Retention::keep; }
    [[nodiscard]] bool is_named(std::size_t other, By by) const {
        return by == By::name ? model == other : file_of(model) == file_of(other);
    }
    [[nodiscard]] bool goes_now() const { return goes != Goes::stays; }
    void set(RetentionFlag to) {
        flag = to;
        if (is_kept() && goes == Goes::unless_kept) goes = Goes::stays;
    }
};

/// A mistake that one can make on purpose, to see that it is found.
enum class Mistake { none, keeping_is_forgotten };

class Reference {
public:
    struct Ejected {
        std::size_t model;
        By by;
        bool operator==(const Ejected&) const = default;
    };
    struct Requests {
        bool unloads = false;
        bool frees = false;
        bool unloads_all = false;
        std::vector<Ejected> ejected{};

        [[nodiscard]] bool any() const {
            return unloads || frees || unloads_all || !ejected.empty();
        }
    };
    struct Outcome {
        std::vector<ModelHandle> freed{};
        std::size_t unknown_names = 0;
    };

    explicit Reference(Mistake mistake) : mistake_(mistake) {}

    [[nodiscard]] Expected* find(ModelHandle handle) {
        const auto found = std::ranges::find(loaded, handle, &Expected::handle);
        return found == loaded.end() ? nullptr : &*found;
    }
    [[nodiscard]] Expected* find(std::size_t model, std::uint32_t version) {
        const auto found = std::ranges::find_if(loaded, [&](const Expected& each) {
            return each.model == model && each.version == version;
        });
        return found == loaded.end() ? nullptr : &*found;
    }
    [[nodiscard]] bool is_any(std::size_t model, By by) const {
        return std::ranges::any_of(loaded,
                                   [&](const Expected& each) { return each.is_named(model, by); });
    }
    void remove(ModelHandle handle) {
        std::erase_if(loaded, [&](const Expected& each) { return each.handle == handle; });
        gone.push_back(handle);
    }
    [[nodiscard]] bool has_leftovers() const {
        return std::ranges::any_of(
            loaded, [](const Expected& each) { return each.users == 0 && each.goes_now(); });
    }

    /// Carries out what was asked for.
    Outcome free() {
        Outcome outcome;
        const auto requests = std::exchange(pending, {});
        if (requests.unloads_all) {
            let_go(outcome, Expected::Goes::certainly, [](const Expected&) { return true; });
            return outcome;
        }
        const auto all = loaded;
        for (const auto& each : all)
            if (each.users == 0 && each.goes_now()) take_away(outcome, each.handle);
        for (const auto& [model, by] : requests.ejected) {
            if (!is_any(model, by)) ++outcome.unknown_names;
            let_go(outcome, Expected::Goes::certainly,
                   [&](const Expected& each) { return each.is_named(model, by); });
        }
        if (requests.unloads)
            let_go(outcome, Expected::Goes::unless_kept, [&](const Expected& each) {
                return !each.is_kept() || mistake_ == Mistake::keeping_is_forgotten;
            });
        return outcome;
    }

    std::vector<Expected> loaded{};  ///< in the order of loading
    std::vector<ModelHandle> gone{};
    Requests pending{};
    bool is_running = false;

private:
    void take_away(Outcome& outcome, ModelHandle handle) {
        outcome.freed.push_back(handle);
        remove(handle);
    }
    template <typename Chosen>
    void let_go(Outcome& outcome, Expected::Goes how, const Chosen& is_chosen) {
        std::vector<ModelHandle> chosen;
        for (auto& each : loaded) {
            if (!is_chosen(each)) continue;
            if (each.users == 0)
                chosen.push_back(each.handle);
            else
                each.goes = std::max(each.goes, how);
        }
        for (const auto handle : chosen) take_away(outcome, handle);
    }

    Mistake mistake_;
};

}  // namespace ballast::residency::property
