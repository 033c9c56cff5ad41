// SPDX-License-Identifier: BSD-3-Clause
#include "lab_bench/mpi_run.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

extern char** environ;  // NOLINT: as POSIX has it

namespace hocket::lab_bench {
namespace {

// A file that is gone when this ends.
class TemporaryFile {
 public:
  TemporaryFile() { close(mkstemp(name_.data())); }
  ~TemporaryFile() { unlink(name_.data()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const char* name() const { return name_.data(); }

 private:
  std::array<char, 32> name_ = {"/tmp/hocket-bench-XXXXXX"};
};

// Ends with this process's exit code; says nothing unless it fails.
Status run_quietly(const std::vector<std::string>& words) {
  const TemporaryFile output;
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.name(), O_WRONLY | O_APPEND, 0);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t child = 0;
  const int error = posix_spawn(&child, "/proc/self/exe", &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return Status::system("can't start " + words[0], error);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return Status::ok();
  std::ifstream file(output.name());
  const std::string said{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  constexpr size_t kMost = 600;
  return {Code::kSystem, "the MPI's run has failed: " + said.substr(said.size() - std::min(said.size(), kMost))};
}

}  // namespace

Result<Measured> measure_mpi(const lab::Lab& lab, const std::string& mpi, uint32_t ranks, double seconds) {
  const TemporaryFile rows;
  const std::string hocket = std::filesystem::read_symlink("/proc/self/exe").string();
  HOCKET_TRY(run_quietly({"hocket",
                          "lab",
                          "mpirun",
                          "--name",
                          lab.name,
                          "--mpi",
                          mpi,
                          "-n",
                          std::to_string(ranks),
                          "--ppn",
                          "1",
                          "--",
                          hocket,
                          "bench",
                          "barrier",
                          "--variants",
                          "mpi",
                          "--timing",
                          "back-to-back",
                          "--time-budget",
                          std::to_string(seconds),
                          "--json",
                          rows.name()}));
  std::ifstream file(rows.name());
  const auto all = nlohmann::json::parse(file, nullptr, false);
  if (!all.is_array() || all.empty()) return Status(Code::kSystem, "the MPI's run has brought no rows");
  Measured measured;
  measured.mean_us = -1;
  measured.median_us = all[0].at("median_us").get<double>();
  measured.p99_us = all[0].at("p99_us").get<double>();
  return measured;
}

}  // namespace hocket::lab_bench
