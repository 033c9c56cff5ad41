// SPDX-License-Identifier: BSD-3-Clause
#include "shim/communicators/lineage.h"

#include <new>

#include "shim/communicators/exchange.h"
#include "shim/job/job.h"
#include "shim/underneath/attributes.h"
#include "shim/underneath/handles.h"

namespace hocket::interposer {
namespace {

struct Lineage {
  uint64_t number;  // 0: unknown, and of all that descend from it
  uint64_t children = 0;
  bool had_all_met = false;  // when it was made
};

Lineage of_world{1};
int lineage_keyval = MPI_KEYVAL_INVALID;
bool by_threads = false;

// nullptr: unknown.
Lineage* lineage_of(MPI_Comm handle) {
  if (handle == handles.comm_world) return &of_world;
  void* value = nullptr;
  int found = 0;
  if (next_pmpi().Comm_get_attr(handle, lineage_keyval, &value, &found) != MPI_SUCCESS || found == 0) return nullptr;
  return static_cast<Lineage*>(value);
}

// Numbers that only few can share by chance, and none of them 0. The constants are those of SplitMix64.
uint64_t number_of_child(const Lineage& parent) {
  if (parent.number == 0) return 0;
  uint64_t mixed = parent.number + parent.children * 0x9e3779b97f4a7c15;
  mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
  return (mixed ^ mixed >> 31) | 1;
}

void keep(MPI_Comm made, const Lineage& lineage) {
  auto* const kept = new (std::nothrow) Lineage(lineage);
  // The other ranks would look for this one's notices.
  if (kept == nullptr || next_pmpi().Comm_set_attr(made, lineage_keyval, kept) != MPI_SUCCESS)
    end_without_memory(sizeof *kept, "to keep how a communicator was made");
}

}  // namespace

// The parent counts it also where this rank gets none.
void internal::note_child(MPI_Comm parent, MPI_Comm made) {
  Lineage* const of = lineage_of(parent);
  if (of == nullptr) return;
  ++of->children;
  if (made == handles.comm_null) return;
  keep(made, {number_of_child(*of), 0, have_all_met()});
}

void internal::note_founder(MPI_Comm made) {
  if (made != handles.comm_null) keep(made, {0});
}

bool is_younger_than_job(MPI_Comm handle) {
  return handle == handles.comm_world || (internal::keeps_lineage && lineage_of(handle) != nullptr);
}

uint64_t number_of(MPI_Comm handle) {
  const Lineage* const lineage = internal::keeps_lineage ? lineage_of(handle) : nullptr;
  return lineage != nullptr ? lineage->number : 0;
}

bool had_all_met_before(MPI_Comm handle) {
  const Lineage* const lineage = internal::keeps_lineage ? lineage_of(handle) : nullptr;
  return lineage != nullptr && lineage->had_all_met;
}

bool may_keep_lineage() {
  const CaughtFunctions &mpi = next_mpi(), &pmpi = next_pmpi();
#define HOCKET_MPI_WAITS(...)
#define HOCKET_MPI_MAKES(name, ...) &&mpi.name == pmpi.name
  return true
#include "shim/underneath/waits.def"
      ;
}

void note_threads(bool of_threads) { by_threads = of_threads; }

bool keep_lineage() {
  internal::keeps_lineage = next_pmpi().Comm_create_keyval(do_not_copy<MPI_Comm>, delete_value<MPI_Comm, Lineage>,
                                                           &lineage_keyval, nullptr) == MPI_SUCCESS;
  return internal::keeps_lineage;
}

bool is_lineage_of_threads() { return by_threads; }

void end_lineage() {
  if (!internal::keeps_lineage) return;
  internal::keeps_lineage = false;
  of_world = {1};
  next_pmpi().Comm_free_keyval(&lineage_keyval);
}

}  // namespace hocket::interposer
