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
  # The MPI has a thread of its own for its progress.
  if(mpi MATCHES "^mpich")
    foreach(program waits lineage)
      hocket_mpi_test(${program}_with_a_progress_thread ${mpi} ${program}.c 4 MPIR_CVAR_ASYNC_PROGRESS=1)
      hocket_mpi_expect(${program}_with_a_progress_thread ${mpi} "EXPECT=^${program}: passed")
    endforeach()
  endif()
  # A profiling tool counts before hocket what it would count without, and behind it what hocket passes on: calls that
  # wait stay the MPI's own then, but for those with a hook.
  foreach(place before behind)
    hocket_mpi_test(tool_${place} ${mpi} derived.c 3)
    set(how "")
    if(mpi MATCHES "openmpi|^mpich$")
      set(how HAS_HOOK=1)
    elseif(place STREQUAL behind)
      set(how IS_BUSY=1)
    endif()
    # Before hocket a tool is the same for all that are built alike.
    set(names tool)
    if(place STREQUAL behind OR NOT mpi MATCHES "^debian-openmpi|^mpich-abi|^impi")
      hocket_mpi_test(waits_with_a_tool_${place} ${mpi} waits.c 4 ${how})
      list(APPEND names waits_with_a_tool)
    endif()
    foreach(name ${names})
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
    if(mpi MATCHES "openmpi|^mpich$")
      hocket_mpi_expect(own_progress_${level} ${mpi} "UNEXPECTED=has no function")
    endif()
  endforeach()
  # What tools read by MPI_T, which Intel MPI's tests can't initialise first: another library is before it there.
  if(NOT mpi STREQUAL impi)
    hocket_mpi_test(tool_variables ${mpi} tool_variables.c 3)
  endif()
  # Where a job's time went: in which lines of the program, and for whom.
  foreach(how blocking started among_others)
    hocket_mpi_test(where_time_goes_${how} ${mpi} where_time_goes.c 3)
    hocket_mpi_expect(where_time_goes_${how} ${mpi} ARGUMENTS=${how})
  endforeach()
  hocket_mpi_expect(where_time_goes_blocking ${mpi}
    "EXPECT=^  MPI_Barrier +meet_late, where_time_goes.c:1000 +0.[1-9] && ^  rank 1 +[0-9].[0-9]+ +(100|9[0-9])\\.")
  hocket_mpi_expect(where_time_goes_among_others ${mpi} "EXPECT=^  rank 1 +[01].[3-9]")
  hocket_mpi_expect(where_time_goes_blocking ${mpi} "UNEXPECTED=started.*: not told apart")
  hocket_mpi_expect(where_time_goes_started ${mpi}
    "EXPECT=^  MPI_Ibarrier +meet_later, where_time_goes.c:2000 +0.[1-9]")
  if(mpi MATCHES "^(mpich|openmpi)$")
    # Why there is no page, or no file.
    hocket_mpi_test(where_time_goes_without_an_end ${mpi} where_time_goes.c 3)
    hocket_mpi_expect(where_time_goes_without_an_end ${mpi} ARGUMENTS=without_an_end STATUS=any
      "EXPECT=HOCKET_STATS: nothing is told of .*, for rank 0 ends without MPI_Finalize")
    hocket_mpi_test(where_time_goes_without_a_file ${mpi} where_time_goes.c 3 HOCKET_STATS=/no/such/folder/a.json)
    hocket_mpi_expect(where_time_goes_without_a_file ${mpi}
      "EXPECT=a.json can't be written: No such .* name a file && a.json .*told here && ^  MPI_Barrier +meet_late, ")
    hocket_mpi_test(where_time_goes_without_a_reader ${mpi} where_time_goes.c 3)
    hocket_mpi_expect(where_time_goes_without_a_reader ${mpi} ARGUMENTS=without_a_reader
      "EXPECT=^where_time_goes: passed")
    # Who is late for a collective, and what it does. Seconds pass.
    foreach(how sleeps computes receives)
      hocket_mpi_test(late_rank_${how} ${mpi} late_rank.c 3 HOCKET_LATE_S=1)
    endforeach()
    # A trace says who was late: of a whole run, of several nodes, and where a ring is written by those that wait for
    # long.
    hocket_mpi_test(traced ${mpi} traced.c 3)
    hocket_mpi_expect(traced ${mpi} "EXPECT=^traced: passed" TRACED=)
    hocket_mpi_test(traced_on_nodes ${mpi} traced.c 4)
    hocket_mpi_expect(traced_on_nodes ${mpi} "EXPECT=^traced: passed" "TRACED=--nodes 2" "NODES=rank / 2")
    hocket_mpi_test(traced_with_two_clocks ${mpi} traced.c 4)
    hocket_mpi_expect(traced_with_two_clocks ${mpi} "EXPECT=^traced: passed" "TRACED=--nodes 2" "NODES=rank / 2"
      AHEAD=2)
    hocket_mpi_test(traced_ring ${mpi} traced.c 3 HOCKET_LATE_S=1)
    hocket_mpi_expect(traced_ring ${mpi} "EXPECT=^traced: passed" "TRACED=--ring" RING=ring:50: ARGUMENTS=hangs)
    # The rank that finds the failure ends the job.
    hocket_mpi_test(traced_failure ${mpi} traced.c 2 HOCKET_LATE_S=1 HOCKET_LATE_ACTION=abort)
    hocket_mpi_expect(traced_failure ${mpi} "EXPECT=HOCKET_LATE_ACTION=abort ends the call" STATUS=failure
      "TRACED=--ring" RING=ring:50: ARGUMENTS=hangs)
    hocket_mpi_test(traced_without_a_folder ${mpi} traced.c 3 HOCKET_TRACE=/no/such/folder/trace.json)
    hocket_mpi_expect(traced_without_a_folder ${mpi}
      "EXPECT=^traced: passed && : rank 0 of 3: HOCKET_TRACE: .*such/folder/trace.json: .*. make its folder.* 3 of its"
      "UNEXPECTED=rank [12] of 3: HOCKET_TRACE|events of this process")
    set(late
      "EXPECT=MPI_Allreduce.* of 3 ranks: rank [02] has waited for [12] s.* for rank 1 .process [0-9]+ on host [^ ]+")
    hocket_mpi_expect(late_rank_sleeps ${mpi} ARGUMENTS=sleeps
      "${late}, which has made no MPI call for . s, .*, and sleeps in ")
    hocket_mpi_expect(late_rank_computes ${mpi} ARGUMENTS=computes
      "${late}, which has made no MPI call .*, and runs.. where it is: gdb")
    hocket_mpi_expect(late_rank_receives ${mpi} ARGUMENTS=receives
      "${late}, which has been in MPI_Recv from rank 2, tag 7 .* and rank 2 ")
  endif()
endfunction()
