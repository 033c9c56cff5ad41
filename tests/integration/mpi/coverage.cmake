# SPDX-License-Identifier: BSD-3-Clause
# What the command says of each collective, beside what becomes of it.
if(TARGET hocket_command)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  foreach(mpi debian-mpich debian-openmpi mpich openmpi ${standard})
    foreach(how "coverage 2" "coverage_of_one_rank 1" "coverage_on_nodes 2 rank")
      separate_arguments(how)
      list(POP_FRONT how name)
      add_test(NAME integration.mpi.${name}.${mpi}
        COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/coverage_test.py ${mpi}
                ${CMAKE_LIBRARY_OUTPUT_DIRECTORY} ${CMAKE_CURRENT_BINARY_DIR} $<TARGET_FILE:hocket_command> ${how})
      set_property(GLOBAL APPEND PROPERTY hocket_mpi_tests "${name}.${mpi}")
      set_tests_properties(integration.mpi.${name}.${mpi} PROPERTIES LABELS integration TIMEOUT 300
        SKIP_RETURN_CODE 77 ENVIRONMENT "VENV=${CMAKE_SOURCE_DIR}/.venv")
    endforeach()
  endforeach()
endif()
