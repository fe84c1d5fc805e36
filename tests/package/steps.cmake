# Shared by the scripts of this folder, which are run with `cmake -P`.

# run(WHAT COMMAND...): runs it in WORK_DIR; its output is shown only when it fails.
function(run what)
    execute_process(COMMAND ${ARGN} WORKING_DIRECTORY "${WORK_DIR}"
        RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
    if(NOT status EQUAL 0)
        message("${output}")
        message(FATAL_ERROR "${what}: failed with ${status}")
    endif()
    set(output "${output}" PARENT_SCOPE)
    message(STATUS "${what}: done")
endfunction()

# configure(WHAT SOURCE BUILD OPTION...): with the compiler and flags of the build under test.
function(configure what source build)
    run("configuring ${what}" "${CMAKE_COMMAND}" -S "${source}" -B "${build}" -G "${GENERATOR}"
        "-DCMAKE_BUILD_TYPE=${BUILD_TYPE}"
        "-DCMAKE_CXX_COMPILER=${CXX}"
        "-DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}"
        "-DCMAKE_CXX_FLAGS_RELEASE=${FLAGS_RELEASE}"
        "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=${FLAGS_RELWITHDEBINFO}"
        ${ARGN})
endfunction()

# build(WHAT FOLDER [--target NAME]): all of it, or what the target needs.
function(build what folder)
    run("building ${what}" "${CMAKE_COMMAND}" --build "${folder}" --parallel 2 ${ARGN})
endfunction()

file(REMOVE_RECURSE "${WORK_DIR}")
file(MAKE_DIRECTORY "${WORK_DIR}")
