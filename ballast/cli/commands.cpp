#include <array>

#include "ballast/cli/command.hpp"
#include "ballast/cli/devices.hpp"
#include "ballast/cli/doctor.hpp"
#include "ballast/cli/help.hpp"
#include "ballast/cli/inspect.hpp"
#include "ballast/cli/plan.hpp"
#include "ballast/cli/run.hpp"
#include "ballast/cli/version.hpp"

namespace ballast::cli {
namespace {

// clang-format off
constexpr std::array kCommands = std::to_array<Command>({
    {.name = "run",
     .operand = "WORKFLOW",
     .summary = "Run a workflow and write its pictures",
     .description =
R"(Runs a ComfyUI workflow in API format (in ComfyUI: Workflow > Export (API)), or the workflow
inside a picture that Ballast or ComfyUI saved; "-" reads it from standard input. The workflow is
checked as a whole first: nothing is loaded if a node, a link or a value is wrong. Ctrl-C stops at
the next layer and leaves no half-written picture.

Model files are looked for in the folders of ComfyUI's models directory: checkpoints,
diffusion_models (unet), text_encoders (clip), vae, embeddings.

The paths of the pictures are printed, one a line, then seconds and memory. With --json (and in the
file of --report):
  {"status": "success|error|interrupted", "outputs": [{"node", "path", "type"}],
   "seconds": {"total", "load", "sample", "decode"},
   "devices": {"cpu": {"planned", "realised", "peak", "limit", "by_tag": {"weights", ...}}},
   "models": [{"name", "compute", "bytes", "blocks", "homes", "plan", ...}],
   "streaming": {...}, "cache": {"executed", "cached"}, "runs": [...], "warnings": [...]}
Sizes are bytes, figures by tag are the most that was held at once.)",
     .examples =
R"(ballast run workflow.json --models ~/ComfyUI/models --output pictures
ballast run workflow.json --set '6.text="a red circle"' --set 3.seed=7
ballast run pictures/ComfyUI_00001_.png
ballast run workflow.json --dry-run --memory-limit cpu=4gb)",
     .settings = kRunCommand,
     .run = run},
    {.name = "inspect",
     .operand = "FILE",
     .summary = "Say what a weight file holds",
     .description =
R"(Reads the header of a safetensors file and says what model it is, in which number formats
it is stored, and how it divides into blocks, the smallest units that are placed in memory.
Nothing but the header is read, so files of any size take milliseconds.

With --json:
  {"format", "size", "tensors", "bytes", "dtypes": {"F16": tensors}, "metadata": {},
   "model": {"family", "config"}, "blocks", "loose_bytes", "warnings": []}
and "verified_bytes" after --verify, "tensor_list" after --tensors.)",
     .examples =
R"(ballast inspect models/checkpoints/ballast-demo.safetensors
ballast inspect --json --tensors model.safetensors)",
     .settings = kInspectCommand,
     .run = inspect},
    {.name = "plan",
     .operand = "FILE",
     .need = Operand::optional,
     .summary = "Say where the blocks of models would live",
     .description =
R"(Plans for a workflow, for a file of weights, or with --blocks for a list of blocks, on this machine
or the one of --simulate. Nothing is allocated and only headers are read. Without --allocation the
placement with the shortest step is found, the compute device included.

A workflow is planned as it runs: each model when a node first needs it, beside those that are
loaded by then. Where room is missing, the models go that were not used for the longest time. What
a loader says of devices holds; --allocation is for networks of loaders that say nothing.

An allocation gives each device bytes, a percentage of the model or a fraction of its memory, in
the order in which they are filled from the model's head; "*" takes the rest:
  cuda:0,2.5gb;cuda:1,3gb;cpu,*     cuda:0,25%;cpu,75%     cuda:0,0.1;cpu,0.5
"#cuda:0;4.0;cpu" keeps 4 GiB of the model off cuda:0, on cpu; "disk" leaves blocks in their file.

With --json:
  {"compute", "mode", "blocks": [{"name", "bytes", "home", "pinned"}], "homes", "quotas",
   "ring_bytes", "activation_bytes", "bytes_per_step", "expected": {"step_s", "bound_s"}, "fits",
   "shortfall": {"cuda:0": {"needed", "available", "missing"}}, "warnings", "explanation"}
For a workflow these are the members of each model in
  {"models": [{"name", "node", "used_by", "evicted", "shape", "assumed_shape", ...}], "homes",
   "fits", "shortfall", "warnings"}
A plan that does not fit is printed, too, and the exit status is 4.)",
     .examples =
R"(ballast plan workflow.json --models ~/ComfyUI/models --simulate profiles/gtx-1650-4gb-16gb.json
ballast plan model.safetensors --explain
ballast plan --blocks blocks.json --allocation 'cuda:0,8gb;cpu,*' --simulate profiles/rtx-4090-64gb.json
ballast plan model.safetensors --virtual-vram 4 --donors cuda:1,cpu)",
     .settings = kPlanCommand,
     .run = plan},
    {.name = "devices",
     .summary = "List devices, their memory, and what is decided about it",
     .description =
R"(Says what memory this machine has, to which class each device belongs and by which rule, how much
of it may hold weights, and where networks, text encoders and autoencoders load and wait. With
--simulate the same for the machine that a profile describes; profiles/ has many.

Nothing is allocated and no driver context is made, so an idle GPU's free memory may be unknown.

With --json:
  {"host": {"total", "available", "limit"},
   "devices": [{"id", "name", "class", "rule", "vram_state", "total", "free", "free_source",
                "reserve", "budget", "weights_now", "pinned_limit", "streams",
                "choices": {"unet_offload", ...}, "soft_empty", ...}],
   "links": [...], "warnings": [...]}
Sizes are bytes; null is unknown. "budget" is the class's formula over totals, "weights_now" what a
plan may use at this moment.)",
     .examples =
R"(ballast devices
ballast devices --simulate profiles/dgx-spark-gb10-128gb.json
ballast devices --lowvram --reserve-vram 2 --json)",
     .settings = kDevicesCommand,
     .run = devices},
    {.name = "doctor",
     .summary = "Explain this machine's memory: what limits it, and what to change",
     .description =
R"(Says in plain words which class each device belongs to and why, what budget follows, what limits it
(a container, other programs, a carve-out), and what to change; checks environment variables and
container settings that help, hurt or do nothing on this machine.

--probe measures how fast memory copies and the disk of the models folder reads (a few seconds);
--save writes the machine's profile for --simulate on other machines, and for reports of faults.)",
     .examples =
R"(ballast doctor
ballast doctor --probe --models ~/ComfyUI/models --save my-machine.json
ballast doctor --simulate profiles/strix-halo-96gb-carve-out.json)",
     .settings = kDoctorCommand,
     .run = doctor},
    {.name = "help",
     .operand = "TOPIC",
     .need = Operand::optional,
     .summary = "Explain a command, or all settings (ballast help settings)",
     .settings = kHelpCommand,
     .run = help},
    {.name = "version",
     .summary = "Name this version and what it was built with",
     .settings = kVersionCommand,
     .run = version},
    {.name = "merge", .summary = "Burn adapters into a file"},
    {.name = "serve", .summary = "Serve ComfyUI's HTTP and WebSocket interface"},
    {.name = "status", .summary = "Ask a server what it holds"},
    {.name = "free", .summary = "Ask a server to give memory back"},
    {.name = "eject", .summary = "Ask a server to drop one model"},
    {.name = "bench", .summary = "Measure this machine against its bounds"},
});
// clang-format on

}  // namespace

std::span<const Command> commands() { return kCommands; }

const Command* find_command(std::string_view name) {
    for (const auto& command : kCommands)
        if (command.name == name) return &command;
    return nullptr;
}

}  // namespace ballast::cli
