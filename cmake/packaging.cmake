# What `cmake --install` lays down: a tree that can be moved as a whole. The program looks for the
# runtime in ../lib beside itself, the runtime for libtorch in its own folder and then where it was
# found at build time. Other projects get ballast::engine with find_package(ballast).
option(BALLAST_INSTALL "Make install rules" ${PROJECT_IS_TOP_LEVEL})
if(NOT BALLAST_INSTALL)
    return()
endif()
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/ballast")
install(TARGETS ballast_engine EXPORT ballast_targets ARCHIVE COMPONENT engine)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/ballast/engine"
    DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/ballast" COMPONENT engine
    FILES_MATCHING PATTERN "*.hpp")
install(EXPORT ballast_targets FILE ballastTargets.cmake NAMESPACE ballast::
    DESTINATION "${package_dir}" COMPONENT engine)
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/ballastConfig.cmake.in"
    "${PROJECT_BINARY_DIR}/ballastConfig.cmake" INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/ballastConfigVersion.cmake"
    COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/ballastConfig.cmake"
              "${PROJECT_BINARY_DIR}/ballastConfigVersion.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/FindHwloc.cmake"
    DESTINATION "${package_dir}" COMPONENT engine)
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" "${PROJECT_SOURCE_DIR}/NOTICE"
    DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT engine)

if(BALLAST_CLI)
    install(TARGETS ballast RUNTIME COMPONENT program)
endif()
if(BALLAST_RUNTIME)
    install(TARGETS ballast_runtime LIBRARY COMPONENT program)
    install(DIRECTORY "${PROJECT_SOURCE_DIR}/data/demo"
        DESTINATION "${CMAKE_INSTALL_DATADIR}/ballast" COMPONENT program)
    # the vocabulary lies inside the runtime; its licence goes with it
    install(FILES "${PROJECT_SOURCE_DIR}/data/clip/LICENSE"
        DESTINATION "${CMAKE_INSTALL_DOCDIR}" RENAME LICENSE.clip-vocabulary COMPONENT program)
endif()
