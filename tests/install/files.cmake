# Installs the build into WHERE, moves all of it elsewhere, and looks at what there is.
file(REMOVE_RECURSE ${WHERE})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${WHERE}/first OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
file(RENAME ${WHERE}/first ${WHERE}/moved)

foreach(name bin/wasmformer libwasmformer.a wasmformer-config.cmake wasmformer.pc include/wasmformer/wasmformer.h
             include/wasmformer/version.h share/doc/wasmformer/LICENSE share/doc/wasmformer/LICENSES.txt)
  file(GLOB_RECURSE found ${WHERE}/moved/${name})
  if(NOT found)
    message(SEND_ERROR "${name} is not installed")
  endif()
endforeach()

file(GLOB_RECURSE library ${WHERE}/moved/libwasmformer.a)

file(GLOB_RECURSE texts ${WHERE}/moved/*.cmake ${WHERE}/moved/*.pc ${WHERE}/moved/include/wasmformer/*.h)
foreach(text IN LISTS texts)
  file(READ ${text} content)
  foreach(folder ${SOURCE} ${BUILD} ${CACHE} ${WHERE})
    string(FIND "${content}" "${folder}" place)
    if(NOT place EQUAL -1)
      message(SEND_ERROR "${text} names ${folder}")
    endif()
  endforeach()
endforeach()

# Each header compiles alone, without a warning, and brings nothing but the standard library.
file(GLOB_RECURSE headers RELATIVE ${WHERE}/moved/include ${WHERE}/moved/include/*)
list(LENGTH headers count)
if(count GREATER 15)
  message(SEND_ERROR "${count} headers are installed: ${headers}")
endif()
foreach(header IN LISTS headers)
  file(WRITE ${WHERE}/header.cpp "#include <${header}>\n")
  execute_process(COMMAND ${COMPILER} -std=c++20 -Wall -Wextra -Wpedantic -Wshadow -Werror -I ${WHERE}/moved/include -E
                          ${WHERE}/header.cpp OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  if(text MATCHES "Eigen|EIGEN|nlohmann|sentencepiece_")
    message(SEND_ERROR "${header} brings ${CMAKE_MATCH_0}")
  endif()
  execute_process(COMMAND ${COMPILER} -std=c++20 -Wall -Wextra -Wpedantic -Wshadow -Werror -I ${WHERE}/moved/include
                          -fsyntax-only ${WHERE}/header.cpp COMMAND_ERROR_IS_FATAL ANY)
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

# The shared object shows the public classes and functions, templates of the standard library, and what protobuf itself
# marks to be shown.
execute_process(COMMAND ${NM} -D --defined-only ${SHARED} OUTPUT_FILE ${WHERE}/symbols COMMAND_ERROR_IS_FATAL ANY)
file(STRINGS ${WHERE}/symbols names REGEX " [A-Za-z] ")
list(FILTER names EXCLUDE REGEX "N?K?10wasmformer(10Classifier|10Translator|11TrainingRun|12import_model|5Error|6Tagger|7Stopped|7version)")
list(FILTER names EXCLUDE REGEX " [VWu] _Z[A-Z]*N?K?(St|9__gnu_cxx)")
list(FILTER names EXCLUDE REGEX "17wasmformer_google8protobuf8internal8byteswap")
list(JOIN names "\n" all)
if(all)
  message(SEND_ERROR "${SHARED} exports\n${all}")
endif()
