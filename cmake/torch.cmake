# libtorch as imported targets, without find_package(Torch): that drags in run paths, defines and
# include folders which shadow the system's fmt. Headers go last on the search path (-idirafter).
set(BALLAST_TORCH_PINNED "2.13.0")
set(BALLAST_TORCH_ROOT "$ENV{BALLAST_TORCH_ROOT}" CACHE PATH
    "Folder with include/ and lib/ of libtorch (for a Python package: site-packages/torch)")
set(root "${BALLAST_TORCH_ROOT}")
if(NOT root)
    file(GLOB candidates "${PROJECT_SOURCE_DIR}/.venv/lib/python3*/site-packages/torch")
    if(candidates)
        list(GET candidates 0 root)
    endif()
endif()
if(NOT root)
    find_package(Python3 COMPONENTS Interpreter QUIET)
    if(Python3_EXECUTABLE)
        # find_spec does not import torch, which would take more than a second
        execute_process(COMMAND "${Python3_EXECUTABLE}" -c
            "import importlib.util as u,os;s=u.find_spec('torch');print(os.path.dirname(s.origin) if s else '')"
            OUTPUT_VARIABLE root OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    endif()
endif()
if(NOT root STREQUAL BALLAST_TORCH_FOUND_IN)
    # what a former libtorch answered does not hold for this one
    unset(BALLAST_TORCH_INCLUDE CACHE)
    unset(BALLAST_TORCH_CPU CACHE)
    unset(BALLAST_TORCH_C10 CACHE)
    set(BALLAST_TORCH_FOUND_IN "${root}" CACHE INTERNAL "The libtorch that was searched last")
endif()
find_path(BALLAST_TORCH_INCLUDE ATen/core/Tensor.h PATHS "${root}/include" NO_DEFAULT_PATH)
find_library(BALLAST_TORCH_CPU torch_cpu PATHS "${root}/lib" NO_DEFAULT_PATH)
find_library(BALLAST_TORCH_C10 c10 PATHS "${root}/lib" NO_DEFAULT_PATH)
mark_as_advanced(BALLAST_TORCH_INCLUDE BALLAST_TORCH_CPU BALLAST_TORCH_C10)
if(NOT BALLAST_TORCH_INCLUDE OR NOT BALLAST_TORCH_CPU OR NOT BALLAST_TORCH_C10)
    message(FATAL_ERROR "libtorch was not found (looked in '${root}'). Run scripts/setup.sh, which "
        "installs torch ${BALLAST_TORCH_PINNED} into .venv, or pass -DBALLAST_TORCH_ROOT=<folder "
        "with include/ and lib/>, or build only the engine with -DBALLAST_RUNTIME=OFF.")
endif()
cmake_path(GET BALLAST_TORCH_CPU PARENT_PATH BALLAST_TORCH_LIBDIR)
file(STRINGS "${BALLAST_TORCH_INCLUDE}/torch/headeronly/version.h" version_lines
    REGEX "#define TORCH_VERSION_(MAJOR|MINOR|PATCH) ")
string(REGEX REPLACE ".*MAJOR ([0-9]+).*MINOR ([0-9]+).*PATCH ([0-9]+).*" "\\1.\\2.\\3"
    BALLAST_TORCH_VERSION "${version_lines}")
# operators are called by their full signatures, which change between minor versions
string(REGEX MATCH "^[0-9]+\\.[0-9]+\\." pinned_series "${BALLAST_TORCH_PINNED}")
string(FIND "${BALLAST_TORCH_VERSION}" "${pinned_series}" at)
if(NOT at EQUAL 0)
    message(FATAL_ERROR "libtorch in ${root} is version ${BALLAST_TORCH_VERSION}; Ballast needs "
        "${pinned_series}x. Install torch==${BALLAST_TORCH_PINNED} or name another folder with "
        "-DBALLAST_TORCH_ROOT.")
endif()
message(STATUS "libtorch ${BALLAST_TORCH_VERSION} in ${BALLAST_TORCH_LIBDIR}")

add_library(ballast_c10 SHARED IMPORTED)
set_target_properties(ballast_c10 PROPERTIES IMPORTED_LOCATION "${BALLAST_TORCH_C10}")
add_library(ballast_torch SHARED IMPORTED)
set_target_properties(ballast_torch PROPERTIES
    IMPORTED_LOCATION "${BALLAST_TORCH_CPU}"
    INTERFACE_LINK_LIBRARIES ballast_c10
    # what a libtorch for accelerators needs lies in folders that the loader finds, not the linker
    INTERFACE_LINK_OPTIONS "LINKER:--allow-shlib-undefined"
    INTERFACE_COMPILE_OPTIONS "SHELL:-idirafter ${BALLAST_TORCH_INCLUDE}")
