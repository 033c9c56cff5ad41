# SPDX-License-Identifier: BSD-3-Clause
# BPF programs, compiled by clang and carried inside the program that loads them.
#
#   if(HOCKET_HAS_BPF)
#     bpf_object(lab_port bpf/lab_port.bpf.c [headers it includes...])
#     target_link_libraries(user PRIVATE lab_port_object)     # brings libbpf, too
#
# The user declares  extern "C" const unsigned char lab_port_object_begin[], lab_port_object_end[];
find_package(PkgConfig)
if(PkgConfig_FOUND)
  pkg_check_modules(LIBBPF IMPORTED_TARGET libbpf>=1.0)
endif()
find_program(HOCKET_BPF_CLANG NAMES clang-19 clang-20 clang-18 clang-17 clang-16 clang)
set(HOCKET_HAS_BPF OFF)
if(NOT HOCKET_BPF_CLANG)
  message(STATUS "no clang: no BPF programs (Debian's package is clang-19)")
elseif(NOT LIBBPF_FOUND)
  message(STATUS "no libbpf: no BPF programs (Debian's package is libbpf-dev)")
else()
  set(HOCKET_HAS_BPF ON)
endif()

function(bpf_object name source)
  set(object ${CMAKE_BINARY_DIR}/bpf/${name}.bpf.o)
  set(carrier ${CMAKE_BINARY_DIR}/bpf/${name}_object.c)
  set(headers)
  foreach(header ${ARGN})
    list(APPEND headers ${CMAKE_SOURCE_DIR}/${header})
  endforeach()
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/bpf)
  # v3: atomics that return what was there before, which kernel 5.12 has. -g: libbpf reads the maps' types from it.
  # What is installed doesn't tell where it was built.
  add_custom_command(OUTPUT ${object}
    COMMAND ${HOCKET_BPF_CLANG} -target bpf -mcpu=v3 -O2 -g -Wall -Wextra -Werror
            -I/usr/include/${CMAKE_LIBRARY_ARCHITECTURE} -I${CMAKE_SOURCE_DIR}
            -ffile-compilation-dir=. -ffile-prefix-map=${CMAKE_SOURCE_DIR}/=
            -c ${CMAKE_SOURCE_DIR}/${source} -o ${object}
    DEPENDS ${CMAKE_SOURCE_DIR}/${source} ${headers} COMMENT "Building BPF object ${source}" VERBATIM)
  set(symbol ${name}_object)
  file(CONFIGURE OUTPUT ${carrier} CONTENT [[
__asm__(".section .rodata\n.balign 8\n"
        ".global @symbol@_begin\n.hidden @symbol@_begin\n@symbol@_begin:\n.incbin \"@object@\"\n"
        ".global @symbol@_end\n.hidden @symbol@_end\n@symbol@_end:\n.byte 0\n.previous\n");
]] @ONLY)
  # Joined sources would forget what they depend on.
  set_source_files_properties(${carrier} PROPERTIES OBJECT_DEPENDS ${object} SKIP_UNITY_BUILD_INCLUSION ON)
  add_library(${symbol} STATIC ${carrier})
  target_link_libraries(${symbol} PUBLIC PkgConfig::LIBBPF)
endfunction()
