// SPDX-License-Identifier: BSD-3-Clause
#include "lab_bench/run.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "lab/namespaces.h"
#include "lab/survey.h"
#include "lab/words.h"

namespace hocket::lab_bench {
namespace {

constexpr uint32_t kMostRanks = lab::kMostNodes;
constexpr size_t kTextBytes = 400;
constexpr double kNsPerUs = 1000;

// What ranks and the parent share.
struct Board {
  std::atomic<uint32_t> come;
  std::atomic<uint32_t> has_failed;
  Card cards[kMostRanks];
  std::atomic<uint64_t> begun[kMostRanks];  // barriers
  uint64_t begin_ns[kMostRanks];
  uint64_t end_ns[kMostRanks];
  // By rank 0, before the barriers that are measured and after them.
  uint64_t ticks[2];
  uint64_t packets[2];
  char problem[kTextBytes];
  uint64_t round_ns[];  // of rank 0
};

class SharedBoard {
 public:
  explicit SharedBoard(uint32_t rounds) : bytes_(sizeof(Board) + rounds * sizeof(uint64_t)) {
    void* memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory != MAP_FAILED) board_ = static_cast<Board*>(memory);
  }
  ~SharedBoard() {
    if (board_ != nullptr) munmap(board_, bytes_);
  }
  SharedBoard(const SharedBoard&) = delete;
  SharedBoard& operator=(const SharedBoard&) = delete;
  Board* get() const { return board_; }

 private:
  size_t bytes_;
  Board* board_ = nullptr;
};

// Jiffies that the machine's processors have not been idle.
uint64_t busy_ticks() {
  std::ifstream file("/proc/stat");
  std::string name;
  uint64_t user = 0;
  uint64_t nice = 0;
  uint64_t system = 0;
  uint64_t idle = 0;
  uint64_t wait = 0;
  uint64_t interrupt = 0;
  uint64_t soft_interrupt = 0;
  file >> name >> user >> nice >> system >> idle >> wait >> interrupt >> soft_interrupt;
  return user + nice + system + interrupt + soft_interrupt;
}

Result<uint64_t> packets_of(const lab::Lab& lab) {
  Result<std::vector<lab::PortTraffic>> traffic = lab::traffic_of(lab);
  if (!traffic.is_ok()) return traffic.take_status();
  return std::accumulate(traffic.value().begin(), traffic.value().end(), uint64_t{0},
                         [](uint64_t sum, const lab::PortTraffic& port) { return sum + port.packets_from_node; });
}

// A rank, in a process of its own.
class Rank {
 public:
  Rank(const lab::Lab& lab, const Run& run, Board& board, uint32_t rank, int node, uint64_t job)
      : lab_(lab), run_(run), board_(board), rank_(rank), node_(node), job_(job) {}

  Status live() {
    Result<lab::NetworkVisit> visit = lab::NetworkVisit::enter(lab_.node_network(node_));
    if (!visit.is_ok()) return visit.take_status();
    pin();
    const Place place = {rank_, run_.ranks, lab::kNodeInterface, job_, run_.waiting, run_.plan_of};
    const std::unique_ptr<BarrierDriver> driver = run_.make_driver(place);
    Result<Card> card = driver->open();
    if (!card.is_ok()) return card.take_status();
    board_.cards[rank_] = card.value();
    if (!meet()) return Status::ok();
    HOCKET_TRY(driver->connect({board_.cards, board_.cards + run_.ranks}));
    if (!meet()) return Status::ok();
    for (uint32_t round = 0; round < run_.warm_ups; ++round) HOCKET_TRY(driver->barrier());
    HOCKET_TRY(read_meters(0));
    if (!meet()) return Status::ok();
    HOCKET_TRY(work(*driver));
    HOCKET_TRY(read_meters(1));
    // Nobody goes while others may need its answers.
    (void)meet();
    return Status::ok();
  }

 private:
  void pin() const {
    const auto cores = static_cast<uint32_t>(sysconf(_SC_NPROCESSORS_ONLN));
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(rank_ % cores, &set);
    (void)sched_setaffinity(0, sizeof set, &set);
  }

  // All ranks have come this far; false: one has failed.
  bool meet() {
    const uint32_t all = ++meetings_ * run_.ranks;
    board_.come.fetch_add(1);
    while (board_.come.load() < all) {
      if (board_.has_failed.load() != 0) return false;
      sched_yield();
    }
    return board_.has_failed.load() == 0;
  }

  Status read_meters(int which) const {
    if (rank_ != 0) return Status::ok();
    const Result<uint64_t> packets = packets_of(lab_);
    if (!packets.is_ok()) return {packets.status().code(), packets.status().message()};
    board_.packets[which] = packets.value();
    board_.ticks[which] = busy_ticks();
    return Status::ok();
  }

  Status work(BarrierDriver& driver) {
    std::mt19937_64 dice(run_.seed * kMostRanks + rank_);
    std::uniform_real_distribution<double> times(0, run_.compute_us * kNsPerUs);
    board_.begin_ns[rank_] = now_ns();
    for (uint32_t round = 0; round < run_.rounds; ++round) {
      if (run_.compute_us > 0) compute(static_cast<uint64_t>(times(dice)));
      if (run_.is_checked) board_.begun[rank_].store(round + 1);
      const uint64_t begin = rank_ == 0 ? now_ns() : 0;
      HOCKET_TRY(driver.barrier());
      if (rank_ == 0) board_.round_ns[round] = now_ns() - begin;
      if (run_.is_checked) HOCKET_TRY(check(round + 1));
    }
    board_.end_ns[rank_] = now_ns();
    return Status::ok();
  }

  Status check(uint64_t barrier) const {
    for (uint32_t other = 0; other < run_.ranks; ++other) {
      if (board_.begun[other].load() < barrier)
        return {Code::kMismatch, "barrier " + std::to_string(barrier) + " was over before rank " +
                                     std::to_string(other) + " had come to it"};
    }
    return Status::ok();
  }

  static void compute(uint64_t for_ns) {
    const uint64_t end = now_ns() + for_ns;
    while (now_ns() < end) continue;
  }

  const lab::Lab& lab_;
  const Run& run_;
  Board& board_;
  uint32_t rank_;
  int node_;
  uint64_t job_;
  uint32_t meetings_ = 0;
};

[[noreturn]] void become(Rank rank, Board& board, uint32_t number) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const Status status = rank.live();
  if (!status.is_ok()) {
    if (board.has_failed.exchange(1) == 0)
      std::snprintf(board.problem, sizeof board.problem, "rank %u: %s", number, status.message());
    _exit(1);
  }
  _exit(0);
}

Measured result_of(const Board& board, const Run& run) {
  Measured measured;
  for (uint32_t rank = 0; rank < run.ranks; ++rank) {
    const double mean = static_cast<double>(board.end_ns[rank] - board.begin_ns[rank]) / run.rounds / kNsPerUs;
    measured.mean_us = std::max(measured.mean_us, mean);
  }
  measured.round_ns.assign(board.round_ns, board.round_ns + run.rounds);
  measured.packets = static_cast<double>(board.packets[1] - board.packets[0]) / run.rounds;
  // Ticks that a virtual machine has missed are made up for at some time.
  const double most_us = measured.mean_us * get_nprocs();
  const double busy_us =
      static_cast<double>(board.ticks[1] - board.ticks[0]) * 1e6 / static_cast<double>(sysconf(_SC_CLK_TCK));
  measured.processor_us = std::min(busy_us / run.rounds, most_us);
  return measured;
}

}  // namespace

Result<Measured> measure(const lab::Lab& lab, const Run& run) {
  if (run.ranks < 2 || run.ranks > static_cast<uint32_t>(lab.nodes) || run.rounds == 0)
    return Status(Code::kInvalidArgument, "from 2 ranks to as many as nodes, and a round at least");
  const SharedBoard shared(run.rounds);
  if (shared.get() == nullptr) return Status::system("no memory for the ranks' times", errno);
  Board& board = *shared.get();
  std::vector<int> nodes(static_cast<size_t>(lab.nodes));
  std::iota(nodes.begin(), nodes.end(), 0);
  std::mt19937_64 dice(run.seed);
  std::shuffle(nodes.begin(), nodes.end(), dice);
  const uint64_t job = dice() ^ now_ns();
  std::vector<pid_t> children;
  for (uint32_t rank = 0; rank < run.ranks; ++rank) {
    const pid_t child = fork();
    if (child == 0) become(Rank(lab, run, board, rank, nodes[rank], job), board, rank);
    if (child < 0) {
      board.has_failed.store(1);
      std::snprintf(board.problem, sizeof board.problem, "can't start rank %u", rank);
      break;
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    // One that was killed can't say so itself.
    if (!WIFEXITED(status) && board.has_failed.exchange(1) == 0)
      std::snprintf(board.problem, sizeof board.problem, "a rank was ended by signal %d", WTERMSIG(status));
  }
  if (board.has_failed.load() != 0) return Status(Code::kPeerFailed, board.problem);
  return result_of(board, run);
}

}  // namespace hocket::lab_bench
