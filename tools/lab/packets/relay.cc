// SPDX-License-Identifier: BSD-3-Clause
#include "lab/packets/relay.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>

#include "lab/packets/relay_loop.h"
#include "platform/descriptor.h"
#include "supervision/daemon.h"

namespace hocket::lab {
namespace {

using platform::Descriptor;

std::string lock_file(const Lab& lab) { return lab.directory() + "/relay"; }

struct flock whole_file() {
  struct flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

// Tells what went wrong, or nothing when it is ready.
[[noreturn]] void live_as_relay(const Lab& lab, int writer) {
  // The lock of the labs, most of all, must not stay open here.
  Descriptor pipe = supervision::become_daemon(writer, "lab-relay");
  const Descriptor file(open(lock_file(lab).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  struct flock lock = whole_file();
  Status status = Status::ok();
  if (file.get() < 0 || fcntl(file.get(), F_SETLK, &lock) != 0)
    status = Status::system("can't lock " + lock_file(lab), errno);
  if (status.is_ok()) {
    Result<RelayLoop> loop = RelayLoop::prepare(lab);
    if (loop.is_ok()) {
      pipe.reset();
      loop.value().run();
      _exit(0);
    }
    status = loop.take_status();
  }
  const std::string text = status.message();
  (void)!write(pipe.get(), text.data(), text.size());
  _exit(1);
}

}  // namespace

pid_t relay_process(const Lab& lab) {
  const Descriptor file(open(lock_file(lab).c_str(), O_RDWR | O_CLOEXEC));
  struct flock lock = whole_file();
  if (file.get() < 0 || fcntl(file.get(), F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK) return 0;
  return lock.l_pid;
}

Status start_relay(const Lab& lab) {
  if (relay_process(lab) != 0) return Status::ok();
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return Status::system("can't make a pipe", errno);
  const Descriptor reader(ends[0]);
  Descriptor writer(ends[1]);
  const pid_t relay = fork();
  if (relay < 0) return Status::system("can't start the relay", errno);
  if (relay == 0) live_as_relay(lab, writer.get());
  writer.reset();
  std::string trouble;
  char text[512];
  ssize_t length = 0;
  while ((length = read(reader.get(), text, sizeof text)) != 0) {
    if (length > 0) trouble.append(text, static_cast<size_t>(length));
    if (length < 0 && errno != EINTR) break;
  }
  if (trouble.empty() && relay_process(lab) == 0) trouble = "it has ended at once";
  return trouble.empty() ? Status::ok() : Status(Code::kSystem, "the relay does not start: " + trouble);
}

Status stop_relay(const Lab& lab) {
  constexpr int kMostLooks = 1000;
  constexpr timespec kPause{0, 5'000'000};
  for (int look = 0; look < kMostLooks; ++look) {
    const pid_t relay = relay_process(lab);
    if (relay == 0) return Status::ok();
    kill(relay, SIGKILL);
    nanosleep(&kPause, nullptr);
  }
  return {Code::kSystem, "the relay, process " + std::to_string(relay_process(lab)) + ", can't be ended"};
}

}  // namespace hocket::lab
