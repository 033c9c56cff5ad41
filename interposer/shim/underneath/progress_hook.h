// SPDX-License-Identifier: BSD-3-Clause
// A function of ours that the MPI calls at each of its looks, from within whatever function it waits in. Which MPI has
// a place for one stands in base/mpi_hooks.def, and how it is used is known here alone.
//
// Open MPI 4 and 5 call the function at every eighth look, and export opal_progress_set_yield_when_idle. MPICH 5 calls
// it before it looks itself. Others have none: MPICH 4, Intel MPI, MPICH behind the standard interface.
//
// Thread safety: in MPI_Init and MPI_Finalize.
#pragma once

namespace hocket::interposer {

enum class Hook {
  kNone,
  kInMpich,
  kInOpenMpi,  // whose looks yield by themselves, once told to
};
// What this MPI has; before MPI_Init, too.
Hook find_hook();
// After MPI_Init, if there is one. False: the MPI refuses.
bool hook_progress(Hook hook);
// Of Open MPI only, with or without the hook.
void let_mpi_yield();
// Before the MPI ends: MPICH waits in MPI_Finalize until the function has said that it is done.
void unhook_progress();
// In a child of fork(), where the MPI must not be called: the function says so when it is asked next.
void end_hook();

}  // namespace hocket::interposer
