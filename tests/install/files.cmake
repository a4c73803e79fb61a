# Installs the build into WHERE, moves all of it elsewhere, and looks at what there is.
file(REMOVE_RECURSE ${WHERE})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${WHERE}/first OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
file(RENAME ${WHERE}/first ${WHERE}/moved)

foreach(name bin/wasmformer libwasmformer.a wasmformer-config.cmake include/wasmformer/wasmformer.h
             include/wasmformer/eigen/Eigen/Core share/doc/wasmformer/LICENSE share/doc/wasmformer/LICENSES.txt)
  file(GLOB_RECURSE found ${WHERE}/moved/${name})
  if(NOT found)
    message(SEND_ERROR "${name} is not installed")
  endif()
endforeach()

file(GLOB_RECURSE library ${WHERE}/moved/libwasmformer.a)

file(GLOB_RECURSE texts ${WHERE}/moved/*.cmake ${WHERE}/moved/include/wasmformer/*.h)
foreach(text IN LISTS texts)
  file(READ ${text} content)
  if(content MATCHES "[^A-Z_]EIGEN_|[^_a-z]Eigen::|namespace Eigen|<Eigen/")
    message(SEND_ERROR "${text} uses the names of another Eigen: ${CMAKE_MATCH_0}")
  endif()
  foreach(folder ${SOURCE} ${BUILD} ${CACHE} ${WHERE})
    string(FIND "${content}" "${folder}" place)
    if(NOT place EQUAL -1)
      message(SEND_ERROR "${text} names ${folder}")
    endif()
  endforeach()
endforeach()

# Others' packages are not installed as such.
file(GLOB entries RELATIVE ${WHERE}/moved ${WHERE}/moved/include/* ${WHERE}/moved/share/* ${WHERE}/moved/share/doc/*)
foreach(entry IN LISTS entries)
  if(NOT entry MATCHES "^(include/wasmformer|share/doc|share/doc/wasmformer)$")
    message(SEND_ERROR "${entry} is installed")
  endif()
endforeach()

# All that the linker sees is of this project, by its name or by a template's argument, or a template of a library that
# the headers use.
execute_process(COMMAND ${NM} -g ${library} OUTPUT_FILE ${WHERE}/symbols COMMAND_ERROR_IS_FATAL ANY)
file(STRINGS ${WHERE}/symbols strong REGEX " [ABCDGRST] ")
file(STRINGS ${WHERE}/symbols weak REGEX " [VWu] ")
list(FILTER strong EXCLUDE REGEX "wasmformer")
list(FILTER weak EXCLUDE REGEX "wasmformer|St[0-9a-z]|8nlohmann|9__gnu_cxx|DW[.]ref")
list(APPEND strong ${weak})
list(JOIN strong "\n" names)
if(names)
  message(SEND_ERROR "${library} exports\n${names}")
endif()
