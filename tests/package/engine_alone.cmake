# Everything but the runtime builds and passes its tests on a machine without libtorch.
include("${CMAKE_CURRENT_LIST_DIR}/steps.cmake")
set(build_dir "${WORK_DIR}/build")

configure("Ballast without its runtime" "${SOURCE_DIR}" "${build_dir}"
    -DBALLAST_RUNTIME=OFF -DBALLAST_PACKAGE_TESTS=OFF
    "-DBALLAST_TORCH_ROOT=${WORK_DIR}/there-is-no-libtorch-here")
file(READ "${build_dir}/build.ninja" commands)
string(REGEX MATCH "[^\n]*(idirafter|torch_cpu|libc10)[^\n]*" torch "${commands}")
if(torch)
    message(FATAL_ERROR "the build without the runtime mentions libtorch: ${torch}")
endif()
build("Ballast without its runtime" "${build_dir}")
run("testing Ballast without its runtime" "${CMAKE_CTEST_COMMAND}" --test-dir "${build_dir}"
    --no-tests=error --output-on-failure -j 2)
