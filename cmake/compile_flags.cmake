# SPDX-License-Identifier: BSD-3-Clause
# How everything is compiled: warnings, ccache, sanitizers.
option(HOCKET_WERROR "Warnings are errors" OFF)
option(HOCKET_FUZZ "Build the fuzz targets; needs clang" OFF)
set(HOCKET_SANITIZER "" CACHE STRING "Sanitizers as for -fsanitize=, e.g. thread; empty: none")

add_compile_options(-Wall -Wextra)
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
if(HOCKET_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
