// SPDX-License-Identifier: BSD-3-Clause
#include "shim/wire.h"

#include "shim/handles.h"
#include "shim/next.h"

// Nothing here is linked against an MPI: its functions are found at run time.
#define HOCKET_MPI(name) hocket::interposer::next_pmpi().name
#include "hocket/mpi_wire.h"

namespace hocket::interposer {
namespace {

hocket_mpi_wire_t wire;
bool is_open = false;
MPI_Comm wire_comm;

// What the standard promises.
constexpr uint32_t kLeastTags = 32767;

uint32_t tags_of_job() {
  void* value = nullptr;
  int found = 0;
  if (next_pmpi().Comm_get_attr(handles.comm_world, MPI_TAG_UB, &value, &found) != MPI_SUCCESS || found == 0)
    return kLeastTags;
  return static_cast<uint32_t>(*static_cast<int*>(value));
}

}  // namespace

bool open_wire() {
  if (next_pmpi().Comm_dup(handles.comm_world, &wire_comm) != MPI_SUCCESS) return false;
  is_open = true;
  if (next_pmpi().Comm_set_errhandler(wire_comm, handles.errors_return) != MPI_SUCCESS) return false;
  hocket_mpi_wire_init(&wire, wire_comm, handles.byte, tags_of_job());
  return true;
}

void close_wire() {
  if (is_open) next_pmpi().Comm_free(&wire_comm);
  is_open = false;
}

const hocket_wire_t* the_wire() { return is_open ? &wire.wire : nullptr; }

}  // namespace hocket::interposer
