# What `cmake --install` puts where: headers, the library, the program, and what find_package(wasmformer) reads.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

# One archive with SentencePiece inside, so that there is one to link.
set(objects)
foreach(part wasmformer_core wasmformer_tokenizer_trainer sentencepiece sentencepiece_train libyaml)
  list(APPEND objects $<TARGET_OBJECTS:${part}>)
endforeach()
add_library(wasmformer_library STATIC ${objects})
set_target_properties(wasmformer_library PROPERTIES LINKER_LANGUAGE CXX OUTPUT_NAME wasmformer EXPORT_NAME wasmformer)
set(headers ${CMAKE_INSTALL_INCLUDEDIR}/wasmformer)
target_include_directories(wasmformer_library INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
# The public headers hold Eigen's matrices, so users compile them as the library does (dependencies.cmake). The name is
# that of the macro in the installed copy of Eigen.
target_compile_definitions(wasmformer_library INTERFACE WASMFORMER_EIGEN_MAX_ALIGN_BYTES=64)
target_compile_features(wasmformer_library INTERFACE cxx_std_20)
target_link_libraries(wasmformer_library INTERFACE Threads::Threads ZLIB::ZLIB)

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/wasmformer)
install(TARGETS wasmformer)
install(TARGETS wasmformer_library EXPORT wasmformer)
install(EXPORT wasmformer NAMESPACE wasmformer:: DESTINATION ${package} FILE wasmformer-targets.cmake)
file(CONFIGURE OUTPUT wasmformer-config.cmake @ONLY CONTENT [[
include(CMakeFindDependencyMacro)
find_dependency(Threads)
find_dependency(ZLIB)
include("${CMAKE_CURRENT_LIST_DIR}/wasmformer-targets.cmake")
]])
write_basic_package_version_file(wasmformer-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/wasmformer-config.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/wasmformer-config-version.cmake DESTINATION ${package})
install(FILES LICENSE bindings/LICENSES.txt DESTINATION ${CMAKE_INSTALL_DOCDIR})

# Without the folders of programs, those whose content depends on the processor, and one about SentencePiece.
install(DIRECTORY src/ DESTINATION ${headers} FILES_MATCHING PATTERN *.h PATTERN cli EXCLUDE PATTERN micro EXCLUDE
        REGEX "/(simd|vector_math|int8|panels|attention_kernels|normalizer|hugging_face)\\.h$" EXCLUDE)
install(DIRECTORY ${eigen_SOURCE_DIR}/Eigen DESTINATION ${headers}/eigen)
# In the source a header is named by its folder, model/config.h; users may have one of that name themselves. They may also
# include another Eigen, even in the same file, so the installed copy has its own namespace, macros and paths.
install(CODE "set(headers \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${headers}\")")
install(CODE [[
  file(GLOB_RECURSE files "${headers}/*")
  foreach(file IN LISTS files)
    file(READ "${file}" text)
    string(REPLACE "EIGEN_" "WASMFORMER_EIGEN_" text "${text}")
    string(REPLACE "namespace Eigen" "namespace wasmformer_eigen" text "${text}")
    string(REPLACE "Eigen::" "wasmformer_eigen::" text "${text}")
    string(REGEX REPLACE "#include <(Eigen/[^>]+)>" "#include \"wasmformer/eigen/\\1\"" text "${text}")
    if(NOT file MATCHES "/eigen/Eigen/")
      string(REGEX REPLACE "(^|\n)#include \"(wasmformer/)?" "\\1#include \"wasmformer/" text "${text}")
    endif()
    file(WRITE "${file}" "${text}")
  endforeach()
]])
