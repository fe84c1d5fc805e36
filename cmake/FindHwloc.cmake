# hwloc, which knows processors and caches, as the target hwloc::hwloc. (It has no package file of
# its own.) Installed beside Ballast's package file, whose users link it too.
find_path(HWLOC_INCLUDE_DIR hwloc.h)
find_library(HWLOC_LIBRARY hwloc)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Hwloc REQUIRED_VARS HWLOC_LIBRARY HWLOC_INCLUDE_DIR
    REASON_FAILURE_MESSAGE "install libhwloc-dev")
if(Hwloc_FOUND AND NOT TARGET hwloc::hwloc)
    add_library(hwloc::hwloc UNKNOWN IMPORTED)
    set_target_properties(hwloc::hwloc PROPERTIES
        IMPORTED_LOCATION "${HWLOC_LIBRARY}"
        INTERFACE_INCLUDE_DIRECTORIES "${HWLOC_INCLUDE_DIR}")
endif()
mark_as_advanced(HWLOC_INCLUDE_DIR HWLOC_LIBRARY)
