// SPDX-License-Identifier: BSD-3-Clause
// A lab comes to be.
//
// Thread safety: one thread at a time; other processes are kept out by the Lock.
#pragma once

#include <string>

#include "base/status.h"
#include "lab/lab.h"

namespace hocket::lab {

struct BuildOptions {
  std::string name = "lab";
  int nodes = 0;
  int ranks_per_node = 1;
  bool own_cores = false;  // Lab::cores
  SwitchKind switch_kind = SwitchKind::kBridge;
};

// Refuses where a lab of that name stands; a stale one is removed first. What fails halfway is taken down again.
Result<Lab> build(const BuildOptions& options);

}  // namespace hocket::lab
