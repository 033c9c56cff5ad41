// SPDX-License-Identifier: BSD-3-Clause
#include "shim/underneath/next.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <mutex>
#include <optional>
#include <string>

namespace hocket::interposer {
namespace internal {
std::atomic<bool> found{false};
CaughtFunctions mpi_functions;
MpiFunctions pmpi_functions;
}  // namespace internal

namespace {

using GetAbiVersion = int (*)(int* major, int* minor);

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

// A binary interface and the shim made for it.
struct Interface {
  const char* in_words;
  const char* shim;
};
constexpr Interface kMpich{"MPICH or a relative of it", "libhocket-mpi-mpich.so"};
constexpr Interface kOpenMpi{"Open MPI", "libhocket-mpi-openmpi.so"};
constexpr Interface kStandard{"the standard MPI binary interface (libmpi_abi)", "libhocket-mpi-abi.so"};

// Its name says so, and so does MPI_Abi_get_version; that exists in the interfaces of old as well, where the answer is
// -1.
bool is_standard(void* function, GetAbiVersion get_version) {
  Dl_info info{};
  if (dladdr(function, &info) != 0 && info.dli_fname != nullptr && std::strstr(info.dli_fname, "libmpi_abi.so")) {
    return true;
  }
  int major = -1, minor = -1;
  return get_version != nullptr && get_version(&major, &minor) == MPI_SUCCESS && major > 0;
}

// `function` is of the library in question. Open MPI has its objects behind the standard interface too.
Interface interface_of(void* function, GetAbiVersion get_version, const void* object_of_open_mpi) {
  if (is_standard(function, get_version)) return kStandard;
  return object_of_open_mpi != nullptr ? kOpenMpi : kMpich;
}

// Of a library that this shim wasn't made for, loaded out of sight of RTLD_NEXT.
std::optional<Interface> foreign_interface() {
  for (const char* name : {"libmpi_abi.so.1", "libmpi_abi.so.0", "libmpi.so.12", "libmpich.so.12", "libmpi.so.40"}) {
    void* library = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
    void* function = library != nullptr ? dlsym(library, "PMPI_Init") : nullptr;
    if (function == nullptr) continue;
    return interface_of(function, reinterpret_cast<GetAbiVersion>(dlsym(library, "PMPI_Abi_get_version")),
                        dlsym(library, "ompi_mpi_comm_world"));
  }
  return std::nullopt;
}

// Ends the process if this is not the shim for its MPI.
void check_interface() {
  void* const function = find_function("PMPI_Init");
  const auto get_version = reinterpret_cast<GetAbiVersion>(find_function("PMPI_Abi_get_version"));
  const std::optional<Interface> found = function != nullptr
                                             ? interface_of(function, get_version, find_object("ompi_mpi_comm_world"))
                                             : foreign_interface();
  if (!found) {
    give_up("this process calls MPI without having loaded an MPI library that it knows",
            "start it without LD_PRELOAD, or with the shim for its MPI");
  }
  if (std::strcmp(found->shim, kShim) == 0) return;
  const std::string what = std::string("this program uses ") + found->in_words;
  const std::string remedy = std::string("preload ") + found->shim;
  give_up(what.c_str(), remedy.c_str());
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

// A program that calls it all the same has asked the dynamic linker, which found this library's.
template <typename... Arguments>
void find_or_refuse(int (*&pointer)(Arguments...), const char* name) {
  find(pointer, name);
  if (pointer == nullptr) pointer = [](Arguments...) -> int { return MPI_ERR_UNSUPPORTED_OPERATION; };
}

// Open MPI 4 has some of MPI 4.0's functions under names of its own.
template <typename Function>
void find_extension_or_refuse(Function& pointer, const char* name, const char* extension) {
  find(pointer, name);
  if (pointer == nullptr) find_or_refuse(pointer, extension);
}

}  // namespace

void* find_object(const char* name) {
  // An executable may hold the one copy of the object, so the global scope comes first.
  if (void* object = dlsym(RTLD_DEFAULT, name)) return object;
  static void* const library = loaded_library();
  return library != nullptr ? dlsym(library, name) : nullptr;
}

void name_caught(void (*take)(size_t number, const char* name)) {
#define HOCKET_NAME(name) take(HOCKET_FUNCTION(name), "MPI_" #name);
#define HOCKET_MPI_CAUGHT(name) HOCKET_NAME(name)
#define HOCKET_MPI_CAUGHT_OPTIONAL(name) HOCKET_NAME(name)
#define HOCKET_MPI_CAUGHT_COUNT(name) HOCKET_NAME(name)
#define HOCKET_MPI_CAUGHT_NEW(type, name) HOCKET_NAME(name)
#define HOCKET_MPI_CAUGHT_SESSION(type, name) HOCKET_NAME(name)
#include "shim/underneath/functions.def"
#undef HOCKET_NAME
}

void internal::find_mpi() {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  // Relaxed: the mutex orders it behind the search of the thread that stored it below.
  if (found.load(std::memory_order_relaxed)) return;
  check_interface();
#define HOCKET_FIND_BOTH(how, name)      \
  how(mpi_functions.name, "MPI_" #name); \
  how(pmpi_functions.name, "PMPI_" #name);
#define HOCKET_MPI_BARRIER(constant, name) HOCKET_FIND_BOTH(require, name)
#if HOCKET_HAS_COUNT_FUNCTIONS
#define HOCKET_MPI_COLLECTIVE(constant, name) HOCKET_FIND_BOTH(require, name) HOCKET_FIND_BOTH(find, name##_c)
#else
#define HOCKET_MPI_COLLECTIVE(constant, name) HOCKET_FIND_BOTH(require, name)
#endif
#define HOCKET_MPI_PERSISTENT(constant, name)                                \
  find_extension_or_refuse(mpi_functions.name, "MPI_" #name, "MPIX_" #name); \
  find_extension_or_refuse(pmpi_functions.name, "PMPI_" #name, "PMPIX_" #name);
#define HOCKET_MPI_NEIGHBOR(constant, name)                                  \
  find_extension_or_refuse(mpi_functions.name, "MPI_" #name, "MPIX_" #name); \
  find_extension_or_refuse(pmpi_functions.name, "PMPI_" #name, "PMPIX_" #name);
#include "base/collectives.def"
#if HOCKET_HAS_COUNT_FUNCTIONS
#define HOCKET_COLLECTIVE(name, started, ...)   \
  HOCKET_FIND_BOTH(find_or_refuse, started##_c) \
  HOCKET_FIND_BOTH(find_or_refuse, name##_init_c)
#include "shim/underneath/collectives.def"
#undef HOCKET_COLLECTIVE
#define HOCKET_COLLECTIVE(name, started, ...)   \
  HOCKET_FIND_BOTH(find_or_refuse, name##_c)    \
  HOCKET_FIND_BOTH(find_or_refuse, started##_c) \
  HOCKET_FIND_BOTH(find_or_refuse, name##_init_c)
#include "shim/underneath/neighbours.def"
#undef HOCKET_COLLECTIVE
#endif
#define HOCKET_MPI_CAUGHT(name) HOCKET_FIND_BOTH(require, name)
#define HOCKET_MPI_CAUGHT_OPTIONAL(name) HOCKET_FIND_BOTH(find_or_refuse, name)
#define HOCKET_MPI_CAUGHT_COUNT(name) HOCKET_FIND_BOTH(find, name)
#define HOCKET_MPI_CAUGHT_NEW(type, name) HOCKET_FIND_BOTH(find, name)
#define HOCKET_MPI_CAUGHT_SESSION(type, name) HOCKET_FIND_BOTH(find_or_refuse, name)
#define HOCKET_MPI_USED(name) require(pmpi_functions.name, "PMPI_" #name);
#define HOCKET_MPI_USED_COUNT(name) find(pmpi_functions.name, "PMPI_" #name);
#define HOCKET_MPI_USED_SESSION(type, name) find_or_refuse(pmpi_functions.name, "PMPI_" #name);
#include "shim/underneath/functions.def"
  find(pmpi_functions.Comm_is_revoked, "PMPIX_Comm_is_revoked");
  // Release: see next_mpi().
  found.store(true, std::memory_order_release);
}

}  // namespace hocket::interposer
