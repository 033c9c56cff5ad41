# SPDX-License-Identifier: BSD-3-Clause
# How everything is compiled: warnings, ccache, sanitizers.
option(HOCKET_WERROR "Warnings are errors" OFF)
option(HOCKET_ASSERTIONS "Check what headers state as invariants (src/base/assertion.h)" OFF)
option(HOCKET_FUZZ "Build the fuzz targets; needs clang" OFF)
set(HOCKET_UNITY "" CACHE STRING "Folders whose sources are compiled a dozen at a time: src, interposer, tools, tests")
set(HOCKET_SANITIZER "" CACHE STRING "Sanitizers as for -fsanitize=, e.g. thread; empty: none")

add_compile_options(-Wall -Wextra)
# Most of the time goes into headers: a dozen sources that share them take a third to a half of it. Each has the
# includes it needs all the same, as the builds show that take them one by one: `release` src/ and one shim, `dev` all.
# Short calls take as long either way.
set(CMAKE_UNITY_BUILD_BATCH_SIZE 12)
if(HOCKET_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # What a source has for itself looks like a header's to GCC.
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>)
endif()
macro(hocket_compile_as_said_of folder)  # for what is added from here on
  if(${folder} IN_LIST HOCKET_UNITY)
    set(CMAKE_UNITY_BUILD ON)
  else()
    set(CMAKE_UNITY_BUILD OFF)
  endif()
endmacro()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # Warns without cause where std::string is inlined.
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
endif()
if(HOCKET_WERROR)
  add_compile_options(-Werror)
endif()

find_program(HOCKET_CCACHE ccache)
foreach(language C CXX)
  if(HOCKET_CCACHE AND NOT CMAKE_${language}_COMPILER_LAUNCHER)
    set(CMAKE_${language}_COMPILER_LAUNCHER ${HOCKET_CCACHE})
  endif()
endforeach()

if(HOCKET_SANITIZER)
  # A report is a failure: the first one ends the test.
  add_compile_options(-fsanitize=${HOCKET_SANITIZER} -fno-sanitize-recover=all -fno-omit-frame-pointer -O1 -g1)
  add_link_options(-fsanitize=${HOCKET_SANITIZER})
  # libhocket brings its own C++ library, so a program has two of each standard class: no two type infos compare equal.
  add_compile_options(-fno-sanitize=vptr)
endif()
if(HOCKET_ASSERTIONS)
  add_compile_definitions(HOCKET_ASSERTIONS)
endif()
if(HOCKET_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
