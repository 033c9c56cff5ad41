// SPDX-License-Identifier: BSD-3-Clause
#include "lab_bench/run.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "base/clock.h"
#include "lab/namespaces.h"
#include "lab/survey.h"
#include "lab_bench/rank.h"

namespace hocket::lab_bench {
namespace {

Result<uint64_t> packets_of(const lab::Lab& lab) {
  Result<std::vector<lab::PortTraffic>> traffic = lab::traffic_of(lab);
  if (!traffic.is_ok()) return traffic.take_status();
  return std::accumulate(traffic.value().begin(), traffic.value().end(), uint64_t{0},
                         [](uint64_t sum, const lab::PortTraffic& port) { return sum + port.packets_from_node; });
}

// A rank, in a process of its own.
Status live(const lab::Lab& lab, const Run& run, Board& board, uint32_t rank, int node, uint64_t job) {
  Result<lab::NetworkVisit> visit = lab::NetworkVisit::enter(lab.node_network(node));
  if (!visit.is_ok()) return visit.take_status();
  pin(rank);
  const Task& task = run.task;
  const std::unique_ptr<Driver> driver =
      run.make_driver({rank, task.ranks, lab::kNodeInterface, job, task.waiting, task.work, run.plan_of});
  return Rank(board, rank, *driver, [&] { return packets_of(lab); }).live();
}

[[noreturn]] void become(uint32_t rank, Board& board, const Status& status) {
  if (status.is_ok()) _exit(0);
  board.fail("rank " + std::to_string(rank) + ": " + status.message());
  _exit(1);
}

}  // namespace

Result<Measured> measure(const lab::Lab& lab, const Run& run) {
  const Task& task = run.task;
  if (task.ranks < 2 || task.ranks > static_cast<uint32_t>(lab.nodes) || task.rounds == 0)
    return Status(Code::kInvalidArgument, "from 2 ranks to as many as nodes, and a round at least");
  Result<SharedBoard> shared = SharedBoard::make(task);
  if (!shared.is_ok()) return shared.take_status();
  Board& board = *shared.value();
  std::vector<int> nodes(static_cast<size_t>(lab.nodes));
  std::iota(nodes.begin(), nodes.end(), 0);
  std::mt19937_64 dice(task.seed);
  std::shuffle(nodes.begin(), nodes.end(), dice);
  const uint64_t job = dice() ^ now_ns();
  std::vector<pid_t> children;
  for (uint32_t rank = 0; rank < task.ranks; ++rank) {
    const pid_t child = fork();
    if (child == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      become(rank, board, live(lab, run, board, rank, nodes[rank], job));
    }
    if (child < 0) {
      board.fail("can't start rank " + std::to_string(rank));
      break;
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    // One that was killed can't say so itself.
    if (!WIFEXITED(status)) board.fail("a rank was ended by signal " + std::to_string(WTERMSIG(status)));
  }
  if (board.is_broken()) return Status(Code::kPeerFailed, board.problem);
  return result_of(board);
}

}  // namespace hocket::lab_bench
