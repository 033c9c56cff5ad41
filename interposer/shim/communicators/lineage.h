// SPDX-License-Identifier: BSD-3-Clause
// How communicators descend from MPI_COMM_WORLD: each gets a number by the communicator that it was made of and by how
// many were made of that one before. All its ranks come to the same number without asking each other, since they make
// communicators in the same order. By it they find each other's notices (exchange.h).
//
// It is kept where no other tool is in between. Of communicators that are made otherwise (MPI_Comm_idup,
// MPI_Comm_create_group, of two groups) it is unknown, and of all that descend from them.
//
// Thread safety: as MPI has it for calls that make communicators: of one parent by one thread at a time.
#pragma once

#include <cstdint>

#include "shim/underneath/next.h"

namespace hocket::interposer {

namespace internal {
inline bool keeps_lineage = false;  // written in MPI_Init and MPI_Finalize
void note_child(MPI_Comm parent, MPI_Comm made);
void note_founder(MPI_Comm made);
}  // namespace internal

// A call that makes a communicator of another one, on all ranks of that.
template <typename Make>
int make_communicator(MPI_Comm parent, MPI_Comm* made, const Make& make) {
  const int error = make();
  if (internal::keeps_lineage && error == MPI_SUCCESS) internal::note_child(parent, *made);
  return error;
}

// `made` is of a group, and of no other communicator: it and what descends from it are younger than the job, and that
// is all that is known.
inline void note_founder(MPI_Comm made) {
  if (internal::keeps_lineage) internal::note_founder(made);
}

// Whether all its ranks have made it since the job began, as far as is known.
bool is_younger_than_job(MPI_Comm handle);

// Odd, and the same on all ranks; 0: unknown.
uint64_t number_of(MPI_Comm handle);
// Whether the whole job had met when the communicator was made. The same on all ranks, but where several threads of one
// call the MPI: they may make communicators while another one is in the call in which the job meets.
bool had_all_met_before(MPI_Comm handle);

// Whether this rank could: no tool is loaded behind hocket.
bool may_keep_lineage();
// Between MPI_Init and MPI_Finalize, where all ranks may.
bool keep_lineage();
// In MPI_Init, in any case: whether several threads of some rank call the MPI at a time.
void note_threads(bool by_threads);
bool is_lineage_of_threads();
void end_lineage();

}  // namespace hocket::interposer
