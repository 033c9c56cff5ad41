// SPDX-License-Identifier: BSD-3-Clause
#include "bench/lab/mpi_run.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "platform/descriptor.h"
#include "supervision/cannot_run.h"

extern char** environ;  // NOLINT: as POSIX has it

namespace hocket::lab_bench {
namespace {

// Runs this program with `words`; if it fails, the error has the end of what it said.
Status run_quietly(const std::vector<std::string>& words) {
  const platform::Descriptor output(memfd_create("hocket-bench-output", MFD_CLOEXEC));
  const std::vector<char*> arguments = supervision::argument_vector(words);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output.get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t child = 0;
  const int error = posix_spawn(&child, "/proc/self/exe", &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return Status::system("can't start " + words[0], error);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return Status::ok();
  std::ifstream file("/proc/self/fd/" + std::to_string(output.get()));
  const std::string said{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  constexpr size_t kMost = 600;
  return {Code::kSystem, "the MPI's run has failed: " + said.substr(said.size() - std::min(said.size(), kMost))};
}

// Answers ranks, which see their own node only, until there is no more of them.
class TrafficReporter {
 public:
  TrafficReporter(const lab::Lab& lab, Board& board) : board_(board), thread_([this, &lab] { report(lab); }) {}
  ~TrafficReporter() {
    is_over_.store(true);
    board_.traffic_asked.add();
    thread_.join();
  }
  TrafficReporter(const TrafficReporter&) = delete;
  TrafficReporter& operator=(const TrafficReporter&) = delete;

 private:
  void report(const lab::Lab& lab) {
    for (uint32_t turn = 1;; ++turn) {
      board_.traffic_asked.wait_for(turn, nobody_fails_);
      if (is_over_.load()) return;
      const Result<Traffic> traffic = traffic_of(lab, 0);
      if (!traffic.is_ok()) board_.fail(traffic.status().message());
      if (traffic.is_ok()) board_.reported_traffic = traffic.value();
      board_.traffic_reported.set(turn);
    }
  }

  Board& board_;
  std::atomic<bool> is_over_ = false;  // read by report() when `traffic_asked` has grown
  std::atomic<uint32_t> nobody_fails_ = 0;
  std::thread thread_;
};

}  // namespace

Result<Traffic> ask_for_traffic(Board& board) {
  const uint32_t turn = board.traffic_reported.value() + 1;
  board.traffic_asked.add();
  board.traffic_reported.wait_for(turn, board.has_failed);
  return board.reported_traffic;
}

Result<Measured> measure_mpi(const lab::Lab& lab, const MpiJob& job, const Task& task) {
  // In the lab's folder, which is taken away with the lab.
  const std::string path = lab.directory() + "/board";
  Result<SharedBoard> shared = SharedBoard::make(task, path);
  if (!shared.is_ok()) return shared.take_status();
  const std::string hocket = std::filesystem::read_symlink("/proc/self/exe").string();
  std::vector<std::string> words = {"hocket",
                                    "lab",
                                    "mpirun",
                                    "--name",
                                    lab.name,
                                    "--mpi",
                                    job.mpi,
                                    "-n",
                                    std::to_string(task.ranks),
                                    "--ppn",
                                    std::to_string(job.ranks_per_node),
                                    "--",
                                    hocket,
                                    "lab",
                                    kRankCommand,
                                    "--board",
                                    path};
  if (job.has_hocket) words.emplace_back("--with-hocket");
  for (const std::string& setting : job.settings) words.insert(words.end(), {"--setting", setting});
  Board& board = *shared.value();
  const Status status = [&] {
    const TrafficReporter teller(lab, board);
    return run_quietly(words);
  }();
  // What a rank has said is nearer to the cause than what the launcher says of it.
  if (board.is_broken()) return Status(Code::kPeerFailed, board.problem);
  if (!status.is_ok()) return Status(status.code(), status.message());
  return result_of(board);
}

}  // namespace hocket::lab_bench
