# If ccache is installed, keeps compiled files and linked WebAssembly modules in the user's cache folder, so that a
# second clone compiles only what differs.
option(WASMFORMER_CCACHE "If ccache is installed, keep compiled files in the user's cache folder" ON)
find_program(WASMFORMER_CCACHE_PROGRAM ccache NO_CMAKE_FIND_ROOT_PATH)
if(NOT WASMFORMER_CCACHE OR NOT WASMFORMER_CCACHE_PROGRAM)
  return()
endif()

set(launcher ${CMAKE_COMMAND} -E env
    CCACHE_CONFIGPATH=${CMAKE_CURRENT_LIST_DIR}/ccache.conf
    CCACHE_DIR=${WASMFORMER_CACHE}/ccache
    CCACHE_BASEDIR=${PROJECT_SOURCE_DIR})
if(EMSCRIPTEN)
  # em++ is not among the names that ccache knows. A precompiled header of clang holds absolute paths, so none is made.
  list(APPEND launcher CCACHE_COMPILERTYPE=clang)
  set(CMAKE_DISABLE_PRECOMPILE_HEADERS ON)
  # ccache keeps no links, and here these take longest.
  find_program(WASMFORMER_NODE node NO_CMAKE_FIND_ROOT_PATH)
  if(WASMFORMER_NODE)
    set(CMAKE_CXX_LINKER_LAUNCHER
        ${WASMFORMER_NODE} ${CMAKE_CURRENT_LIST_DIR}/link-cache.mjs ${WASMFORMER_CACHE}/links ${PROJECT_SOURCE_DIR})
  endif()
else()
  add_compile_options($<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>) # ccache wants it for precompiled headers
endif()
list(APPEND launcher ${WASMFORMER_CCACHE_PROGRAM})
set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
