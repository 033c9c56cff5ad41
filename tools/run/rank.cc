// SPDX-License-Identifier: BSD-3-Clause
#include "run/rank.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "platform/descriptor.h"
#include "supervision/cannot_run.h"
#include "supervision/cores.h"
#include "supervision/exit_codes.h"
#include "words/say.h"

namespace hocket::command {
namespace {

using platform::Descriptor;

void take_stream(int descriptor, int as) {
  if (descriptor >= 0) dup2(descriptor, as);
}

// In the child. What goes wrong is told through `trouble`, which closes by itself where all goes well.
[[noreturn]] void become_program(const RunOptions& options, const supervision::Signals& signals,
                                 const DescriptorLimit& descriptors, int rank, const std::string& place,
                                 const RankStreams& streams, int trouble) {
  take_stream(streams.input, STDIN_FILENO);
  take_stream(streams.output, STDOUT_FILENO);
  take_stream(streams.error, STDERR_FILENO);
  if (options.bind) supervision::bind_to_core(rank);
  setenv("HOCKET_RUN", place.c_str(), 1);
  signals.restore();
  descriptors.restore();
  const int error = supervision::become(options.command);
  // Should the launcher have gone, no process wants to know.
  if (write(trouble, &error, sizeof error) < 0) _exit(kFailure);
  _exit(supervision::kNotFound);
}

RankStart system_failure(int rank, int error) {
  return {-1, kFailure, "can't start rank " + std::to_string(rank) + ": " + std::strerror(error)};
}

}  // namespace

RankStart start_rank(const RunOptions& options, const supervision::Signals& signals, const DescriptorLimit& descriptors,
                     int rank, const std::string& place, const RankStreams& streams) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return system_failure(rank, errno);
  const Descriptor reader(ends[0]);
  Descriptor writer(ends[1]);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) return system_failure(rank, errno);
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    // If the parent has ended before that, no signal has come.
    if (getppid() != parent) _exit(kFailure);
    become_program(options, signals, descriptors, rank, place, streams, writer.get());
  }
  writer.reset();
  int error = 0;
  ssize_t received = 0;
  while ((received = read(reader.get(), &error, sizeof error)) < 0 && errno == EINTR) continue;
  if (received == sizeof error) {
    waitpid(child, nullptr, 0);
    supervision::CannotRun refusal = supervision::cannot_run(options.command[0], error);
    return {-1, refusal.exit_code, std::move(refusal.why)};
  }
  RankStart started;
  started.process = child;
  return started;
}

}  // namespace hocket::command
