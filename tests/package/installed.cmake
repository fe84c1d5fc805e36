# Installs, moves the tree to a path with a blank in it, and uses it from there: the program, the
# package by find_package, and each header alone.
include("${CMAKE_CURRENT_LIST_DIR}/steps.cmake")
set(first "${WORK_DIR}/first")
set(prefix "${WORK_DIR}/moved to here")

run("installing" "${CMAKE_COMMAND}" --install "${BUILD_DIR}" --prefix "${first}")
file(RENAME "${first}" "${prefix}")

file(GLOB descriptions "${prefix}/lib/cmake/ballast/*.cmake")
foreach(description IN LISTS descriptions)
    file(READ "${description}" text)
    foreach(path "${first}" "${SOURCE_DIR}" "${BUILD_DIR}")
        string(FIND "${text}" "${path}" at)
        if(NOT at EQUAL -1)
            message(FATAL_ERROR "${description} mentions ${path}")
        endif()
    endforeach()
endforeach()

configure("a consumer" "${CMAKE_CURRENT_LIST_DIR}/consumer" "${WORK_DIR}/consumer"
    "-DCMAKE_PREFIX_PATH=${prefix}" "-DBALLAST_HEADERS=${prefix}/include")
build("the consumer and each header alone" "${WORK_DIR}/consumer")
run("running the consumer" "${WORK_DIR}/consumer/consumer")

# what the headers reach, as the compiler saw it
if(GENERATOR STREQUAL "Ninja")
    run("asking what the headers include" ninja -C "${WORK_DIR}/consumer" -t deps)
    string(REPLACE "${WORK_DIR}" "" output "${output}")
    string(REGEX MATCH "[^\n]*/(torch|ATen|c10|boost|nlohmann|spdlog|fmt|CLI)/[^\n]*" foreign "${output}")
    if(foreign)
        message(FATAL_ERROR "an installed header reaches${foreign}")
    endif()
endif()

if(WITH_PROGRAM)
    run("asking the moved program for its version" env -i "${prefix}/bin/ballast" --version)
endif()
set(demo "${prefix}/share/ballast/demo")
if(WITH_PROGRAM AND WITH_RUNTIME)
    run("running the demo workflow from the moved tree" env -i "OMP_WAIT_POLICY=passive"
        "${prefix}/bin/ballast" run "${demo}/workflow.json" --models "${demo}/models"
        --output "${WORK_DIR}/output")
    file(GLOB_RECURSE pictures "${WORK_DIR}/output/*.png")
    if(NOT pictures)
        message(FATAL_ERROR "the moved program wrote no picture")
    endif()
endif()
