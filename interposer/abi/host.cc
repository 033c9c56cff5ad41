// SPDX-License-Identifier: BSD-3-Clause
// What the standard leaves to the MPI behind it.
#include <cstring>
#include <vector>

#include "shim/next.h"

namespace hocket::interposer {
namespace {

using GetLibraryVersion = int (*)(char* version, int* length);

bool is_of_mpich_family() {
  const auto ask = reinterpret_cast<GetLibraryVersion>(find_object("PMPI_Get_library_version"));
  if (ask == nullptr) return false;
  std::vector<char> version(MPI_MAX_LIBRARY_VERSION_STRING + 1, '\0');
  int length = 0;
  if (ask(version.data(), &length) != MPI_SUCCESS) return false;
  return std::strstr(version.data(), "MPICH") != nullptr || std::strstr(version.data(), "Intel(R) MPI") != nullptr;
}

bool host_is_of_mpich_family() {
  static const bool is = is_of_mpich_family();
  return is;
}

}  // namespace

bool same_buffer_is_refused() { return host_is_of_mpich_family(); }
bool short_sums_saturate() { return !host_is_of_mpich_family(); }

}  // namespace hocket::interposer
