// SPDX-License-Identifier: BSD-3-Clause
#include "communicators.h"

namespace conformance {
namespace {

void add(std::vector<Communicator>& all, const char* name, MPI_Comm comm) {
  Communicator entry;
  entry.name = name;
  entry.comm = comm;
  if (comm != MPI_COMM_NULL) {
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Barrier(comm);  // from here on hocket carries out what is called on it
    MPI_Comm_rank(comm, &entry.rank);
    MPI_Comm_size(comm, &entry.size);
    MPI_Group group, world;
    MPI_Comm_group(comm, &group);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    const int first = 0;
    MPI_Group_translate_ranks(group, 1, &first, world, &entry.first_in_world);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
  }
  all.push_back(entry);
}

MPI_Comm split(int colour, int key) {
  MPI_Comm comm;
  MPI_Comm_split(MPI_COMM_WORLD, colour, key, &comm);
  return comm;
}

// All but rank 1, the last first; made by its members alone.
MPI_Comm from_group(int rank, int size) {
  if (rank == 1) return MPI_COMM_NULL;
  std::vector<int> members;
  for (int i = size - 1; i >= 0; --i) {
    if (i != 1) members.push_back(i);
  }
  MPI_Group world, group;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, static_cast<int>(members.size()), members.data(), &group);
  MPI_Comm comm;
  MPI_Comm_create_group(MPI_COMM_WORLD, group, 17, &comm);
  MPI_Group_free(&world);
  MPI_Group_free(&group);
  return comm;
}

MPI_Comm ring(int size) {
  const int wrap = 1;
  MPI_Comm comm;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &wrap, 0, &comm);
  return comm;
}

}  // namespace

std::vector<Communicator> make_communicators() {
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  std::vector<Communicator> all;
  add(all, "world", MPI_COMM_WORLD);
  MPI_Comm copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  add(all, "dup", copy);
  add(all, "reversed", split(0, -rank));
  add(all, "halves", split(rank < (size + 1) / 2 ? 0 : 1, rank));
  add(all, "group", from_group(rank, size));
  add(all, "ring", ring(size));
  add(all, "self", MPI_COMM_SELF);
  return all;
}

void free_communicators(std::vector<Communicator>& all) {
  for (Communicator& entry : all) {
    MPI_Comm_set_errhandler(entry.comm == MPI_COMM_NULL ? MPI_COMM_SELF : entry.comm, MPI_ERRORS_ARE_FATAL);
    const bool is_made = entry.comm != MPI_COMM_NULL && entry.comm != MPI_COMM_WORLD && entry.comm != MPI_COMM_SELF;
    if (is_made) MPI_Comm_free(&entry.comm);
  }
  all.clear();
}

}  // namespace conformance
