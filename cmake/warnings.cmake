# The warning set of our own code, as errors in developer builds. Attach with ballast_warnings(target).
option(BALLAST_WERROR "Treat warnings in our code as errors" ON)
function(ballast_warnings target)
    target_compile_options(${target} PRIVATE
        -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast
        -Wnon-virtual-dtor -Woverloaded-virtual
        $<$<CXX_COMPILER_ID:GNU>:-Wuseless-cast -Wduplicated-cond>
        # its data flow gives false alarms about containers once more is inlined
        $<$<AND:$<CXX_COMPILER_ID:GNU>,$<NOT:$<CONFIG:Release>>>:-Wnull-dereference>
        $<$<BOOL:${BALLAST_WERROR}>:-Werror>)
endfunction()
