// SPDX-License-Identifier: BSD-3-Clause
#include "shim/communicators/nodes.h"

#include <algorithm>
#include <utility>

#include "shim/communicators/communicators.h"
#include "shim/job/job.h"

namespace hocket::interposer {
namespace {

// Empty: all are on one. Never destroyed: calls may come after static destruction.
std::vector<uint64_t>& nodes() {
  static auto* const nodes = new std::vector<uint64_t>;
  return *nodes;
}

bool are_alike(const std::vector<uint64_t>& all) {
  return std::all_of(all.begin(), all.end(), [&](uint64_t one) { return one == all.front(); });
}

}  // namespace

bool note_nodes(std::vector<uint64_t> of_world) {
  if (are_alike(of_world)) of_world.clear();
  nodes() = std::move(of_world);
  internal::job.spans_nodes = !nodes().empty();
  return internal::job.spans_nodes;
}

bool spans_nodes(MPI_Comm comm) {
  std::vector<int> in_world;
  if (nodes().empty() || !find_in_world(comm, in_world)) return false;
  std::vector<uint64_t> here;
  for (const int rank : in_world) here.push_back(rank == MPI_UNDEFINED ? 0 : nodes()[static_cast<size_t>(rank)]);
  return !are_alike(here);
}

}  // namespace hocket::interposer
