# SPDX-License-Identifier: BSD-3-Clause
# Manual pages and shells' completions: the command writes them itself, of its own options and of the public headers.
if(HOCKET_SANITIZER)
  return()
endif()
if(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
  message(STATUS "the command can't run here: no manual pages, no completions")
  return()
endif()

set(documentation ${CMAKE_BINARY_DIR}/documentation)
foreach(header hocket neighbourhoods persistent counters)
  list(APPEND public_headers ${CMAKE_SOURCE_DIR}/include/hocket/${header}.h)
  list(APPEND header_options --header ${CMAKE_SOURCE_DIR}/include/hocket/${header}.h)
endforeach()
string(TIMESTAMP today %Y-%m-%d UTC)  # or what SOURCE_DATE_EPOCH says
add_custom_command(OUTPUT ${documentation}/written
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${documentation}
  COMMAND hocket_command documentation ${documentation} ${header_options} --date ${today}
  COMMAND ${CMAKE_COMMAND} -E touch ${documentation}/written
  DEPENDS hocket_command ${public_headers} VERBATIM)
add_custom_target(documentation ALL DEPENDS ${documentation}/written)

install(DIRECTORY ${documentation}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR})
install(FILES ${documentation}/completion/hocket DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${documentation}/completion/_hocket DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${documentation}/completion/hocket.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
