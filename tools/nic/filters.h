// SPDX-License-Identifier: BSD-3-Clause
// BPF programs on an interface as filters of its clsact qdisc: what kernels before 6.6 have. Filters stay when their
// process ends: the next service removes them.
//
// Thread safety: one thread at a time.
#pragma once

#include "base/status.h"

namespace hocket::nic {

class Filters {
 public:
  Filters() = default;
  // Takes away what attach() has made.
  ~Filters();
  Filters(const Filters&) = delete;
  Filters& operator=(const Filters&) = delete;

  Status attach(int interface, int arriving, int leaving);
  // Those of an engine that was killed; and the qdisc, if that had made it and no others' filters are there.
  static void remove_old(int interface);

 private:
  int interface_ = 0;  // with filters of ours; 0: none
};

}  // namespace hocket::nic
