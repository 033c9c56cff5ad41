// SPDX-License-Identifier: BSD-3-Clause
#include "command/bench_local.h"

#include <cstdio>

#include "algorithms/algorithm.h"
#include "command/local_endpoint.h"
#include "command/ping_pong.h"

namespace hocket::command {
namespace {

std::vector<std::string> specs_for(const bench::Options& options, bench::Collective collective) {
  std::vector<std::string> specs;
  if (!options.variants.empty()) {
    for (const std::string& variant : options.variants) specs.push_back(variant == "hocket" ? "" : variant);
    return specs;
  }
  specs.emplace_back();
  for (const algorithms::Algorithm* algorithm : algorithms::all())
    if (algorithm->collective == schedule::base_of(collective)) specs.emplace_back(algorithm->name);
  return specs;
}

int run_rank(LocalWorld& world, const bench::Options& options, const std::vector<bench::Row>& before) {
  Endpoint endpoint(world);
  if (!endpoint.open(options)) return 1;
  std::string title = "hocket on " + std::to_string(world.size()) + " ranks of this machine; ratio: hocket / variant";
  // Each collective has algorithms of its own; the JSON rows of all of them belong together.
  bench::Suite suite(options, world, endpoint.buffers(), title);
  for (const bench::Row& row : before) suite.add(row);
  for (bench::Collective collective : options.collectives) {
    std::vector<std::unique_ptr<HocketVariant>> variants;
    std::vector<bench::Variant*> pointers;
    for (const std::string& spec : specs_for(options, collective)) {
      variants.push_back(std::make_unique<HocketVariant>(endpoint, options, spec));
      pointers.push_back(variants.back().get());
    }
    if (suite.run(collective, pointers)) continue;
    endpoint.abandon();
    return 1;
  }
  HocketVariant automatic(endpoint, options, "");
  bench::Variant* const waiting[] = {&automatic};
  if (options.wait && !suite.run_wait(waiting)) {
    endpoint.abandon();
    return 1;
  }
  return suite.finish();
}

}  // namespace

int bench_local(const LocalOptions& local, const bench::Options& options) {
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
    if (local.bind) bind_to_core(rank);
    LocalWorld world(board, rank);
    return run_rank(world, options, before);
  });
}

}  // namespace hocket::command
