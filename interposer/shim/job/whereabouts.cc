// SPDX-License-Identifier: BSD-3-Clause
#include "shim/job/whereabouts.h"

namespace hocket::interposer {

void keep_record(int rank, int ranks, const char* library) {
  if (platform::begin_record({rank, ranks, library}) == nullptr) return;
  for (int i = 0; i < kCollectives; ++i)
    platform::name_function(number_of(static_cast<Collective>(i)), mpi_name(static_cast<Collective>(i)));
  name_caught([](size_t number, const char* name) { platform::name_function(number_of_other(number), name); });
}

}  // namespace hocket::interposer
