// SPDX-License-Identifier: BSD-3-Clause
// What the standard leaves to the MPI behind it.
#include <cstring>
#include <vector>

#include "shim/underneath/next.h"

namespace hocket::interposer {
namespace {

using GetLibraryVersion = int (*)(char* version, int* length);
using CreateErrhandler = int (*)(MPI_Comm_errhandler_function* function, MPI_Errhandler* handler);

struct Host {
  bool is_mpich = false;
  bool is_intel = false;
};

Host find_host() {
  const auto ask = reinterpret_cast<GetLibraryVersion>(find_object("PMPI_Get_library_version"));
  if (ask == nullptr) return {};
  std::vector<char> version(MPI_MAX_LIBRARY_VERSION_STRING + 1, '\0');
  int length = 0;
  if (ask(version.data(), &length) != MPI_SUCCESS) return {};
  return {std::strstr(version.data(), "MPICH") != nullptr, std::strstr(version.data(), "Intel(R) MPI") != nullptr};
}

const Host& host() {
  static const Host the_host = find_host();
  return the_host;
}

bool is_of_mpich_family() { return host().is_mpich || host().is_intel; }

void return_error(MPI_Comm*, int*, ...) {}

}  // namespace

bool spins() { return is_of_mpich_family(); }
bool same_buffer_is_refused() { return is_of_mpich_family(); }
bool is_quick_alone() { return !is_of_mpich_family(); }
int usual_takeover_calls() { return host().is_mpich ? 32 : 256; }
bool short_sums_saturate() { return !is_of_mpich_family(); }

MPI_Errhandler handler_that_returns() {
  MPI_Errhandler handler = MPI_ERRORS_RETURN;
  if (!host().is_intel) return handler;
  const auto create = reinterpret_cast<CreateErrhandler>(find_object("PMPI_Comm_create_errhandler"));
  if (create == nullptr || create(return_error, &handler) != MPI_SUCCESS) return MPI_ERRORS_RETURN;
  return handler;
}

}  // namespace hocket::interposer
