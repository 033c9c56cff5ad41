// SPDX-License-Identifier: BSD-3-Clause
// Ranks for tests: threads of this process (which the sanitizers see) or forked processes (which is what users have).
#pragma once

#include <hocket/hocket.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "algorithms/algorithm.h"
#include "platform/sanitizer.h"

namespace hocket::test {

// One rank's view of its team.
struct Rank {
  int rank = 0;
  int size = 1;
  hocket_context_t* context = nullptr;
  hocket_comm_t* comm = nullptr;
  // For further communicators of the same ranks.
  hocket_bootstrap_t bootstrap = {};
};

using Body = std::function<void(Rank&)>;

// The sizes with which every algorithm is tried: fewer where a sanitizer makes all of it slow, one of each kind.
#if defined(HOCKET_THREAD_SANITIZER)
inline constexpr int kTeamSizes[] = {1, 3, 4};
#elif defined(HOCKET_SANITIZED)
inline constexpr int kTeamSizes[] = {1, 3, 8};
#else
inline constexpr int kTeamSizes[] = {1, 2, 3, 4, 5, 8};
#endif

// Which node a rank of a team of threads is on. TEST_NODES says: `blocks` of two, `cyclic` over two, `uneven`, or
// `apart`, each on its own; unset: one node.
std::vector<uint64_t> team_nodes(int size);
bool has_several_nodes();
// Whether nodes reach each other by multicast: HOCKET_MULTICAST=on says so.
bool has_multicast();
// Whether the algorithm can serve the collective on a team, as far as nodes have a say in it.
bool serves_team(const algorithms::Algorithm& algorithm, schedule::Collective collective, int size,
                 bool ordered = false);

// Runs `body` on `size` threads, each with its own context and one communicator of all. Failures are reported by
// GoogleTest's assertions in `body`.
void run_threads(int size, const Body& body);

// The same with forked processes. A rank fails when an assertion in `body` has failed or it died; the answer is the
// number of ranks that failed.
int run_processes(int size, const Body& body);

// As run_processes, but leaves making contexts and communicators to the body: `context` and `comm` are NULL.
int run_bare_processes(int size, const Body& body);

// A bootstrap over the ranks of the same colour, 0 to kColours-1, as in MPI_Comm_split. `parent` must be a team's own.
class SplitBootstrap {
 public:
  static constexpr int kColours = 4;
  SplitBootstrap(const hocket_bootstrap_t& parent, int colour);
  const hocket_bootstrap_t& get() const { return own_; }

 private:
  struct Seat;
  std::shared_ptr<Seat> seat_;
  hocket_bootstrap_t own_ = {};
};

}  // namespace hocket::test
