# SPDX-License-Identifier: BSD-3-Clause
# Calls that are started: non-blocking and persistent collectives, and those among neighbours.
function(hocket_mpi_request_tests mpi)
  foreach(ranks 2 3)
    hocket_mpi_test(requests_mixed_${ranks} ${mpi} requests_mixed.c ${ranks})
    hocket_mpi_expect(requests_mixed_${ranks} ${mpi}
      "EXPECT=^requests_mixed: passed && ^hocket: MPI_Ialltoallv +[1-9][0-9]+ +0 ")
  endforeach()
  hocket_mpi_test(requests_mixed_by_threads ${mpi} requests_mixed.c 3)
  hocket_mpi_expect(requests_mixed_by_threads ${mpi} "ARGUMENTS=0.8 threads" "EXPECT=^requests_mixed: passed")
  hocket_mpi_test(requests_mixed_moved_by_the_thread ${mpi} requests_mixed.c 3 HOCKET_PROGRESS=thread)
  hocket_mpi_expect(requests_mixed_moved_by_the_thread ${mpi} "EXPECT=^requests_mixed: passed")
  foreach(form alone threads duplicate)
    hocket_mpi_test(takeover_${form} ${mpi} takeover.c 3 HOCKET_TAKEOVER_CALLS=8)
    hocket_mpi_expect(takeover_${form} ${mpi} "ARGUMENTS=0.4 ${form}" "EXPECT=^takeover: passed")
  endforeach()
  hocket_mpi_test(takeover_while_a_thread_meets ${mpi} takeover_threads.c 2)
  hocket_mpi_expect(takeover_while_a_thread_meets ${mpi} "EXPECT=^takeover_threads: passed")
  hocket_mpi_test(sparse_exchange ${mpi} nbx.c 3)
  hocket_mpi_expect(sparse_exchange ${mpi} "EXPECT=^nbx: passed")
  # Debian's MPICH makes no progress for its own collectives in MPI_Win_lock.
  if(NOT mpi STREQUAL debian-mpich)
    foreach(progress auto thread)
      hocket_mpi_test(progress_by_${progress} ${mpi} progress_rule.c 3 HOCKET_PROGRESS=${progress})
      hocket_mpi_expect(progress_by_${progress} ${mpi} "EXPECT=^progress_rule: passed")
    endforeach()
  endif()
  # MPI 4.1's.
  if(mpi MATCHES "^mpich")
    hocket_mpi_test(questions_about_several_requests ${mpi} asking.c 3)
    hocket_mpi_expect(questions_about_several_requests ${mpi} "EXPECT=^asking: passed")
  endif()
  foreach(ranks 1 2)
    hocket_mpi_test(requests_alone_of_${ranks} ${mpi} requests_alone.c ${ranks})
    hocket_mpi_expect(requests_alone_of_${ranks} ${mpi} "EXPECT=^requests_alone: passed")
  endforeach()
  hocket_mpi_test(neighbours ${mpi} neighbours.c 5)
  hocket_mpi_expect(neighbours ${mpi} "EXPECT=^neighbours: passed && ^hocket: MPI_Neighbor_alltoallw +[1-9][0-9]* ")
  # The MPI has but what it is asked for to compare with.
  hocket_mpi_test(neighbours_of_one_rank ${mpi} neighbours.c 1)
  hocket_mpi_expect(neighbours_of_one_rank ${mpi} "EXPECT=^neighbours: passed && \
^hocket: MPI_Neighbor_alltoallw +[1-9][0-9]* .*single rank [0-9]+, disabled [0-9]+$ && \
^hocket: MPI_Ineighbor_alltoall +[1-9][0-9]* +0 +single rank [0-9]+$")
  # As programs come to it, and sooner.
  hocket_mpi_test(neighbours_taken_over ${mpi} neighbours_taken_over.c 3)
  hocket_mpi_expect(neighbours_taken_over ${mpi} ARGUMENTS=600 "EXPECT=^neighbours_taken_over: passed")
  hocket_mpi_test(neighbours_taken_over_early ${mpi} neighbours_taken_over.c 3 HOCKET_TAKEOVER_CALLS=8)
  hocket_mpi_expect(neighbours_taken_over_early ${mpi} "EXPECT=^neighbours_taken_over: passed")
  if(mpi STREQUAL mpich)
    hocket_mpi_test(neighbours_left_to_the_mpi ${mpi} neighbours.c 3 HOCKET_NEIGHBOR_ALLTOALL=mpi)
    hocket_mpi_expect(neighbours_left_to_the_mpi ${mpi}
      "EXPECT=^neighbours: passed && ^hocket: MPI_Neighbor_alltoall .*left to the MPI by choice [0-9]+ && \
^hocket: MPI_Ineighbor_alltoall .*left to the MPI by choice [0-9]+$ && ^hocket: MPI_Ineighbor_allgather +[0-9]+ +0 ")
    hocket_mpi_test(requests_mixed_beside_checks ${mpi} requests_mixed.c 3 HOCKET_CHECK=1)
    hocket_mpi_expect(requests_mixed_beside_checks ${mpi}
      "EXPECT=^requests_mixed: passed && ^hocket: MPI_Ialltoallv +[1-9][0-9]+ +0 ")
  endif()
endfunction()
