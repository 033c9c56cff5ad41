// SPDX-License-Identifier: BSD-3-Clause
// `hocket bench --ranks N`: hocket's choice and its algorithms on forked ranks, through the public C API.
//
// Thread safety: for processes with one thread.
#pragma once

#include "bench/bench.h"
#include "words/grid.h"

namespace hocket::command {

struct LocalOptions {
  int ranks = 2;
  bool bind = false;
  int load = 0;
};

// `grid`: of collectives among neighbours.
int bench_local(const LocalOptions& local, bench::Options options, const GridWords& grid);

}  // namespace hocket::command
