# The libraries of others. What the set-up put into the user's cache folder is used; else CMake downloads it.
include(FetchContent)

if(DEFINED ENV{XDG_CACHE_HOME} AND NOT "$ENV{XDG_CACHE_HOME}" STREQUAL "")
  set(WASMFORMER_CACHE "$ENV{XDG_CACHE_HOME}/wasmformer")
else()
  set(WASMFORMER_CACHE "$ENV{HOME}/.cache/wasmformer")
endif()

include(${CMAKE_CURRENT_LIST_DIR}/ccache.cmake)

# Sets <name>_SOURCE_DIR. None of the libraries' own build files is run: SOURCE_SUBDIR names a folder without one. Names of
# its own keep FetchContent from taking another version, which a project around this one has chosen for itself.
macro(wasmformer_fetch name version url sha256)
  string(TOUPPER WASMFORMER_${name} upper)
  if(NOT FETCHCONTENT_SOURCE_DIR_${upper} AND EXISTS "${WASMFORMER_CACHE}/${name}-${version}")
    set(FETCHCONTENT_SOURCE_DIR_${upper} "${WASMFORMER_CACHE}/${name}-${version}")
  endif()
  # FetchContent itself is silent, and without a network it tries for more than a minute.
  file(GLOB downloaded "${FETCHCONTENT_BASE_DIR}/wasmformer_${name}-src/*")
  if(NOT FETCHCONTENT_SOURCE_DIR_${upper} AND NOT downloaded)
    message(STATUS "Downloading ${url}, since ${WASMFORMER_CACHE}/${name}-${version} does not exist")
  endif()
  FetchContent_Declare(wasmformer_${name} URL ${url} URL_HASH SHA256=${sha256} DOWNLOAD_EXTRACT_TIMESTAMP TRUE
                       SOURCE_SUBDIR none)
  FetchContent_MakeAvailable(wasmformer_${name})
  set(${name}_SOURCE_DIR ${wasmformer_${name}_SOURCE_DIR})
endmacro()

wasmformer_fetch(eigen 5.0.1 https://gitlab.com/libeigen/eigen/-/archive/5.0.1/eigen-5.0.1.tar.gz
                 e9c326dc8c05cd1e044c71f30f1b2e34a6161a3b6ecf445d56b53ff1669e3dec)
add_library(wasmformer_eigen INTERFACE)
target_include_directories(wasmformer_eigen SYSTEM INTERFACE ${eigen_SOURCE_DIR})
if(NOT EMSCRIPTEN)
  # A program may link the library together with code that uses another Eigen: this one has a namespace of its own.
  # Else -march=native decides the alignment, and users who compile without cannot free the library's matrices.
  target_compile_definitions(wasmformer_eigen INTERFACE Eigen=wasmformer_eigen EIGEN_MAX_ALIGN_BYTES=64)
endif()

wasmformer_fetch(nlohmann_json 3.11.2 https://github.com/nlohmann/json/releases/download/v3.11.2/json.tar.xz
                 8c4b26bf4b422252e13f332bc5e388ec0ab5c3443d24399acb675e68278d341f)
add_library(wasmformer_nlohmann_json INTERFACE)
target_include_directories(wasmformer_nlohmann_json SYSTEM INTERFACE ${nlohmann_json_SOURCE_DIR}/include)

if(NOT WASMFORMER_LIBRARY_ONLY)
  wasmformer_fetch(cli11 2.1.2 https://github.com/CLIUtils/CLI11/archive/refs/tags/v2.1.2.tar.gz
                   26291377e892ba0e5b4972cdfd4a2ab3bf53af8dac1f4ea8fe0d1376b625c8cb)
  add_library(wasmformer_cli11 INTERFACE)
  target_include_directories(wasmformer_cli11 SYSTEM INTERFACE ${cli11_SOURCE_DIR}/include)

  wasmformer_fetch(catch2 3.7.1 https://github.com/catchorg/Catch2/archive/refs/tags/v3.7.1.tar.gz
                   c991b247a1a0d7bb9c39aa35faf0fe9e19764213f28ffba3109388e62ee0269c)
  add_library(wasmformer_catch2 STATIC EXCLUDE_FROM_ALL ${catch2_SOURCE_DIR}/extras/catch_amalgamated.cpp)
  target_include_directories(wasmformer_catch2 SYSTEM PUBLIC ${catch2_SOURCE_DIR}/extras)
  target_compile_options(wasmformer_catch2 PRIVATE -O1)
endif()

if(EMSCRIPTEN)
  wasmformer_fetch(zlib 1.2.13 https://github.com/madler/zlib/releases/download/v1.2.13/zlib-1.2.13.tar.gz
                   b3a24de97a8fdbc835b9833169501030b8977031bcb54b3b3ac13740f846ab30)
  # Sources for reading, and for compressing in memory.
  set(zlib_parts adler32.c compress.c crc32.c deflate.c gzlib.c gzread.c inffast.c inflate.c inftrees.c trees.c uncompr.c
                 zutil.c)
  list(TRANSFORM zlib_parts PREPEND ${zlib_SOURCE_DIR}/ OUTPUT_VARIABLE zlib_sources)
  add_library(wasmformer_zlib STATIC EXCLUDE_FROM_ALL ${zlib_sources})
  target_include_directories(wasmformer_zlib SYSTEM PUBLIC ${zlib_SOURCE_DIR})
  target_compile_definitions(wasmformer_zlib PRIVATE HAVE_UNISTD_H)
  target_compile_options(wasmformer_zlib PRIVATE -w -Oz)
  add_library(ZLIB::ZLIB ALIAS wasmformer_zlib)
else()
  find_package(ZLIB REQUIRED)
endif()

wasmformer_fetch(libyaml 0.2.5 https://github.com/yaml/libyaml/archive/refs/tags/0.2.5.tar.gz
                 fa240dbf262be053f3898006d502d514936c818e422afdcf33921c63bed9bf2e)
# A program may link the library together with its own copies of libyaml, protobuf and SentencePiece: here they get other
# names. Each yaml_… of libyaml's headers is renamed by a yaml.h that takes the place of the original.
set(source ${libyaml_SOURCE_DIR}/src)
file(STRINGS ${libyaml_SOURCE_DIR}/include/yaml.h lines REGEX yaml_)
file(STRINGS ${source}/yaml_private.h private_lines REGEX yaml_)
string(REGEX MATCHALL "yaml_[a-z0-9_]+" names "${lines} ${private_lines}")
list(REMOVE_DUPLICATES names)
list(TRANSFORM names REPLACE "(.+)" "#define \\1 wasmformer_\\1\n")
list(JOIN names "" names)
file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/libyaml/yaml.h @ONLY
     CONTENT "#pragma once\n${names}#include \"${libyaml_SOURCE_DIR}/include/yaml.h\"\n")
# Sources for reading.
add_library(wasmformer_libyaml STATIC EXCLUDE_FROM_ALL ${source}/api.c ${source}/parser.c ${source}/reader.c ${source}/scanner.c)
target_include_directories(wasmformer_libyaml SYSTEM PUBLIC ${CMAKE_CURRENT_BINARY_DIR}/libyaml)
target_compile_definitions(wasmformer_libyaml PRIVATE YAML_VERSION_STRING="0.2.5" YAML_VERSION_MAJOR=0 YAML_VERSION_MINOR=2
                                           YAML_VERSION_PATCH=5)
target_compile_options(wasmformer_libyaml PRIVATE -w $<$<BOOL:${EMSCRIPTEN}>:-Oz>)

wasmformer_fetch(sentencepiece 0.1.97 https://github.com/google/sentencepiece/archive/v0.1.97.tar.gz
                 41c3a07f315e3ac87605460c8bb8d739955bc8e7f478caec4017ef9b7d78669b)
set(source ${sentencepiece_SOURCE_DIR}/src)
set(third_party ${sentencepiece_SOURCE_DIR}/third_party)
file(GLOB protobuf_sources ${third_party}/protobuf-lite/*.cc)
set(root ${sentencepiece_SOURCE_DIR})
set(files_source ${source}/filesystem.cc)
if(EMSCRIPTEN)
  # A copy of its code with three changes.
  set(root ${CMAKE_CURRENT_BINARY_DIR}/sentencepiece-changed)
  file(GLOB_RECURSE names RELATIVE ${sentencepiece_SOURCE_DIR}
       ${source}/*.h ${source}/*.cc ${third_party}/absl/*.h ${third_party}/absl/*.cc)
  list(FILTER names EXCLUDE REGEX "_(test|main)\\.cc$")
  foreach(name ${names})
    file(READ ${sentencepiece_SOURCE_DIR}/${name} code)
    if(name STREQUAL src/normalization_rule.h)
      # One of the four normalization rules is used; each takes a quarter of a megabyte.
      string(FIND "${code}" "{\"nmt_nfkc\", " begin REVERSE)
      string(FIND "${code}" "{\"nfkc_cf\", " end REVERSE)
      if(begin LESS 0 OR end LESS begin)
        message(FATAL_ERROR "SentencePiece's rules are not the known ones: ${source}/normalization_rule.h")
      endif()
      math(EXPR length "${end} - ${begin}")
      string(SUBSTRING "${code}" ${begin} ${length} rule)
      set(code "#pragma once
#include <cstddef>
constexpr std::size_t kNormalizationRules_size = 1;
constexpr struct { const char *name; std::size_t size; const char *data; } kNormalizationRules_blob[] = {${rule}};
")
    elseif(NOT name MATCHES string_view)  # Nothing calls its operator<<.
      # Its streams are those of plain_streams.h.
      string(REGEX REPLACE "std::(ostringstream|istringstream|stringstream|ostream|cerr|cout|endl|hex|uppercase)([^a-z_])"
             "plain::\\1\\2" code "${code}")
    endif()
    if(name STREQUAL src/util.h)
      # It makes a thread even for one thread, which only a build with threads has.
      string(REPLACE "{ tasks_.emplace_back(closure); }" "{ closure(); }" changed "${code}")
      if(changed STREQUAL code)
        message(FATAL_ERROR "SentencePiece's ThreadPool is not the known one: ${source}/util.h")
      endif()
      set(code "${changed}")
    endif()
    file(CONFIGURE OUTPUT ${root}/${name} CONTENT "${code}" @ONLY)
  endforeach()
  set(source ${root}/src)
  set(files_source ${PROJECT_SOURCE_DIR}/bindings/tools/sentencepiece/plain_files.cc)
endif()
file(GLOB trainer_sources ${source}/*_trainer.cc)
# Two of them take long: after `line` they tell a function of text/tokenizer_trainer.cpp how many pieces there are, and
# how many there will be.
function(wasmformer_show_progress name line pieces)
  file(READ ${source}/${name} code)
  string(REPLACE "${line}" "${line}\n::wasmformer::show_progress_of_trainer(${pieces});" changed "${code}")
  if(changed STREQUAL code)
    message(FATAL_ERROR "SentencePiece's trainer is not the known one: ${source}/${name}")
  endif()
  set(file ${CMAKE_CURRENT_BINARY_DIR}/sentencepiece-trainers/${name})
  file(CONFIGURE OUTPUT ${file} @ONLY
       CONTENT "namespace wasmformer {\nvoid show_progress_of_trainer(double pieces, double wanted);\n}\n${changed}")
  list(REMOVE_ITEM trainer_sources ${source}/${name})
  set(trainer_sources ${trainer_sources} ${file} PARENT_SCOPE)
endfunction()
wasmformer_show_progress(bpe_model_trainer.cc "if (final_pieces_.size() % 20 == 0) {" "final_pieces_.size(), vocab_size")
wasmformer_show_progress(unigram_model_trainer.cc "// Sub-EM iteration." "model.GetPieceSize(), desired_vocab_size_")

add_library(wasmformer_sentencepiece STATIC EXCLUDE_FROM_ALL
  ${source}/bpe_model.cc ${source}/char_model.cc ${source}/error.cc ${files_source}
  ${source}/model_factory.cc ${source}/model_interface.cc ${source}/normalizer.cc
  ${source}/sentencepiece_processor.cc ${source}/unigram_model.cc ${source}/util.cc ${source}/word_model.cc
  ${source}/builtin_pb/sentencepiece.pb.cc ${source}/builtin_pb/sentencepiece_model.pb.cc
  ${root}/third_party/absl/flags/flag.cc ${root}/third_party/absl/strings/string_view.cc ${protobuf_sources})
add_library(wasmformer_sentencepiece_train STATIC EXCLUDE_FROM_ALL
  ${trainer_sources} ${source}/builder.cc ${source}/unicode_script.cc ${source}/trainer_factory.cc
  ${source}/trainer_interface.cc ${source}/pretokenizer_for_training.cc)
target_link_libraries(wasmformer_sentencepiece_train PUBLIC wasmformer_sentencepiece PRIVATE Threads::Threads)

# protobuf counts an element before allocating it; if that fails, its destructor frees an element that is not there.
file(READ ${third_party}/protobuf-lite/google/protobuf/repeated_field.h header)
string(REGEX REPLACE "(  \\+\\+rep_->allocated_size;\n)(  typename TypeHandler::Type\\* result =\n[^\n]*\n)" "\\2\\1" patched "${header}")
if(patched STREQUAL header)
  message(FATAL_ERROR "cannot patch protobuf's repeated_field.h in ${third_party}/protobuf-lite")
endif()
set(protobuf ${CMAKE_CURRENT_BINARY_DIR}/protobuf)
file(CONFIGURE OUTPUT ${protobuf}/google/protobuf/repeated_field.h CONTENT "${patched}" @ONLY)

set(SPM_VERSION 0.1.97)
configure_file(${sentencepiece_SOURCE_DIR}/config.h.in ${CMAKE_CURRENT_BINARY_DIR}/sentencepiece/config.h)
# builtin_pb and protobuf-lite: its ModelProto, which is the content of a .model file.
target_include_directories(wasmformer_sentencepiece SYSTEM INTERFACE ${protobuf} ${source} ${source}/builtin_pb ${third_party}/protobuf-lite)
if(NOT EMSCRIPTEN)
  foreach(name sentencepiece google absl Darts esaxx esaxx_private saisxx saisxx_private)
    target_compile_definitions(wasmformer_sentencepiece PUBLIC ${name}=wasmformer_${name})
  endforeach()
  file(STRINGS ${source}/builtin_pb/sentencepiece.pb.cc lines REGEX scc_info_)
  file(STRINGS ${source}/builtin_pb/sentencepiece_model.pb.cc model_lines REGEX scc_info_)
  string(REGEX MATCHALL "scc_info_[A-Za-z0-9_]+" names "${lines} ${model_lines}")
  list(REMOVE_DUPLICATES names)
  foreach(name FLAGS_help FLAGS_version FLAGS_minloglevel ${names})
    target_compile_definitions(wasmformer_sentencepiece PRIVATE ${name}=wasmformer_${name})
  endforeach()
endif()
foreach(library wasmformer_sentencepiece wasmformer_sentencepiece_train)
  target_include_directories(${library} PRIVATE
    ${protobuf} ${CMAKE_CURRENT_BINARY_DIR}/sentencepiece ${root} ${sentencepiece_SOURCE_DIR} ${source} ${source}/builtin_pb ${root}/third_party
    ${root}/third_party/absl/strings ${third_party} ${third_party}/darts_clone ${third_party}/esaxx ${third_party}/protobuf-lite)
  target_compile_definitions(${library} PRIVATE _USE_INTERNAL_STRING_VIEW HAVE_PTHREAD=1)
  target_compile_options(${library} PRIVATE -w $<$<BOOL:${EMSCRIPTEN}>:-Oz -fno-rtti>)
  if(EMSCRIPTEN)
    target_compile_options(${library} PRIVATE "SHELL:-include ${PROJECT_SOURCE_DIR}/bindings/tools/sentencepiece/plain_streams.h")
  endif()
  # Its headers are most of what there is to compile.
  set_target_properties(${library} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8
    UNITY_BUILD_CODE_BEFORE_INCLUDE
    "#ifdef PROTOBUF_NAMESPACE\n#include <google/protobuf/port_undef.inc>\n#endif")
endforeach()
