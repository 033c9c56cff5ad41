// SPDX-License-Identifier: BSD-3-Clause
#include "bench/local/ranks.h"

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "platform/machine/topology.h"
#include "words/say.h"

namespace hocket::command {

SharedBoard::SharedBoard(int ranks) : ranks_(ranks) {
  bytes_ = sizeof(bench::MeetingPoint) + static_cast<size_t>(ranks) * kPlaceBytes;
  void* memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  meeting_point_ = new (memory) bench::MeetingPoint;
  places_ = static_cast<std::byte*>(memory) + sizeof(bench::MeetingPoint);
  oversubscribed_ = static_cast<uint32_t>(ranks) > platform::read_cpu_budget().usable();
}

SharedBoard::~SharedBoard() {
  if (meeting_point_ != nullptr) munmap(meeting_point_, bytes_);
}

void SharedBoard::synchronize() {
  meeting_point_->meet(static_cast<uint32_t>(ranks_), [&] {
    if (oversubscribed_) sched_yield();
  });
}

void LocalWorld::maximum(std::span<double> values) {
  constexpr size_t kMost = SharedBoard::kPlaceBytes / sizeof(double);
  for (size_t begin = 0; begin < values.size(); begin += kMost) {
    const size_t count = std::min(kMost, values.size() - begin);
    std::memcpy(board_.place(rank_), values.data() + begin, count * sizeof(double));
    board_.synchronize();
    for (int rank = 0; rank < size(); ++rank) {
      const auto* other = reinterpret_cast<const double*>(board_.place(rank));
      for (size_t i = 0; i < count; ++i) values[begin + i] = std::max(values[begin + i], other[i]);
    }
    board_.synchronize();
  }
}

void LocalWorld::allgather(const void* send, void* receive, size_t bytes) {
  for (size_t begin = 0; begin < bytes; begin += SharedBoard::kPlaceBytes) {
    const size_t length = std::min(SharedBoard::kPlaceBytes, bytes - begin);
    std::memcpy(board_.place(rank_), static_cast<const std::byte*>(send) + begin, length);
    board_.synchronize();
    for (int rank = 0; rank < size(); ++rank)
      std::memcpy(static_cast<std::byte*>(receive) + static_cast<size_t>(rank) * bytes + begin, board_.place(rank),
                  length);
    board_.synchronize();
  }
}

int fork_ranks(int ranks, const std::function<int(int)>& body) {
  std::fflush(nullptr);
  const pid_t parent = getpid();
  std::vector<pid_t> children;
  int result = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    const pid_t child = fork();
    if (child == 0) {
      // What ends the parent ends the ranks; if it has ended already, no signal will come.
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      const int code = getppid() == parent ? body(rank) : 1;
      std::fflush(nullptr);
      _exit(code);
    }
    if (child < 0) {
      std::perror("hocket: can't start a rank");
      result = 1;
      break;
    }
    children.push_back(child);
  }
  if (result != 0)
    for (pid_t child : children) kill(child, SIGKILL);
  for (size_t left = children.size(); left > 0;) {
    int status = 0;
    const pid_t ended = wait(&status);
    if (ended < 0) break;
    if (std::find(children.begin(), children.end(), ended) == children.end()) continue;  // a load process
    --left;
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : kFailure;
    if (code == 0 || result != 0) continue;
    result = code;
    if (WIFSIGNALED(status)) std::fprintf(stderr, "hocket: a rank was ended by signal %d\n", WTERMSIG(status));
    for (pid_t child : children)
      if (child != ended) kill(child, SIGKILL);
  }
  return result;
}

void start_load(int processes) {
  const pid_t parent = getpid();
  for (int i = 0; i < processes; ++i) {
    if (fork() != 0) continue;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    volatile uint64_t turns = 0;
    while (getppid() == parent || turns % (1 << 20) != 0) turns = turns + 1;
    _exit(0);
  }
}

}  // namespace hocket::command
