# The library that other programs link, wasmformer::wasmformer, and what `cmake --install` puts where: its headers, the
# library itself, and what find_package(wasmformer) and pkg-config read.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

configure_file(src/include/wasmformer/version.h.in include/wasmformer/version.h @ONLY)
file(GLOB library_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/library/*.cpp)
wasmformer_add_core(wasmformer_classes STATIC ${library_sources})
target_include_directories(wasmformer_classes PUBLIC ${PROJECT_BINARY_DIR}/include)
target_link_libraries(wasmformer_classes PUBLIC wasmformer_tokenizer_trainer)

# One archive or shared object with SentencePiece inside, so that there is one to link.
set(objects)
foreach(part classes core tokenizer_trainer sentencepiece sentencepiece_train libyaml)
  list(APPEND objects $<TARGET_OBJECTS:wasmformer_${part}>)
endforeach()
function(wasmformer_add_library name)
  add_library(${name} ${ARGN} ${objects})
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX OUTPUT_NAME wasmformer EXPORT_NAME wasmformer
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  target_include_directories(${name} INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src/include> $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(${name} INTERFACE cxx_std_20)
  target_link_libraries(${name} PRIVATE Threads::Threads ZLIB::ZLIB)
endfunction()
wasmformer_add_library(wasmformer_library)
add_library(wasmformer::wasmformer ALIAS wasmformer_library)
if(WASMFORMER_LIBRARY_ONLY AND NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/wasmformer)
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
install(DIRECTORY src/include/ ${PROJECT_BINARY_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN *.h)
install(FILES LICENSE bindings/LICENSES.txt DESTINATION ${CMAKE_INSTALL_DOCDIR})

# A program that links the archive links what that needs as well.
set(requires Requires)
if(BUILD_SHARED_LIBS)
  set(requires Requires.private)
endif()
file(RELATIVE_PATH prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
file(CONFIGURE OUTPUT wasmformer.pc @ONLY CONTENT [[
prefix=${pcfiledir}/@prefix@
libdir=${prefix}/@CMAKE_INSTALL_LIBDIR@
includedir=${prefix}/@CMAKE_INSTALL_INCLUDEDIR@

Name: wasmformer
Description: Trains and runs Transformers for translation, classification and tagging
Version: @PROJECT_VERSION@
@requires@: zlib
Cflags: -I${includedir} -pthread
Libs: -L${libdir} -lwasmformer -pthread
]])
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/wasmformer.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
