// SPDX-License-Identifier: BSD-3-Clause
#include "shim/lifetime/memory.h"

#include <cstdlib>
#include <cstring>

#include "core/endpoint.h"
#include "shim/job/job.h"
#include "shim/underneath/handles.h"

namespace hocket::interposer {
namespace {

constexpr long kAlignment = 64;  // hocket_alloc's

// Relaxed: a hint that saves a lock; memory reaches a thread only through the program's own synchronisation.
std::atomic<bool> has_given{false};

bool asks_for_more_alignment(MPI_Info info) {
  if (info == handles.info_null) return false;
  char key[] = "mpi_minimum_memory_alignment", value[32] = "";
  int found = 0;
  const int error = next_pmpi().Info_get(info, key, static_cast<int>(sizeof value) - 1, value, &found);
  return error != MPI_SUCCESS || (found != 0 && std::strtol(value, nullptr, 10) > kAlignment);
}

}  // namespace

bool allocate_memory(MPI_Aint bytes, MPI_Info info, void* baseptr) {
  if (mode() != Mode::kServing || is_nested() || world_size() == 1 || bytes <= 0 || baseptr == nullptr) return false;
  if (has_wrong_settings() || asks_for_more_alignment(info)) return false;
  void* memory = shared_allocate(static_cast<size_t>(bytes));
  if (memory == nullptr) return false;
  has_given.store(true, std::memory_order_relaxed);
  std::memcpy(baseptr, &memory, sizeof memory);
  return true;
}

bool free_memory(void* base) {
  if (base == nullptr || !has_given.load(std::memory_order_relaxed)) return false;
  return shared_free(base);
}

}  // namespace hocket::interposer
