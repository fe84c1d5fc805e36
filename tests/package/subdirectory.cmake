# Ballast added to another project with add_subdirectory brings the engine and nothing else.
include("${CMAKE_CURRENT_LIST_DIR}/steps.cmake")

configure("a consumer" "${CMAKE_CURRENT_LIST_DIR}/consumer" "${WORK_DIR}/consumer"
    "-DBALLAST_SUBDIRECTORY=${SOURCE_DIR}")
build("the consumer" "${WORK_DIR}/consumer" --target consumer)
run("running the consumer" "${WORK_DIR}/consumer/consumer")

run("installing the consumer" "${CMAKE_COMMAND}" --install "${WORK_DIR}/consumer"
    --prefix "${WORK_DIR}/prefix")
file(GLOB_RECURSE installed RELATIVE "${WORK_DIR}/prefix" "${WORK_DIR}/prefix/*")
if(NOT installed STREQUAL "bin/consumer")
    message(FATAL_ERROR "the consumer's installation holds more than its own: ${installed}")
endif()
