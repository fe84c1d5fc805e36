#pragma once
// What a node class looks like from outside: its inputs with types and ranges, its outputs, its
// place in the menu. One declaration serves validation, the result cache, the command line and the
// server's description; what the node computes stands in the runtime.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ballast/graph/json.hpp"
#include "ballast/graph/whole_number.hpp"

namespace ballast::graph {

class Folders;

/// Largest width or height of any picture.
inline constexpr std::int64_t kMaxResolution = 16384;

/// An input that takes a result of another node: "MODEL", "LATENT", ...
struct LinkOnly {
    std::string type;
};

enum class SeedControl { none, after_generate };

/// INT.
struct IntegerField {
    WholeNumber default_value = 0;
    WholeNumber min = 0;
    WholeNumber max = 0;
    std::optional<WholeNumber> step = {};
    SeedControl seed = SeedControl::none;  ///< front ends offer to change it after each run
    std::string display = {};              ///< "color", or empty
};

/// How a front end rounds a FLOAT: by its own rule, to multiples of `to`, or not at all.
struct Rounding {
    enum class Kind { unstated, to_multiple, off } kind = Kind::unstated;
    double to = 0;
};

/// FLOAT.
struct NumberField {
    double default_value = 0;
    double min = 0;
    double max = 0;
    double step = 0.01;
    Rounding round = {};
};

enum class Lines { one, many };

/// STRING. `many` lines also take dynamic prompts ("{a|b}") in front ends.
struct TextField {
    std::optional<std::string> default_value = {};
    Lines lines = Lines::one;
};

/// What counts as a truth value: anything, as Python sees it (a text is true unless empty, "false"
/// too), or true and false alone.
enum class Truth { of_anything, literal };

/// BOOLEAN.
struct ToggleField {
    bool default_value = false;
    Truth truth = Truth::of_anything;
};

/// Files of a model folder type, listed anew at each use. `list` replaces the plain listing for
/// loaders that offer more names than there are files.
struct ModelFiles {
    std::string folder;
    std::vector<std::string> (*list)(const Folders&) = nullptr;
};

/// Pictures at the top level of the input folder, listed anew at each use.
struct InputPictures {};

/// Devices of the machine, by their names. Null and "None" mean the default, as in workflows of
/// machines on which no device was found.
struct PresentDevices {
    std::vector<std::string> names;
};

/// One of a set of names.
struct ChoiceField {
    std::variant<std::vector<std::string>, ModelFiles, InputPictures, PresentDevices> from;
    /// Whether a name that is offered, as in the original, can be used now; null: each can.
    bool (*is_available)(std::string_view name) = nullptr;
    std::string instead = {};        ///< what to use in place of one that cannot
    std::string default_value = {};  ///< empty: the first of a static list
};

/// A value that the host fills in: "PROMPT", "EXTRA_PNGINFO", "UNIQUE_ID".
struct HiddenField {
    std::string type;
};

/// A legacy input is taken from old workflows and offered to nobody: no description has it, and one
/// that is left out has no default.
enum class Presence { required, optional, legacy };
enum class Prominence { normal, advanced };

struct InputDeclaration {
    std::string name;
    std::variant<LinkOnly, IntegerField, NumberField, TextField, ToggleField, ChoiceField,
                 HiddenField>
        field;
    std::string tooltip = {};
    Presence presence = Presence::required;
    Prominence prominence = Prominence::normal;

    [[nodiscard]] bool is_hidden() const { return std::holds_alternative<HiddenField>(field); }
    [[nodiscard]] bool is_link_only() const { return std::holds_alternative<LinkOnly>(field); }
    /// "INT", "COMBO", "MODEL" ...
    [[nodiscard]] std::string type() const;
};

struct OutputDeclaration {
    std::string type;
    std::string name = {};     ///< empty: the type
    std::string tooltip = {};  ///< empty: none

    [[nodiscard]] const std::string& shown_name() const { return name.empty() ? type : name; }
};

/// Whether running a node has an effect beyond its outputs (a saved file), so that workflows are
/// run for its sake.
enum class Role { inner, output };

/// The two ways in which the original defines nodes; they differ in the server's description.
enum class Generation { classic, schema };

enum class Standing { current, deprecated };

/// The constants of a node by input name, as validated so far. Linked inputs are absent.
using Constants = Json;

/// Why a class refuses an input.
struct ClassRefusal {
    std::string details;  ///< what clients of the original are told
    std::string message;  ///< what is wrong, for the user
    std::string hint = {};
};

/// A class's own check of some inputs; range and choice checks of these are left to it.
struct ClassCheck {
    std::vector<std::string> inputs;
    /// Nothing if all is well.
    std::optional<ClassRefusal> (*check)(const Constants& constants,
                                         const Folders& folders) = nullptr;
};

/// Something besides inputs that a node's result depends on (the content of a file), as text. Two
/// equal texts promise an equal result; a failure makes the node run anew.
using ChangeDetector = Result<std::string> (*)(const Constants& constants, const Folders& folders);

struct NodeDeclaration {
    std::string class_type;
    std::string display_name = {};  ///< empty: the class name
    std::string category;
    std::string description = {};
    std::string module = "nodes";  ///< where the original defines it; clients group by it
    Generation generation = Generation::classic;
    Role role = Role::inner;
    Standing standing = Standing::current;
    std::vector<InputDeclaration> inputs = {};
    std::vector<OutputDeclaration> outputs = {};
    ClassCheck class_check = {};
    ChangeDetector change_detector = nullptr;

    /// The input of that name, hidden ones included; null if there is none.
    [[nodiscard]] const InputDeclaration* input(std::string_view name) const;
};

// Short forms for tables of declarations.
InputDeclaration link(std::string name, std::string type, std::string tooltip = {});
InputDeclaration choice(std::string name, std::vector<std::string> options,
                        std::string tooltip = {});
/// `input`, a choice, with names that cannot be used yet; `instead` is the remedy.
InputDeclaration available_if(bool (*is_available)(std::string_view), std::string instead,
                              InputDeclaration input);
InputDeclaration model_file(std::string name, std::string folder, std::string tooltip = {});
InputDeclaration hidden(std::string name, std::string type);
InputDeclaration optional(InputDeclaration input);
InputDeclaration legacy(InputDeclaration input);

/// The names that an input offers now: the static list, or a fresh listing.
std::vector<std::string> options(const ChoiceField& field, const Folders& folders);

Json to_json(WholeNumber value);

/// Value of an optional input that a workflow leaves out: the declared default, the first of a
/// static list of choices, or nothing. Legacy inputs have none.
std::optional<Json> default_value(const InputDeclaration& input);

}  // namespace ballast::graph
