# SPDX-License-Identifier: BSD-3-Clause
# Ranks that wait in the MPI, where hocket has a part in that, alone and beside what else has one.
function(hocket_mpi_waiting_tests mpi)
  hocket_mpi_test(waits ${mpi} waits.c 4)
  hocket_mpi_test(waits_with_threads ${mpi} waits.c 4)
  hocket_mpi_expect(waits_with_threads ${mpi} ARGUMENTS=multiple)
  if(mpi MATCHES "openmpi|^mpich$")
    hocket_mpi_expect(waits ${mpi} HAS_HOOK=1)
    hocket_mpi_test(waits_with_a_core_each ${mpi} waits.c 2 HAS_HOOK=1)
  endif()
  # A profiling tool counts before hocket what it would count without, and behind it what hocket passes on: calls that
  # wait stay the MPI's own then, but for those with a hook.
  foreach(place before behind)
    hocket_mpi_test(tool_${place} ${mpi} derived.c 3)
    hocket_mpi_test(waits_with_a_tool_${place} ${mpi} waits.c 3 IS_BUSY=1)
    foreach(name tool waits_with_a_tool)
      hocket_mpi_expect(${name}_${place} ${mpi} TOOL=${place} "EXPECT=: tool of rank 0:.* Comm_free [1-9]")
    endforeach()
  endforeach()
  # The program's own functions in the MPI's progress, and its own threads, find what they would without hocket.
  set(levels multiple)
  if(mpi MATCHES "openmpi|^mpich$")
    list(APPEND levels funneled)
  endif()
  foreach(level ${levels})
    hocket_mpi_test(own_progress_${level} ${mpi} own_progress.c 4)
    hocket_mpi_expect(own_progress_${level} ${mpi} ARGUMENTS=${level} "EXPECT=^own_progress: passed")
  endforeach()
endfunction()
