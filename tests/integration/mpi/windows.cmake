# SPDX-License-Identifier: BSD-3-Clause
# Collectives on windows' memory. That peers use it as it lies is what the statistics say: each kind passes some
# hundreds of long operands, of which the first have to be copied.
function(hocket_mpi_window_tests mpi)
  foreach(kind allocated shared apart of_rank_0 allocated_by_rank_0 of_some_ranks two other_memory_in_its_place
          by_threads)
    hocket_mpi_test(windows_${kind} ${mpi} windows.c 3)
    hocket_mpi_expect(windows_${kind} ${mpi} ARGUMENTS=${kind}
      "EXPECT=^windows: passed && ^hocket: memory of windows: used in place [1-9][0-9][0-9]+ times")
  endforeach()
  hocket_mpi_test(windows_empty ${mpi} windows.c 3)
  hocket_mpi_expect(windows_empty ${mpi} ARGUMENTS=empty "EXPECT=^windows: passed" "UNEXPECTED=memory of windows")
  # On nodes: those that share the memory use it.
  hocket_mpi_test(windows_on_nodes ${mpi} windows.c 4)
  hocket_mpi_expect(windows_on_nodes ${mpi} ARGUMENTS=allocated "NODES=rank / 2"
    "EXPECT=^windows: passed && ^hocket: memory of windows: used in place [1-9][0-9]")
  # Debian's MPICH can't be told to yield.
  set(number 1000)
  if(mpi STREQUAL debian-mpich)
    set(number 100)
  endif()
  hocket_mpi_test(windows_by_the_thousand ${mpi} windows.c 2)
  hocket_mpi_expect(windows_by_the_thousand ${mpi} "ARGUMENTS=many ${number}"
    "EXPECT=^windows: passed && ^hocket: memory of windows: used in place [1-9][0-9][0-9]+ times")
endfunction()
