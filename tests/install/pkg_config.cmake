# Compiles an example with what pkg-config says of the installed library.
set(folder ${WHERE}/${NAME})
set(model ${SOURCE}/tests/fixtures/tiny-de-en.safetensors)
file(MAKE_DIRECTORY ${folder})
file(GLOB_RECURSE file ${WHERE}/moved/wasmformer.pc)
cmake_path(GET file PARENT_PATH place)
set(ENV{PKG_CONFIG_PATH} ${place})
execute_process(COMMAND pkg-config --cflags --libs wasmformer OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE
                COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(flags UNIX_COMMAND "${flags}")
execute_process(COMMAND ${COMPILER} -std=c++20 ${SOURCE}/bindings/examples/cpp/main.cpp ${flags} -o ${folder}/translate
                COMMAND_ERROR_IS_FATAL ANY)
file(WRITE ${folder}/sentences "Wo ist mein Buch?\n")
execute_process(COMMAND ${folder}/translate ${model} INPUT_FILE ${folder}/sentences OUTPUT_VARIABLE text
                COMMAND_ERROR_IS_FATAL ANY)
if(NOT text MATCHES "^[^\n\t]+\t[0-9]+ layers")
  message(SEND_ERROR "the example printed\n${text}")
endif()
# The same version everywhere.
execute_process(COMMAND pkg-config --modversion wasmformer OUTPUT_VARIABLE version OUTPUT_STRIP_TRAILING_WHITESPACE)
file(READ ${SOURCE}/package.json package)
string(JSON expected GET "${package}" version)
file(READ ${WHERE}/moved/include/wasmformer/version.h header)
if(NOT version STREQUAL expected OR NOT header MATCHES "define WASMFORMER_VERSION \"${expected}\"")
  message(SEND_ERROR "version ${version} instead of ${expected}, in\n${header}")
endif()
