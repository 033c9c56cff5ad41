// SPDX-License-Identifier: BSD-3-Clause
#include "shim/underneath/progress_hook.h"

#include <dlfcn.h>

#include <atomic>
#include <cstring>

#include "core/mpi_wait.h"
#include "shim/underneath/next.h"

namespace hocket::interposer {
namespace {

using OpalCallback = int (*)();
using OpalYield = bool (*)(bool yields);
using OpalRegister = int (*)(OpalCallback callback);

// As in mpi.h of MPICH 5; Intel MPI and MPICH 4, which have the same binary interface otherwise, don't know them.
using AsyncPoll = int (*)(void* thing);
using AsyncStart = int (*)(AsyncPoll poll, void* state, int stream);
constexpr int kMpichStreamNull = 0x3c000000;
constexpr int kMpichNoProgress = 0, kMpichDone = 1;

// Written by end_hook(), read by look_of_mpich(). Relaxed: it guards no data.
std::atomic<bool> ends{false};

int look_of_open_mpi() {
  pause_in_mpi();
  return 0;
}

int look_of_mpich(void*) {
  if (ends.load(std::memory_order_relaxed)) return kMpichDone;
  pause_in_mpi();
  return kMpichNoProgress;
}

struct Place {
  Hook hook;
  const char* library;
  const char* function;
};
constexpr Place kPlaces[] = {
#define HOCKET_MPI_HOOK(constant, family, library, function) {Hook::k##constant, library, function},
#include "base/mpi_hooks.def"
};

// By which a function is registered; all versions of an MPI have one name for it.
constexpr const char* registering_function(Hook hook) {
  for (const Place& place : kPlaces)
    if (place.hook == hook) return place.function;
  return nullptr;
}

void* find_in_open_mpi(const char* name) {
  for (const Place& place : kPlaces) {
    if (place.hook != Hook::kInOpenMpi) continue;
    if (void* library = dlopen(place.library, RTLD_LAZY | RTLD_NOLOAD)) {
      void* const found = dlsym(library, name);
      dlclose(library);
      return found;
    }
  }
  return nullptr;
}

AsyncStart start_of_mpich() {
  if (std::strcmp(kShim, "libhocket-mpi-mpich.so") != 0) return nullptr;
  return reinterpret_cast<AsyncStart>(find_object(registering_function(Hook::kInMpich)));
}

OpalRegister register_of_open_mpi() {
  return reinterpret_cast<OpalRegister>(find_in_open_mpi(registering_function(Hook::kInOpenMpi)));
}

}  // namespace

Hook find_hook() {
  if (start_of_mpich() != nullptr) return Hook::kInMpich;
  return register_of_open_mpi() != nullptr ? Hook::kInOpenMpi : Hook::kNone;
}

bool hook_progress(Hook hook) {
  ends.store(false, std::memory_order_relaxed);
  if (hook == Hook::kInMpich) return start_of_mpich()(look_of_mpich, nullptr, kMpichStreamNull) == MPI_SUCCESS;
  return hook == Hook::kInOpenMpi && register_of_open_mpi()(look_of_open_mpi) == 0;
}

void let_mpi_yield() {
  const auto yield = reinterpret_cast<OpalYield>(find_in_open_mpi("opal_progress_set_yield_when_idle"));
  if (yield != nullptr) yield(true);
}

void end_hook() { ends.store(true, std::memory_order_relaxed); }

void unhook_progress() {
  end_hook();
  const auto remove = reinterpret_cast<OpalRegister>(find_in_open_mpi("opal_progress_unregister"));
  if (remove != nullptr) remove(look_of_open_mpi);
}

}  // namespace hocket::interposer
