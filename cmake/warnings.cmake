# The warning set of our own code, as errors in developer builds. Attach with ballast_warnings(target).
option(BALLAST_WERROR "Treat warnings in our code as errors" ON)
function(ballast_warnings target)
    target_compile_options(${target} PRIVATE
        -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast
        -Wnon-virtual-dtor -Woverloaded-virtual
        $<$<CXX_COMPILER_ID:GNU>:-Wuseless-cast -Wnull-dereference -Wduplicated-cond>
        $<$<BOOL:${BALLAST_WERROR}>:-Werror>)
endfunction()
