# SPDX-License-Identifier: BSD-3-Clause
# For what shall run on other machines (./dev wheel): compiled as everything is, linked for glibc 2.28.
set(link ${CMAKE_CURRENT_LIST_DIR}/link.sh)
foreach(language C CXX)
  set(CMAKE_${language}_CREATE_SHARED_LIBRARY
      "\"${link}\" -shared <LINK_FLAGS> <SONAME_FLAG><TARGET_SONAME> -o <TARGET> <OBJECTS> <LINK_LIBRARIES>")
  set(CMAKE_${language}_LINK_EXECUTABLE "\"${link}\" <LINK_FLAGS> <OBJECTS> -o <TARGET> <LINK_LIBRARIES>")
endforeach()
# CMake reads it from the way GCC links, which is not asked here.
set(CMAKE_LIBRARY_ARCHITECTURE ${CMAKE_HOST_SYSTEM_PROCESSOR}-linux-gnu)
