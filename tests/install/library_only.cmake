# Configures the library alone, as the README does for readers without Node: no target builds the program or the tests,
# and what is installed is complete without them. The archive is that of the whole build, which spares compiling it.
set(folder ${WHERE}/${NAME})
execute_process(COMMAND ${CMAKE_COMMAND} -S ${SOURCE} -B ${folder} -G Ninja --log-level=WARNING
                        -D CMAKE_CXX_COMPILER=${COMPILER} -D WASMFORMER_LIBRARY_ONLY=ON COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${folder} -- -t commands OUTPUT_VARIABLE commands
                COMMAND_ERROR_IS_FATAL ANY)
if(NOT commands MATCHES "libwasmformer[.]a" OR commands MATCHES "/src/cli/|catch2|cli11")
  message(SEND_ERROR "the build of the library alone has \"${CMAKE_MATCH_0}\"")
endif()

file(GLOB_RECURSE library ${WHERE}/moved/libwasmformer.a)
file(COPY ${library} DESTINATION ${folder})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${folder} --prefix ${folder}/installed OUTPUT_QUIET
                COMMAND_ERROR_IS_FATAL ANY)
file(GLOB_RECURSE all RELATIVE ${WHERE}/moved ${WHERE}/moved/*)
file(GLOB_RECURSE alone RELATIVE ${folder}/installed ${folder}/installed/*)
list(REMOVE_ITEM all bin/wasmformer)
if(NOT alone STREQUAL all)
  message(SEND_ERROR "the library alone installs\n${alone}\ninstead of\n${all}")
endif()
