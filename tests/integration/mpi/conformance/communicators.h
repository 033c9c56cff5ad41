// SPDX-License-Identifier: BSD-3-Clause
// The communicators that cases run on. Each is one entry for all ranks, though some ranks are in none and others in
// different ones of that entry.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

namespace conformance {

struct Communicator {
  std::string name;
  MPI_Comm comm = MPI_COMM_NULL;  // null: this rank stands aside
  int rank = 0;
  int size = 0;
  int first_in_world = 0;  // the world rank of its rank 0: tells halves apart
};

// Collective over MPI_COMM_WORLD. Errors are returned on all of them.
std::vector<Communicator> make_communicators();
void free_communicators(std::vector<Communicator>& all);

}  // namespace conformance
