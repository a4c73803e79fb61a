# Configures a project that has this one inside, by add_subdirectory and by FetchContent, and compiles its own file: the
# project gets the library, none of its tests and nothing to install. tests/environments/cpp.test.mjs builds all of it.
foreach(way add_subdirectory FetchContent)
  set(folder ${WHERE}/${NAME}-${way})
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${SOURCE}/tests/install/inside -B ${folder} -G ${GENERATOR} --log-level=WARNING
                          -D CMAKE_CXX_COMPILER=${COMPILER} -D WAY=${way} -D WASMFORMER_FOLDER=${SOURCE}
                  COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${CMAKE_COMMAND} --build ${folder} --target CMakeFiles/inside.dir/inside.cpp.o
                  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
  file(READ ${folder}/targets targets)
  if(NOT targets MATCHES "wasmformer_library" OR targets MATCHES "(test|catch2|cli|bench|fuzz|mpi)")
    message(SEND_ERROR "${way} brings the targets ${targets}")
  endif()
  execute_process(COMMAND ${CMAKE_COMMAND} --install ${folder} --prefix ${folder}/installed OUTPUT_QUIET
                  COMMAND_ERROR_IS_FATAL ANY)
  if(EXISTS ${folder}/installed)
    message(SEND_ERROR "${way} installs files into the prefix of the project around it")
  endif()
endforeach()
