# SPDX-License-Identifier: BSD-3-Clause
# Collectives with a block a rank between nodes.
function(hocket_mpi_tests_of_blocks_on_nodes mpi)
  hocket_mpi_test(movement_on_cyclic_nodes ${mpi} movement.c 5)
  hocket_mpi_expect(movement_on_cyclic_nodes ${mpi} "NODES=rank % 2")
  hocket_mpi_test(combining_on_uneven_nodes ${mpi} combining.c 5)
  hocket_mpi_expect(combining_on_uneven_nodes ${mpi} "NODES=rank * rank % 7 % 3")
  # Some go by leaders and some don't, and what is forced for another collective is no part of it.
  if(mpi MATCHES "^(mpich|openmpi|debian-mpich)$")
    foreach(forced "HOCKET_ALLREDUCE=direct" "HOCKET_ALLTOALLV=leader" "HOCKET_ALLTOALLV=receive_distribution")
      string(REGEX REPLACE ".*[=]" "" name ${forced})
      hocket_mpi_test(late_vectors_${name} ${mpi} late_vectors.c 6 ${forced} HOCKET_GATHERV=leader
        HOCKET_ALLGATHERV=leader)
      hocket_mpi_expect(late_vectors_${name} ${mpi} "NODES=rank / 3" "EXPECT=^late_vectors: passed")
    endforeach()
  endif()
endfunction()
