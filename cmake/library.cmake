# ballast_library(NAME FOLDERS a b ... LINK ... [PRIVATE_LINK ...]): a static library of all
# sources in the given folders of ballast/, with our warnings and the root on the include path.
# Sources are found by pattern, so that a new file (a node, a sampler) needs no edit here.
function(ballast_library name)
    cmake_parse_arguments(arg "" "" "FOLDERS;LINK;PRIVATE_LINK" ${ARGN})
    set(sources)
    foreach(folder IN LISTS arg_FOLDERS)
        file(GLOB_RECURSE found CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/ballast/${folder}/*.cpp")
        list(APPEND sources ${found})
    endforeach()
    if(NOT sources)
        file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/${name}_empty.cpp" "")
        set(sources "${CMAKE_CURRENT_BINARY_DIR}/${name}_empty.cpp")
    endif()
    add_library(${name} STATIC ${sources})
    target_include_directories(${name} PUBLIC
        $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    target_compile_features(${name} PUBLIC cxx_std_20)
    target_link_libraries(${name} PUBLIC ${arg_LINK} PRIVATE ${arg_PRIVATE_LINK})
    ballast_warnings(${name})
endfunction()
