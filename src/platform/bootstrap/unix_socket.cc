// SPDX-License-Identifier: BSD-3-Clause
#include "platform/bootstrap/unix_socket.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/log.h"
#include "platform/bootstrap/passed_descriptors.h"
#include "platform/descriptor.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77  // since Linux 6.5
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

namespace hocket::platform {
namespace {

// The kernel limits it to net.core.somaxconn; a process that finds the queue full tries again.
constexpr int kBacklog = 4096;

socklen_t fill_name(const std::string& name, sockaddr_un* address) {
  *address = {};
  address->sun_family = AF_UNIX;
  const size_t length = std::min(name.size(), sizeof(address->sun_path) - 1);
  std::memcpy(address->sun_path + 1, name.data(), length);
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
}

// Only when needed: a program that uses select(2) is better off with low descriptors.
bool raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= limit.rlim_max) return false;
  HOCKET_LOG_INFO("raising the limit on open files from %lu to %lu", limit.rlim_cur, limit.rlim_max);
  limit.rlim_cur = limit.rlim_max;
  return setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

Status out_of_descriptors(int error) {
  return Status::system("Connecting ranks takes up to three open files for each peer; raise `ulimit -n`", error);
}

// Calls `open` (which gives a descriptor or -1), once more with a higher limit if that was the trouble.
template <typename Open>
int open_or_raise(Open open) {
  const int descriptor = open();
  if (descriptor >= 0 || errno != EMFILE) return move_out_of_the_way(descriptor);
  if (!raise_descriptor_limit()) {
    errno = EMFILE;
    return -1;
  }
  return move_out_of_the_way(open());
}

Status socket_failed(const char* what, const char* call, int error) {
  return error == EMFILE || error == ENFILE ? out_of_descriptors(error) : Status::system_call(what, call, error);
}

int open_socket() {
  return open_or_raise([] { return socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0); });
}

}  // namespace

Result<int> duplicate(int descriptor) {
  const int made = open_or_raise([=] { return fcntl(descriptor, F_DUPFD_CLOEXEC, 0); });
  if (made < 0) return socket_failed("Duplicating a descriptor", "fcntl", errno);
  return made;
}

Result<int> listen_abstract(const std::string& name) {
  const int descriptor = open_socket();
  if (descriptor < 0) return socket_failed("Creating a Unix socket", "socket", errno);
  sockaddr_un address;
  const socklen_t length = fill_name(name, &address);
  const bool is_bound = bind(descriptor, reinterpret_cast<sockaddr*>(&address), length) == 0;
  if (!is_bound || listen(descriptor, kBacklog) != 0) {
    const int error = errno;
    close(descriptor);
    return Status::system_call("Listening on an abstract Unix socket", is_bound ? "listen" : "bind", error);
  }
  return descriptor;
}

Result<Progress> connect_abstract(const std::string& name, int* socket) {
  const int descriptor = open_socket();
  if (descriptor < 0) return socket_failed("Creating a Unix socket", "socket", errno);
  sockaddr_un address;
  const socklen_t length = fill_name(name, &address);
  if (connect(descriptor, reinterpret_cast<sockaddr*>(&address), length) == 0) {
    *socket = descriptor;
    return Progress::kDone;
  }
  const int error = errno;
  close(descriptor);
  if (error == EAGAIN || error == EINTR) return Progress::kTryLater;  // its queue is full
  if (error == ECONNREFUSED) return Progress::kEnded;
  return Status::system_call("Connecting with a peer over a Unix socket", "connect", error);
}

Result<Progress> accept_connection(int listener, int* socket) {
  *socket = open_or_raise([&] { return accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC); });
  if (*socket >= 0) return Progress::kDone;
  if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED) return Progress::kTryLater;
  return socket_failed("Accepting a peer's connection", "accept4", errno);
}

Result<PeerCredentials> peer_credentials(int socket) {
  ucred credentials{};
  socklen_t length = sizeof(credentials);
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) {
    return Status::system_call("Asking who connected", "getsockopt", errno);
  }
  return PeerCredentials{credentials.uid, credentials.pid};
}

int open_peer_process(int socket, const PeerCredentials& credentials) {
  const int process = open_or_raise([&] {
    int descriptor = -1;
    socklen_t length = sizeof(descriptor);
    return getsockopt(socket, SOL_SOCKET, SO_PEERPIDFD, &descriptor, &length) == 0 ? descriptor : -1;
  });
  if (process >= 0 || credentials.process <= 0) return process;
  return open_or_raise([&] { return static_cast<int>(syscall(SYS_pidfd_open, credentials.process, 0)); });
}

Result<Progress> send_with_descriptor(int socket, std::span<const std::byte> bytes, int descriptor) {
  iovec part{const_cast<std::byte*>(bytes.data()), bytes.size()};
  RoomForDescriptors<1> room;
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  attach_descriptors(message, room, {&descriptor, 1});
  if (sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) return Progress::kDone;
  // ETOOMANYREFS: the user has too many descriptors on their way; they arrive as the others go on.
  if (errno == EAGAIN || errno == EINTR || errno == ENOBUFS || errno == ETOOMANYREFS) return Progress::kTryLater;
  if (errno == EPIPE || errno == ECONNRESET) return Progress::kEnded;
  return Status::system_call("Sending shared memory to a peer", "sendmsg", errno);
}

Result<Progress> receive_with_descriptor(int socket, std::span<std::byte> buffer, size_t* length, int* descriptor) {
  // A descriptor for which there is no room is lost without an error, so make sure that there is.
  const int probe = open_or_raise([&] { return fcntl(socket, F_DUPFD_CLOEXEC, 0); });
  if (probe < 0) return socket_failed("Receiving shared memory from a peer", "fcntl", errno);
  close(probe);

  constexpr size_t kMostDescriptors = 8;
  iovec part{buffer.data(), buffer.size()};
  RoomForDescriptors<kMostDescriptors> room;
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  expect_descriptors(message, room);
  *descriptor = -1;
  const ssize_t received = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT | MSG_TRUNC);
  if (received < 0) {
    if (errno == EAGAIN || errno == EINTR) return Progress::kTryLater;
    if (errno == ECONNRESET) return Progress::kEnded;
    return Status::system_call("Receiving from a peer", "recvmsg", errno);
  }
  take_descriptors(message, [&](Descriptor passed) {
    if (*descriptor < 0) *descriptor = passed.release();
  });
  if (received == 0) return Progress::kEnded;
  *length = static_cast<size_t>(received);
  return Progress::kDone;
}

}  // namespace hocket::platform
