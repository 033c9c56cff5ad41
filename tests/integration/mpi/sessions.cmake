# SPDX-License-Identifier: BSD-3-Clause
# Programs of sessions, and jobs that start others. Open MPI 4 and MPICH 3 have no sessions. MPICH 4.0 can't make a
# communicator of some processes before one of all, and Intel MPI refuses MPI_Init beside sessions.
function(hocket_mpi_session_test mpi how expected)
  hocket_mpi_test(sessions_${how} ${mpi} sessions.c 4)
  hocket_mpi_expect(sessions_${how} ${mpi} ARGUMENTS=${how} "EXPECT=^sessions: passed && ${expected}")
endfunction()
foreach(mpi debian-mpich mpich openmpi ${standard})
  hocket_mpi_session_test(${mpi} all "^hocket: all +[1-9][0-9]+ +0 ")
  hocket_mpi_session_test(${mpi} within "^hocket: all +[1-9][0-9]+ +0 ")
  if(NOT mpi STREQUAL debian-mpich)
    hocket_mpi_session_test(${mpi} halves "^hocket: MPI_Bcast +640 +8 +communicator older than the job 8$")
  endif()
endforeach()
foreach(mpi mpich openmpi)
  hocket_mpi_session_test(${mpi} across "^hocket: MPI_Bcast +480 +8 +communicator older than the job 8$")
  hocket_mpi_test(sessions_on_nodes ${mpi} sessions.c 4 HOCKET_BROADCAST=leader)
  hocket_mpi_expect(sessions_on_nodes ${mpi} "NODES=rank / 2"
    "EXPECT=^sessions: passed && ^hocket: MPI_Bcast +640 +8 +communicator older than the job 8$")
  hocket_mpi_test(sessions_disabled ${mpi} sessions.c 3 HOCKET_DISABLE=1)
  hocket_mpi_expect(sessions_disabled ${mpi} "EXPECT=^sessions: passed && ^hocket: all +0 ")
endforeach()
# Three threads at a time, which is more than Open MPI 5 bears by itself.
foreach(mpi mpich ${standard})
  if(NOT mpi STREQUAL impi)
    hocket_mpi_test(sessions_by_threads ${mpi} sessions_beside.c 4)
    hocket_mpi_expect(sessions_by_threads ${mpi} ARGUMENTS=threads
      "EXPECT=^sessions: passed && ^hocket: MPI_Bcast +(640|800|960) ")
  endif()
endforeach()
foreach(mpi mpich openmpi)
  hocket_mpi_test(sessions_outlived ${mpi} sessions_beside.c 4)
  hocket_mpi_expect(sessions_outlived ${mpi} ARGUMENTS=outlived "EXPECT=^sessions: passed && ^hocket: all +1452 +0 ")
  hocket_mpi_test(sessions_older ${mpi} sessions_beside.c 4)
  hocket_mpi_expect(sessions_older ${mpi} ARGUMENTS=older
    "EXPECT=^sessions: passed && ^hocket: MPI_Bcast +160 +160 +communicator older than the job 160$")
endforeach()
hocket_mpi_test(sessions_wrong_setting mpich sessions.c 3 HOCKET_WAIT=typo)
hocket_mpi_expect(sessions_wrong_setting mpich STATUS=failure
  "EXPECT=^hocket.*rank 0 of 3: HOCKET_WAIT=typo can't be understood. accepted is one of auto")

# Of the MPIs that are installed only MPICH 5 starts further processes in a container.
function(hocket_mpi_spawn_test mpi name expected)
  hocket_mpi_test(spawned_${name} ${mpi} spawned.c 2 ${ARGN})
  hocket_mpi_expect(spawned_${name} ${mpi} INHERITED= "EXPECT=^spawned: passed && ${expected}")
endfunction()
foreach(mpi mpich ${standard})
  if(NOT mpi STREQUAL impi)
    hocket_mpi_spawn_test(${mpi} by_default "^hocket: MPI_Bcast +20 +360 +ranks of another job 360$")
    hocket_mpi_spawn_test(${mpi} with_hocket "^hocket: MPI_Bcast +380 +0 && ^hocket: MPI_Iallgather +380 +0 "
      HOCKET_OTHER_JOBS=hocket)
  endif()
endforeach()
hocket_mpi_spawn_test(mpich with_other_settings
  "^hocket.* of several jobs is left to .*settings differ && ^hocket: MPI_Bcast +20 +360 +set-up failed 360$"
  HOCKET_OTHER_JOBS=hocket)
hocket_mpi_expect(spawned_with_other_settings mpich INHERITED=HOCKET_PROGRESS=calls)
# That decides when a communicator is set up is the same for all that are of several jobs, and who moves started calls
# is agreed on.
hocket_mpi_spawn_test(mpich with_other_calls
  "^hocket: MPI_Bcast +380 +0 && ^hocket: MPI_Bcast +376 +4 +not yet set up 4$" HOCKET_OTHER_JOBS=hocket)
hocket_mpi_expect(spawned_with_other_calls mpich INHERITED=HOCKET_SETUP_CALLS=9)
hocket_mpi_spawn_test(mpich without_a_hook "^hocket: MPI_Iallgather +20 +360 " HOCKET_OTHER_JOBS=hocket
  HOCKET_PROGRESS=calls)
hocket_mpi_expect(spawned_without_a_hook mpich INHERITED=HOCKET_WAIT=spin)
