# SPDX-License-Identifier: BSD-3-Clause
# What `cmake --install` puts where: the library with its header, hocketConfig.cmake and hocket.pc; the command; in a
# folder of their own the libraries that are preloaded or loaded on request; the licences. Included last, when all
# targets are known.
include(CMakePackageConfigHelpers)

target_include_directories(hocket INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)

option(HOCKET_WITHOUT_LINKS "Install no symbolic links, for archives that can't hold them, as wheels are" OFF)
if(HOCKET_WITHOUT_LINKS)
  # One library, by the name that programs load, and a linker's script by the name that they are linked with.
  get_target_property(so_version hocket SOVERSION)
  set_target_properties(hocket PROPERTIES VERSION ${so_version})
  file(WRITE ${CMAKE_BINARY_DIR}/cmake/libhocket.so "INPUT(libhocket.so.${so_version})\n")
  install(TARGETS hocket EXPORT hocketTargets LIBRARY NAMELINK_SKIP)
  install(FILES ${CMAKE_BINARY_DIR}/cmake/libhocket.so DESTINATION ${CMAKE_INSTALL_LIBDIR})
else()
  install(TARGETS hocket EXPORT hocketTargets)
endif()
if(TARGET hocket_multicast_verbs)
  install(TARGETS hocket_multicast_verbs LIBRARY DESTINATION ${HOCKET_PRIVATE_LIBRARIES})
endif()
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE ${CMAKE_SOURCE_DIR}/LICENSES/BSD-2-Clause.txt
  DESTINATION ${CMAKE_INSTALL_DOCDIR})
set(HOCKET_LICENCES "" CACHE PATH "Folder of the licences of what is linked in; empty: nothing is")
if(HOCKET_LICENCES)
  install(DIRECTORY ${HOCKET_LICENCES}/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/licences)
endif()
install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/hocket DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
set(package_directory ${CMAKE_INSTALL_LIBDIR}/cmake/hocket)
install(EXPORT hocketTargets NAMESPACE hocket:: DESTINATION ${package_directory})
configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/hocketConfig.cmake.in
  ${CMAKE_BINARY_DIR}/cmake/hocketConfig.cmake INSTALL_DESTINATION ${package_directory})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/cmake/hocketConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/cmake/hocketConfig.cmake ${CMAKE_BINARY_DIR}/cmake/hocketConfigVersion.cmake
  DESTINATION ${package_directory})

# From lib[/<architecture>]/pkgconfig back to the prefix, so that the installed tree may be moved.
file(RELATIVE_PATH HOCKET_PC_TO_PREFIX /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
configure_file(${CMAKE_SOURCE_DIR}/cmake/hocket.pc.in ${CMAKE_BINARY_DIR}/cmake/hocket.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/cmake/hocket.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# Every library that interposer/ makes, and every program that tools/ makes.
function(hocket_install_built_in folder)
  get_property(targets DIRECTORY ${CMAKE_SOURCE_DIR}/${folder} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target ${targets})
    get_target_property(type ${target} TYPE)
    if(type MATCHES "^(SHARED_LIBRARY|MODULE_LIBRARY|EXECUTABLE)$")
      install(TARGETS ${target} LIBRARY DESTINATION ${HOCKET_PRIVATE_LIBRARIES})
    endif()
  endforeach()
endfunction()
hocket_install_built_in(interposer)
hocket_install_built_in(tools)
include(cmake/documentation.cmake)
