# ballast::describe: what a model is and what a workflow is; no arithmetic, no tensor library.
ballast_library(ballast_describe
    FOLDERS models graph
    LINK ballast::engine nlohmann_json::nlohmann_json
    PRIVATE_LINK fmt::fmt)
add_library(ballast::describe ALIAS ballast_describe)
set_target_properties(ballast_describe PROPERTIES EXPORT_NAME describe)
