#pragma once
// What the tests of workflows share: recorded data, a folder of models, short ways to workflows.

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

#include "ballast/graph/folders.hpp"
#include "ballast/graph/json.hpp"
#include "ballast/graph/node_catalogue.hpp"
#include "ballast/graph/validation.hpp"
#include "ballast/graph/workflow.hpp"
#include "tests/support/temporary_folder.hpp"

namespace ballast::graph::testing {

using ballast::testing::TemporaryFolder;

/// JSON in a test, as it stands.
inline Json json(std::string_view text) {
    auto parsed = parse_json(text);
    if (!parsed) throw std::invalid_argument(to_string(parsed.error()));
    return *std::move(parsed);
}

/// A file below tests/.
inline Json recorded(const std::string& name) {
    const std::ifstream file(BALLAST_TEST_DATA "/" + name, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return json(text.str());
}

inline Workflow workflow_of(std::string_view text) {
    auto workflow = workflow_from_text(text);
    if (!workflow) throw std::invalid_argument(to_string(workflow.error()));
    return *std::move(workflow);
}

/// The directory that the recordings of the original server were made with. Files are empty: only
/// their names matter here.
class RecordedFolders {
public:
    RecordedFolders() {
        for (const char* file : {"models/checkpoints/a.ckpt",
                                 "models/checkpoints/b.safetensors",
                                 "models/checkpoints/more/c.safetensors",
                                 "models/checkpoints/readme.txt",
                                 "models/loras/one.safetensors",
                                 "models/loras/nometa.safetensors",
                                 "models/loras/two.pt",
                                 "models/vae/v.safetensors",
                                 "models/embeddings/emb1.pt",
                                 "models/embeddings/emb2.safetensors",
                                 "models/unet/u1.safetensors",
                                 "models/diffusion_models/d1.gguf",
                                 "models/diffusion_models/d2.sft",
                                 "models/text_encoders/t5.safetensors",
                                 "models/clip/clip_l.safetensors",
                                 "input/broken.png",
                                 "input/masked.png",
                                 "input/rgb.png",
                                 "input/rgba.png",
                                 "input/up (1).png",
                                 "input/up (2).png",
                                 "input/up.png",
                                 "input/page.html",
                                 "input/note.txt",
                                 "input/sub/inner.png",
                                 "output/made.png",
                                 "temp/seen.png"})
            root_.write(file, "");
    }

    [[nodiscard]] const TemporaryFolder& root() const { return root_; }
    [[nodiscard]] const Folders& folders() const { return folders_; }

private:
    TemporaryFolder root_;
    Folders folders_{{.model_roots = {root_ / "models"},
                      .input = root_ / "input",
                      .output = root_ / "output",
                      .temp = root_ / "temp"}};
};

}  // namespace ballast::graph::testing
