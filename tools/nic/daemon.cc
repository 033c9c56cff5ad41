// SPDX-License-Identifier: BSD-3-Clause
#include "nic/daemon.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

#include "nic/agent_engine.h"
#include "nic/kernel_engine.h"
#include "supervision/daemon.h"

namespace hocket::nic {
namespace {

using platform::Descriptor;

// Late messages are asked for also while every core computes.
void ask_for_priority() {
  sched_param low{};
  low.sched_priority = sched_get_priority_min(SCHED_FIFO);
  (void)sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &low);  // without the right, as other processes
}

Status serve(const DaemonOptions& options, Descriptor* writer) {
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  sigaddset(&ends, SIGINT);
  sigprocmask(SIG_BLOCK, &ends, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  // It knows the keys of all groups: other processes of the same user may not look into it, nor a core be written.
  prctl(PR_SET_DUMPABLE, 0);
  Result<Descriptor> listener = open_service(options.engine.name);
  if (!listener.is_ok()) return listener.take_status();
  Result<std::unique_ptr<Engine>> engine =
      options.is_agent ? make_agent_engine(options.engine) : make_kernel_engine(options.engine);
  if (!engine.is_ok()) return engine.take_status();
  ask_for_priority();
  if (writer != nullptr) writer->reset();
  return run_service(*engine.value(), listener.value(), options.guests);
}

}  // namespace

Status start_daemon(const DaemonOptions& options) {
  if (options.stays) return serve(options, nullptr);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return Status::system("can't make a pipe", errno);
  Descriptor reader(ends[0]);
  Descriptor writer(ends[1]);
  const pid_t child = fork();
  if (child < 0) return Status::system("can't start the NIC engine's service", errno);
  if (child == 0) {
    Descriptor pipe = supervision::become_daemon(writer.release(), "hocket-nic");
    const Status status = serve(options, &pipe);
    if (!status.is_ok() && pipe.get() >= 0) {
      const std::string why = status.message();
      (void)!write(pipe.get(), why.data(), why.size());
    }
    _exit(status.is_ok() ? 0 : 1);
  }
  writer.reset();
  std::string why;
  std::array<char, 1024> part;
  ssize_t length = 0;
  while ((length = read(reader.get(), part.data(), part.size())) > 0 || (length < 0 && errno == EINTR))
    if (length > 0) why.append(part.data(), static_cast<size_t>(length));
  if (why.empty()) return Status::ok();
  return {Code::kSystem, why};
}

}  // namespace hocket::nic
