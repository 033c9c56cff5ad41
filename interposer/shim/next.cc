// SPDX-License-Identifier: BSD-3-Clause
#include "shim/next.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <mutex>

namespace hocket::interposer {
namespace internal {
std::atomic<bool> found{false};
CaughtFunctions mpi_functions;
MpiFunctions pmpi_functions;
}  // namespace internal

namespace {

// The library where it has been loaded already; never loads one.
void* loaded_library() {
  for (const char* name : kLibraries) {
    if (void* library = dlopen(name, RTLD_LAZY | RTLD_NOLOAD)) return library;
  }
  return nullptr;
}

void* find_function(const char* name) {
  if (void* symbol = dlsym(RTLD_NEXT, name)) return symbol;
  static void* const library = loaded_library();
  return library != nullptr ? dlsym(library, name) : nullptr;
}

[[noreturn]] void give_up(const char* what, const char* remedy) {
  std::fprintf(stderr, "hocket: %s is preloaded, but %s; %s\n", kShim, what, remedy);
  _exit(1);
}

bool is_open_mpi() { return find_object("ompi_mpi_comm_world") != nullptr; }

bool is_standard_abi(void* function) {
  Dl_info info{};
  if (dladdr(function, &info) == 0 || info.dli_fname == nullptr) return false;
  return std::strstr(info.dli_fname, "libmpi_abi.so") != nullptr;
}

void check_family(void* function) {
  if (function == nullptr) {
    give_up("this process calls MPI without having loaded an MPI library that it knows",
            "start it without LD_PRELOAD, or with the shim for its MPI");
  }
  if (is_standard_abi(function)) {
    give_up("this program uses the standard MPI binary interface (libmpi_abi.so)", "there is no shim for that yet");
  }
  const bool open_mpi = is_open_mpi();
  if (open_mpi == (std::strcmp(kFamily, "Open MPI") == 0)) return;
  give_up(open_mpi ? "this program uses Open MPI" : "this program doesn't use Open MPI",
          open_mpi ? "preload libhocket-mpi-openmpi.so" : "preload libhocket-mpi-mpich.so");
}

template <typename Function>
void find(Function& pointer, const char* name) {
  pointer = reinterpret_cast<Function>(find_function(name));
}

template <typename Function>
void require(Function& pointer, const char* name) {
  find(pointer, name);
  if (pointer == nullptr) give_up(name, "is missing in this MPI library: it is too old");
}

}  // namespace

void* find_object(const char* name) {
  // An executable may hold the one copy of the object, so the global scope comes first.
  if (void* object = dlsym(RTLD_DEFAULT, name)) return object;
  static void* const library = loaded_library();
  return library != nullptr ? dlsym(library, name) : nullptr;
}

void internal::find_mpi() {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (found.load(std::memory_order_relaxed)) return;
  check_family(find_function("PMPI_Init"));
#define HOCKET_FIND_BOTH(name)               \
  require(mpi_functions.name, "MPI_" #name); \
  require(pmpi_functions.name, "PMPI_" #name);
#define HOCKET_FIND_OPTIONAL(name)        \
  find(mpi_functions.name, "MPI_" #name); \
  find(pmpi_functions.name, "PMPI_" #name);
#define HOCKET_FIND_OPTIONAL_PMPI(name) find(pmpi_functions.name, "PMPI_" #name);
#define HOCKET_FIND_PMPI(name) require(pmpi_functions.name, "PMPI_" #name);
  HOCKET_MPI_CAUGHT(HOCKET_FIND_BOTH)
  HOCKET_MPI_CAUGHT_COUNT(HOCKET_FIND_OPTIONAL)
  HOCKET_MPI_USED(HOCKET_FIND_PMPI)
  HOCKET_MPI_USED_COUNT(HOCKET_FIND_OPTIONAL_PMPI)
  find(pmpi_functions.Comm_is_revoked, "PMPIX_Comm_is_revoked");
  // Release: see next_mpi().
  found.store(true, std::memory_order_release);
}

}  // namespace hocket::interposer
