# SPDX-License-Identifier: BSD-3-Clause
# A table by which an MPI's own algorithms and hocket's take turns, by the lengths of messages.
# Not those in which MPIs fail by themselves: allgatherv of ranks with different types, exscan without a buffer.
set(by_turns ${CMAKE_CURRENT_BINARY_DIR}/by_turns.table)
set(lines "hocket-table 1\n")
foreach(wire openmpi mpich intel)
  string(APPEND lines "barrier nodes=.. wire=${wire} mpi\n")
endforeach()
foreach(collective gatherv scatterv alltoallv)
  string(APPEND lines "${collective} nodes=.. mpi\n")
endforeach()
foreach(collective broadcast reduce allreduce gather scatter allgather alltoall reduce_scatter_block scan
        reduce_scatter)
  string(APPEND lines "${collective} nodes=.. bytes=..16 mpi\n${collective} nodes=.. bytes=100..300 mpi\n")
endforeach()
file(GENERATE OUTPUT ${by_turns} CONTENT "${lines}")
