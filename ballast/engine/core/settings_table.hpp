#pragma once
// The one table of everything a user can set. Command line options, environment names, the keys of
// a settings file, help texts and docs/settings.md all come from these rows.
//
// Names follow ComfyUI where it has one.

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

namespace ballast {

enum class SettingType {
    flag,           ///< given or not; "true"/"false" in files and environment
    text,           ///< any text
    path,           ///< a file or folder
    integer,        ///< a whole number in [least, most]
    number,         ///< a decimal number in [least, most]
    choice,         ///< one of `choices`
    device_size,    ///< DEVICE=SIZE, e.g. cpu=4gb
    device_choice,  ///< DEVICE=CHOICE, e.g. cuda:0=unified
    memory_share,   ///< GiB as a bare number, a size, or a percentage: 2.5, 2500mb, 8%
};

/// Which commands a setting belongs to, as bits.
using CommandMask = std::uint32_t;
inline constexpr CommandMask kRunCommand = 1U << 0U;
inline constexpr CommandMask kInspectCommand = 1U << 1U;
inline constexpr CommandMask kHelpCommand = 1U << 2U;
inline constexpr CommandMask kVersionCommand = 1U << 3U;
inline constexpr CommandMask kDevicesCommand = 1U << 4U;
inline constexpr CommandMask kDoctorCommand = 1U << 5U;
inline constexpr CommandMask kPlanCommand = 1U << 6U;
/// Commands that say what this machine's memory is or would hold; none of them computes.
inline constexpr CommandMask kMachineCommands = kDevicesCommand | kDoctorCommand | kPlanCommand;
inline constexpr CommandMask kEveryCommand = ~0U;

/// How often a setting may be given.
enum class Arity { once, list };

/// Where a setting may come from. What describes one call and no habit of the user has no
/// environment name and no place in a settings file.
enum class Reach { everywhere, command_line };

/// Headings of help and documentation, in the order in which they appear there.
enum class SettingGroup { files, workflow, memory, formats, processor, results, output };
inline constexpr std::size_t kSettingGroups = 7;

/// Settings of one such set exclude one another.
enum class Exclusive {
    none,
    vram_state,
    cache,
    all_types,
    unet_type,
    vae_type,
    text_encoder_type,
    allocator,
};

struct Setting {
    std::string_view name;        ///< "reserve-vram"; the option is --reserve-vram
    std::string_view alias = {};  ///< a second option name, ComfyUI's where ours is shorter
    SettingType type = SettingType::flag;
    std::string_view value_name = {};  ///< "DIR"; empty for flags
    std::string_view fallback = {};    ///< the value when nothing is given; empty: none
    std::string_view bare = {};        ///< the value of an option given without one; empty: needed
    double least = 0;
    double most = 0;
    std::string_view choices = {};        ///< "none|text"
    std::string_view later_choices = {};  ///< those of them that are announced only
    Arity arity = Arity::once;
    char separator = ',';  ///< between the elements of a list in the environment
    SettingGroup group = SettingGroup::output;
    Exclusive exclusive = Exclusive::none;
    CommandMask commands = kRunCommand;
    Reach reach = Reach::everywhere;
    /// Commands that recognise the setting, answer "not available yet", and have it in no help
    /// text.
    CommandMask announced = 0;
    std::string_view help = {};  ///< one sentence without a full stop
};

namespace settings_table {

using enum SettingType;
using enum SettingGroup;
using enum Exclusive;
using enum Arity;
using enum Reach;

// clang-format off
inline constexpr auto kRows = std::to_array<Setting>({
    // files
    {.name = "models", .alias = "models-directory", .type = path, .value_name = "DIR",
     .fallback = "models", .arity = list, .separator = ':', .group = files,
     .commands = kRunCommand | kDoctorCommand | kPlanCommand,
     .help = "Folder with checkpoints/, vae/, text_encoders/ ... as ComfyUI's models folder; "
             "repeat it to search several, first match wins"},
    {.name = "input", .alias = "input-directory", .type = path, .value_name = "DIR",
     .fallback = "input", .group = files, .commands = kRunCommand | kPlanCommand,
     .help = "Folder from which LoadImage takes pictures"},
    {.name = "output", .alias = "output-directory", .type = path, .value_name = "DIR",
     .fallback = "output", .group = files, .commands = kRunCommand | kPlanCommand,
     .help = "Folder that receives the pictures; made when it does not exist"},
    {.name = "temp-directory", .type = path, .value_name = "DIR", .group = files,
     .commands = kRunCommand | kPlanCommand,
     .help = "Folder that receives the pictures of PreviewImage; without it, temp/ inside the "
             "output folder"},
    {.name = "disable-metadata", .group = files,
     .help = "Do not write the workflow into the pictures"},
    {.name = "settings", .type = path, .value_name = "FILE", .group = files,
     .commands = kRunCommand | kMachineCommands, .reach = command_line,
     .help = "Read settings from a JSON file; the environment and the command line win over it"},

    // workflow
    {.name = "set", .type = text, .value_name = "NODE.INPUT=VALUE", .arity = list,
     .group = workflow, .commands = kRunCommand | kPlanCommand, .reach = command_line,
     .help = "Replace one input of the workflow before it is checked, e.g. 3.seed=42; repeatable"},
    {.name = "repeat", .type = integer, .value_name = "N", .fallback = "1", .least = 1,
     .most = 1'000'000, .group = workflow, .reach = command_line,
     .help = "Run the workflow N times in one process; later runs execute only what changed"},
    {.name = "dry-run", .group = workflow, .reach = command_line,
     .help = "Check the workflow, print which models it loads in which order, where their blocks "
             "would live and what goes before, and stop"},
    {.name = "blocks", .type = path, .value_name = "FILE", .group = workflow,
     .commands = kPlanCommand, .reach = command_line,
     .help = "Plan for a list of blocks in JSON instead of a file of weights"},
    {.name = "width", .type = integer, .value_name = "PIXELS", .fallback = "512", .least = 8,
     .most = 16'384, .group = workflow, .commands = kPlanCommand, .reach = command_line,
     .help = "Width of the picture, for the estimate of activations"},
    {.name = "height", .type = integer, .value_name = "PIXELS", .fallback = "512", .least = 8,
     .most = 16'384, .group = workflow, .commands = kPlanCommand, .reach = command_line,
     .help = "Height of the picture"},
    {.name = "batch", .type = integer, .value_name = "N", .fallback = "1", .least = 1,
     .most = 4'096, .group = workflow, .commands = kPlanCommand, .reach = command_line,
     .help = "Pictures at a time"},
    {.name = "frames", .type = integer, .value_name = "N", .fallback = "1", .least = 1,
     .most = 100'000, .group = workflow, .commands = kPlanCommand, .reach = command_line,
     .help = "Frames of a film"},

    // memory
    {.name = "memory-limit", .type = device_size, .value_name = "DEVICE=SIZE", .arity = list,
     .group = memory,
     .commands = kRunCommand | kMachineCommands,
     .help = "Never hold more than SIZE on DEVICE, e.g. cpu=4gb; what does not fit is refused "
             "before it is read; one for each device"},
    {.name = "cpu", .group = memory, .exclusive = vram_state,
     .commands = kRunCommand | kMachineCommands,
     .help = "Compute on the processor and use no accelerator"},
    {.name = "gpu-only", .group = memory, .exclusive = vram_state,
     .commands = kRunCommand | kMachineCommands,
     .help = "Keep and run everything on the GPU"},
    {.name = "highvram", .group = memory, .exclusive = vram_state,
     .commands = kRunCommand | kMachineCommands,
     .help = "Leave models on the GPU after use"},
    {.name = "normalvram", .group = memory, .exclusive = vram_state,
     .commands = kRunCommand | kMachineCommands,
     .help = "Place models automatically"},
    {.name = "lowvram", .group = memory, .exclusive = vram_state,
     .commands = kRunCommand | kMachineCommands,
     .help = "Run text encoders on the processor"},
    {.name = "novram", .group = memory, .exclusive = vram_state,
     .commands = kRunCommand | kMachineCommands,
     .help = "Keep no weights on the GPU, stream them at use"},
    {.name = "reserve-vram", .type = memory_share, .value_name = "GIB", .group = memory,
     .commands = kRunCommand | kMachineCommands,
     .help = "Memory of each GPU to leave to other programs: GiB, a size with its unit, or a share "
             "of the GPU's memory, e.g. 2.5, 800mb, 10%"},
    {.name = "memory-class", .type = device_choice, .value_name = "DEVICE=CLASS",
     .choices = "auto|unified|discrete", .arity = list, .group = memory,
     .commands = kRunCommand | kMachineCommands,
     .help = "Treat DEVICE as sharing the host's memory (unified) or not (discrete), whatever the "
             "driver says: auto, unified, discrete; e.g. cuda:0=unified"},
    {.name = "cpu-vae", .group = memory,
     .commands = kRunCommand | kMachineCommands,
     .help = "Run the VAE on the processor"},
    {.name = "default-retention", .type = choice, .value_name = "WHAT", .fallback = "release",
     .choices = "release|keep", .group = memory, .commands = kRunCommand | kPlanCommand,
     .help = "Whether models stay when memory is freed whose loader does not say so "
             "(keep_loaded): release, keep"},
    {.name = "strict-retention", .group = memory, .commands = kRunCommand | kPlanCommand,
     .help = "Never let a model that is kept make room for another one, refuse the other instead"},
    {.name = "keep", .type = text, .value_name = "NAME", .arity = list, .group = memory,
     .commands = kRunCommand | kPlanCommand, .reach = command_line,
     .help = "Keep the model NAME loaded whatever is freed: a file's name, or that of one of its "
             "parts, e.g. \"sd15.safetensors (vae)\"; may be repeated"},
    {.name = "free-between", .type = choice, .value_name = "WHAT", .fallback = "none",
     .choices = "none|models|cache|both", .group = memory, .reach = command_line,
     .help = "With --repeat, free memory after each run: models that are not kept, the results of "
             "nodes (cache), or both"},
    {.name = "eject-between", .type = text, .value_name = "NAME", .arity = list, .group = memory,
     .reach = command_line,
     .help = "With --repeat, let the model NAME go after each run, kept or not; may be repeated"},
    {.name = "unload-between", .group = memory, .reach = command_line,
     .help = "With --repeat, let every model go after each run, kept or not"},
    {.name = "memory-log", .group = output,
     .help = "Log what each device holds around loading and freeing, as ComfyUI-MultiGPU does, at "
             "the level focus"},
    {.name = "allocation", .type = text, .value_name = "TEXT", .group = memory,
     .commands = kRunCommand | kPlanCommand,
     .help = "Say which device holds how much of a model: cuda:0,2.5gb;cpu,* or cuda:0,25%;cpu,75% "
             "or #cuda:0;4.0;cpu; without it the best placement is found. In a workflow it is for "
             "the networks whose loaders say nothing themselves"},
    {.name = "placement", .type = choice, .value_name = "KIND", .fallback = "ballast",
     .choices = "ballast|distorch2", .group = memory, .commands = kPlanCommand,
     .reach = command_line,
     .help = "How an allocation is carried out; distorch2 places as ComfyUI-MultiGPU does, to "
             "compare"},
    {.name = "compute", .type = text, .value_name = "DEVICE", .group = memory,
     .commands = kPlanCommand, .reach = command_line,
     .help = "The device that computes, when the allocation names none"},
    {.name = "virtual-vram", .type = number, .value_name = "GIB", .least = 0, .most = 128,
     .group = memory, .commands = kPlanCommand, .reach = command_line,
     .help = "Keep so much of the model off the compute device, on --donors"},
    {.name = "donors", .type = text, .value_name = "DEVICES", .fallback = "cpu", .group = memory,
     .commands = kPlanCommand, .reach = command_line,
     .help = "Devices that take what --virtual-vram frees, in this order, e.g. cuda:1,cpu"},
    {.name = "activation", .type = text, .value_name = "SIZE", .group = memory,
     .commands = kPlanCommand, .reach = command_line,
     .help = "Memory that one step needs beside the weights; without it, an estimate from the size "
             "of the picture where the model is known"},
    {.name = "text-encoder", .group = memory, .commands = kPlanCommand, .reach = command_line,
     .help = "The model is a text encoder: its embeddings stay where it computes"},
    {.name = "disable-smart-memory", .group = memory,
     .commands = kRunCommand | kMachineCommands, .announced = kRunCommand,
     .help = "Give all memory back after each run"},
    {.name = "disable-pinned-memory", .group = memory,
     .commands = kRunCommand | kMachineCommands,
     .help = "Do not pin host memory"},
    {.name = "async-offload", .type = integer, .value_name = "N", .bare = "2", .least = 0,
     .most = 64, .group = memory,
     .commands = kRunCommand | kMachineCommands,
     .help = "Number of streams that move weights beside the arithmetic"},
    {.name = "disable-async-offload", .group = memory,
     .commands = kRunCommand | kMachineCommands,
     .help = "Move weights on the compute stream"},
    {.name = "force-non-blocking", .group = memory,
     .announced = kRunCommand,
     .help = "Make every copy between host and device asynchronous"},
    {.name = "cuda-malloc", .group = memory, .exclusive = allocator,
     .announced = kRunCommand,
     .help = "Use the driver's asynchronous pool allocator"},
    {.name = "disable-cuda-malloc", .group = memory, .exclusive = allocator,
     .announced = kRunCommand,
     .help = "Do not use the driver's asynchronous pool allocator"},
    {.name = "disable-mmap", .group = memory,
     .announced = kRunCommand,
     .help = "Do not map weight files"},
    {.name = "mmap-torch-files", .group = memory,
     .announced = kRunCommand,
     .help = "Map checkpoints in torch's own format"},
    {.name = "simulate", .type = path, .value_name = "PROFILE", .group = memory,
     .commands = kRunCommand | kMachineCommands, .reach = command_line,
     .help = "Behave as the machine that the profile describes: its devices hold and move what they "
             "would, while this processor computes"},
    {.name = "clock", .type = choice, .value_name = "CLOCK", .fallback = "virtual",
     .choices = "real|virtual", .group = memory, .reach = command_line,
     .help = "Time of simulated devices: virtual passes at once, real as it would on them"},

    // number formats
    {.name = "fp32-unet", .group = formats, .exclusive = unet_type,
     .commands = kRunCommand | kMachineCommands,
     .help = "Compute the diffusion model in 32 bits"},
    {.name = "bf16-unet", .group = formats, .exclusive = unet_type,
     .commands = kRunCommand | kMachineCommands,
     .help = "Compute the diffusion model in bfloat16: faster where the processor has it, less "
             "exact"},
    {.name = "fp16-unet", .group = formats, .exclusive = unet_type,
     .commands = kRunCommand | kMachineCommands,
     .help = "Accepted for ComfyUI's sake; a processor computes in 32 bits then, as half "
             "precision is slower there"},
    {.name = "fp64-unet", .group = formats, .exclusive = unet_type,
     .commands = kRunCommand | kMachineCommands, .announced = kRunCommand,
     .help = "Compute the diffusion model in 64 bits"},
    {.name = "fp8_e4m3fn-unet", .group = formats, .exclusive = unet_type,
     .commands = kRunCommand | kMachineCommands, .announced = kRunCommand,
     .help = "Keep the diffusion model in 8 bits (e4m3)"},
    {.name = "fp8_e5m2-unet", .group = formats, .exclusive = unet_type,
     .commands = kRunCommand | kMachineCommands, .announced = kRunCommand,
     .help = "Keep the diffusion model in 8 bits (e5m2)"},
    {.name = "fp8_e8m0fnu-unet", .group = formats, .exclusive = unet_type,
     .commands = kRunCommand | kMachineCommands, .announced = kRunCommand,
     .help = "Keep the diffusion model in 8 bits (e8m0)"},
    {.name = "fp32-vae", .group = formats, .exclusive = vae_type,
     .commands = kRunCommand | kMachineCommands,
     .help = "Compute the VAE in 32 bits"},
    {.name = "bf16-vae", .group = formats, .exclusive = vae_type,
     .commands = kRunCommand | kMachineCommands,
     .help = "Compute the VAE in bfloat16"},
    {.name = "fp16-vae", .group = formats, .exclusive = vae_type,
     .commands = kRunCommand | kMachineCommands,
     .help = "As --fp16-unet, for the VAE"},
    {.name = "fp32-text-enc", .group = formats, .exclusive = text_encoder_type,
     .commands = kRunCommand | kMachineCommands,
     .help = "Compute the text encoder in 32 bits"},
    {.name = "bf16-text-enc", .group = formats, .exclusive = text_encoder_type,
     .commands = kRunCommand | kMachineCommands,
     .help = "Compute the text encoder in bfloat16"},
    {.name = "fp16-text-enc", .group = formats, .exclusive = text_encoder_type,
     .commands = kRunCommand | kMachineCommands,
     .help = "As --fp16-unet, for the text encoder"},
    {.name = "fp8_e4m3fn-text-enc", .group = formats, .exclusive = text_encoder_type,
     .commands = kRunCommand | kMachineCommands, .announced = kRunCommand,
     .help = "Keep the text encoder in 8 bits (e4m3)"},
    {.name = "fp8_e5m2-text-enc", .group = formats, .exclusive = text_encoder_type,
     .commands = kRunCommand | kMachineCommands, .announced = kRunCommand,
     .help = "Keep the text encoder in 8 bits (e5m2)"},
    {.name = "force-fp32", .group = formats, .exclusive = all_types,
     .commands = kRunCommand | kMachineCommands, .announced = kRunCommand,
     .help = "Compute everything in 32 bits"},
    {.name = "force-fp16", .group = formats, .exclusive = all_types,
     .commands = kRunCommand | kMachineCommands, .announced = kRunCommand,
     .help = "Compute everything in half precision"},
    {.name = "supports-fp8-compute", .group = formats,
     .commands = kRunCommand | kMachineCommands, .announced = kRunCommand,
     .help = "Claim that the device multiplies in 8 bits"},
    {.name = "fast", .type = text, .value_name = "LIST", .bare = "all", .arity = list,
     .group = formats,
     .commands = kRunCommand | kMachineCommands, .announced = kRunCommand,
     .help = "Allow faster arithmetic that is less exact"},

    // processor and devices
    {.name = "threads", .type = integer, .value_name = "N", .fallback = "0", .least = 0,
     .most = 4096, .group = processor,
     .help = "Threads of the arithmetic; 0 takes one for each core. Results are equal bit for bit"
             " only for equal N"},
    {.name = "deterministic", .group = processor,
     .announced = kRunCommand,
     .help = "Use only algorithms with reproducible results on the GPU"},
    {.name = "directml", .type = integer, .value_name = "N", .bare = "-1", .least = -1,
     .most = 1024, .group = processor,
     .announced = kRunCommand,
     .help = "Compute on a DirectML adapter"},
    {.name = "cuda-device", .type = integer, .value_name = "N", .least = 0, .most = 1024,
     .group = processor,
     .commands = kRunCommand | kMachineCommands, .announced = kRunCommand,
     .help = "Use this GPU and hide all others"},
    {.name = "default-device", .type = integer, .value_name = "N", .least = 0, .most = 1024,
     .group = processor,
     .commands = kRunCommand | kMachineCommands, .announced = kRunCommand,
     .help = "Prefer this GPU and keep the others visible"},
    {.name = "runtime-library", .type = path, .value_name = "FILE", .group = processor,
     .help = "The shared library that computes; without it, libballast_runtime.so beside the "
             "program or in ../lib"},

    // results kept between runs
    {.name = "cache-classic", .group = results, .exclusive = cache,
     .help = "With --repeat, keep the results of all nodes of the workflow (what happens by "
             "default)"},
    {.name = "cache-lru", .type = integer, .value_name = "N", .least = 1, .most = 1'000'000,
     .group = results, .exclusive = cache,
     .help = "With --repeat, keep at most N results, the most recently used"},
    {.name = "cache-none", .group = results, .exclusive = cache,
     .help = "Drop a result as soon as no node needs it"},
    {.name = "cache-ram", .type = number, .value_name = "GIB", .bare = "4.0", .least = 0,
     .most = 1'000'000, .group = results, .exclusive = cache,
     .announced = kRunCommand,
     .help = "Drop results when less than GIB of memory is left"},

    // what is printed
    {.name = "tensors", .commands = kInspectCommand, .reach = command_line,
     .help = "List every tensor: name, format, shape, offset, bytes"},
    {.name = "verify", .commands = kInspectCommand, .reach = command_line,
     .help = "Read all bytes of the file, to find out whether the disk delivers them"},
    {.name = "probe", .commands = kDoctorCommand, .reach = command_line,
     .help = "Measure how fast memory copies and the disk of the models folder reads"},
    {.name = "save", .type = path, .value_name = "FILE", .commands = kDoctorCommand,
     .reach = command_line,
     .help = "Write the machine's profile to FILE as JSON, for --simulate"},
    {.name = "explain", .commands = kPlanCommand, .reach = command_line,
     .help = "Say for each device why it got what it got, and list every block"},
    {.name = "chart", .type = path, .value_name = "FILE", .commands = kPlanCommand,
     .reach = command_line,
     .help = "Draw the plan into FILE as a picture (SVG): a bar for each device"},
    {.name = "report", .type = path, .value_name = "FILE", .reach = command_line,
     .help = "Write the run's figures to FILE as JSON: seconds, bytes per device, models, cache"},
    {.name = "json", .commands = kEveryCommand, .reach = command_line,
     .help = "Print exactly one JSON document on standard output, errors included"},
    {.name = "quiet",
     .help = "Print errors only"},
    {.name = "preview", .type = choice, .value_name = "KIND", .fallback = "none",
     .choices = "none|text", .later_choices = "text",
     .help = "Preview of the picture while it is made"},
    {.name = "log-level", .type = choice, .value_name = "LEVEL", .fallback = "focus",
     .choices = "debug|info|focus|warning|error",
     .help = "Least level of the messages on standard error"},
    {.name = "verbose",
     .help = "As --log-level debug"},
});
// clang-format on

}  // namespace settings_table

inline constexpr const auto& kSettings = settings_table::kRows;

/// The commands that can use the setting now.
constexpr CommandMask commands_now(const Setting& setting) {
    return setting.commands & ~setting.announced;
}

}  // namespace ballast
