# Compiler settings that every target of this project shares, and the switches a builder may set.
option(HEADRACE_BENCH "Build the benchmarks" OFF)
option(HEADRACE_FUZZ "Build the libFuzzer targets of fuzz/ (needs clang)" OFF)
option(HEADRACE_WERROR "Treat warnings as errors" ON)
set(HEADRACE_SANITIZE "" CACHE STRING "Sanitizers, as in -fsanitize=..., for example address,undefined")

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
# NDEBUG is left alone: our checks are HR_CHECK, on in every build.
set(CMAKE_CXX_FLAGS_RELEASE "-O2" CACHE STRING "" FORCE)

add_library(headrace_options INTERFACE)
target_compile_options(headrace_options INTERFACE
  -Wall -Wextra -Wconversion -Wshadow
  $<$<BOOL:${HEADRACE_WERROR}>:-Werror>
  # Results must not depend on whether the compiler fuses a multiply with an add.
  -ffp-contract=off -fno-fast-math
  # g++ 12 sees uninitialised values in every std::optional<std::vector> that is moved (GCC bug 80635).
  $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)

if(HEADRACE_SANITIZE)
  add_compile_options(-fsanitize=${HEADRACE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  # Instrumented code makes g++'s warnings that follow data flow misfire (the manual says so under -fsanitize).
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-Wno-array-bounds -Wno-maybe-uninitialized -Wno-restrict -Wno-stringop-overflow)
  endif()
  add_compile_definitions(_GLIBCXX_ASSERTIONS)
  add_link_options(-fsanitize=${HEADRACE_SANITIZE})
endif()
if(HEADRACE_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)  # coverage of every file, for the targets to be guided by
  add_link_options(-fsanitize=fuzzer-no-link)
endif()

# The base directory makes cache entries independent of the build folder's name; the sloppiness is what ccache asks for
# with precompiled headers.
find_program(CCACHE_PROGRAM ccache)
mark_as_advanced(CCACHE_PROGRAM)
if(CCACHE_PROGRAM AND (NOT CMAKE_CXX_COMPILER_LAUNCHER OR CMAKE_CXX_COMPILER_LAUNCHER STREQUAL "ccache"))
  set(CMAKE_CXX_COMPILER_LAUNCHER
    ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
    CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${CCACHE_PROGRAM})
endif()

find_program(LLD_PROGRAM NAMES ld.lld ld.lld-14)
mark_as_advanced(LLD_PROGRAM)
if(LLD_PROGRAM MATCHES "ld\\.lld$")
  add_link_options(-fuse-ld=lld)
endif()
