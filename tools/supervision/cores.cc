// SPDX-License-Identifier: BSD-3-Clause
#include "supervision/cores.h"

#include <sched.h>

#include <cstdio>

#include "platform/machine/topology.h"

namespace hocket::supervision {

void bind_to_core(int index) {
  const platform::CpuBudget budget = platform::read_cpu_budget();
  const int cores = CPU_COUNT(&budget.allowed);
  int wanted = cores > 0 ? index % cores : 0;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &budget.allowed) || wanted-- > 0) continue;
    cpu_set_t mask;
    CPU_ZERO(&mask);
    CPU_SET(core, &mask);
    if (sched_setaffinity(0, sizeof(mask), &mask) != 0) std::perror("hocket: can't bind a rank to its core");
    return;
  }
}

}  // namespace hocket::supervision
