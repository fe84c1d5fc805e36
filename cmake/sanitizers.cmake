# BALLAST_SANITIZE=address,undefined or =thread instruments everything we compile.
set(BALLAST_SANITIZE "" CACHE STRING "Sanitizers to build with, comma separated")
if(BALLAST_SANITIZE)
    add_compile_options(-fsanitize=${BALLAST_SANITIZE} -fno-sanitize-recover=all
                        -fno-omit-frame-pointer)
    add_link_options(-fsanitize=${BALLAST_SANITIZE})
endif()
if(BALLAST_FUZZ)
    # everything reports its branches to the fuzzer; only the targets themselves link its main
    add_compile_options(-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
                        -fno-omit-frame-pointer)
    add_link_options(-fsanitize=address,undefined)
endif()
option(BALLAST_COVERAGE "Instrument for gcov" OFF)
if(BALLAST_COVERAGE)
    add_compile_options(--coverage -fprofile-update=atomic)
    add_link_options(--coverage)
endif()
