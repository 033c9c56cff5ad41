// SPDX-License-Identifier: BSD-3-Clause
#include "bench/comparison/local.h"

#include <cstdio>

#include "bench/comparison/variants.h"
#include "bench/endpoint.h"
#include "bench/local/ping_pong.h"
#include "bench/local/ranks.h"
#include "supervision/cores.h"
#include "words/say.h"

namespace hocket::command {
namespace {

int run_rank(LocalWorld& world, const bench::Options& options, const std::vector<bench::Row>& before) {
  bench::Endpoint endpoint(world);
  if (!endpoint.open(options)) return 1;
  std::string title = "hocket on " + std::to_string(world.size()) + " ranks of this machine; ratio: hocket / variant";
  // Each collective has algorithms of its own; the JSON rows of all of them belong together.
  bench::Suite suite(options, world, endpoint.buffers(), title);
  for (const bench::Row& row : before) suite.add(row);
  for (bench::Collective collective : options.collectives) {
    std::vector<std::unique_ptr<bench::HocketVariant>> variants;
    std::vector<bench::Variant*> pointers;
    for (const std::string& name : variants_of(options, collective, all_variants(collective, false))) {
      const std::string spec = name == kOwnChoice ? "" : name;
      variants.push_back(std::make_unique<bench::HocketVariant>(endpoint, options, spec));
      pointers.push_back(variants.back().get());
    }
    if (suite.run(collective, pointers)) continue;
    endpoint.abandon();
    return 1;
  }
  bench::HocketVariant automatic(endpoint, options, "");
  bench::Variant* const waiting[] = {&automatic};
  if (options.wait && !suite.run_wait(waiting)) {
    endpoint.abandon();
    return 1;
  }
  return suite.finish();
}

}  // namespace

int bench_local(const LocalOptions& local, bench::Options options, const GridWords& grid) {
  if (const Status status = set_halo(grid, local.ranks, false, options); !status.is_ok())
    return fail(kUsage, status.message());
  start_load(local.load);
  std::vector<bench::Row> before;
  if (options.pingpong) {
    before.push_back(ping_pong(options));
    if (before.back().summary.iterations == 0) {
      std::fprintf(stderr, "hocket bench: %s\n", before.back().summary.why_not.c_str());
      return 1;
    }
  }
  SharedBoard board(local.ranks);
  if (!board.ok()) {
    std::perror("hocket bench: no shared memory for the ranks");
    return 1;
  }
  return fork_ranks(local.ranks, [&](int rank) {
    if (local.bind) supervision::bind_to_core(rank);
    LocalWorld world(board, rank);
    return run_rank(world, options, before);
  });
}

}  // namespace hocket::command
