// SPDX-License-Identifier: BSD-3-Clause
#include "bench/lab/run.h"

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
#include "bench/lab/rank.h"
#include "lab/building/survey.h"
#include "lab/namespaces.h"

namespace hocket::lab_bench {
namespace {

// A rank, in a process of its own.
Status live(const lab::Lab& lab, const Run& run, Board& board, uint32_t rank, const std::vector<int>& nodes,
            uint64_t job) {
  Result<lab::NetworkVisit> visit = lab::NetworkVisit::enter(lab.node_network(nodes[rank]));
  if (!visit.is_ok()) return visit.take_status();
  const Task& task = run.task;
  pin(rank, task.cores);
  const std::unique_ptr<Driver> driver =
      run.make_driver({rank, task.ranks, lab::kNodeInterface, job, task.waiting, task.work, run.plan_of});
  return Rank(board, rank, *driver, [&] { return traffic_of(lab, nodes[0]); }).live();
}

[[noreturn]] void become(uint32_t rank, Board& board, const Status& status) {
  if (status.is_ok()) _exit(0);
  board.fail("rank " + std::to_string(rank) + ": " + status.message());
  _exit(1);
}

}  // namespace

Result<Traffic> traffic_of(const lab::Lab& lab, int root_node) {
  Result<std::vector<lab::PortTraffic>> ports = lab::traffic_of(lab);
  if (!ports.is_ok()) return ports.take_status();
  Traffic traffic;
  for (const lab::PortTraffic& port : ports.value()) {
    traffic.packets += port.packets_from_node;
    traffic.bytes += port.bytes_from_node;
  }
  const lab::PortTraffic& root = ports.value()[static_cast<size_t>(root_node)];
  traffic.root_packets = root.packets_from_node;
  traffic.root_bytes = root.bytes_from_node;
  return traffic;
}

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
      become(rank, board, live(lab, run, board, rank, nodes, job));
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
