// SPDX-License-Identifier: BSD-3-Clause
#include "platform/bootstrap/launch_client.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

#include "base/clock.h"
#include "platform/bootstrap/launch_wire.h"
#include "platform/bootstrap/unix_socket.h"

namespace hocket::platform {
namespace {

using launch_wire::Head;
using launch_wire::Join;
using launch_wire::Kind;
using launch_wire::kMostMessageBytes;
using launch_wire::kPieceBytes;

// The launcher knows which ranks are missing, so it reports the timeout. We report it only if the launcher says
// nothing.
constexpr int64_t kExtraTimeoutMs = 10'000;

int64_t now_ms() { return static_cast<int64_t>(now_ns() / 1'000'000); }

Status launcher_gone() {
  return {
      Code::kPeerFailed,
      "the launcher, `hocket run`, can't be reached: it has ended, or this process is in another network namespace; "
      "where a program is started otherwise, unset HOCKET_RUN"};
}

Status other_version() {
  return {Code::kMismatch, "`hocket run` and the program's libhocket are of different versions"};
}

Result<Descriptor> connect_with_launcher(const LaunchPlace& place, int64_t deadline_ms) {
  constexpr timespec kPause{0, 2'000'000};
  for (;;) {
    int socket = -1;
    Result<Progress> connected = connect_abstract(launch_socket_name(place), &socket);
    if (!connected.is_ok()) return connected.take_status();
    if (connected.value() == Progress::kDone) return Descriptor(socket);
    if (connected.value() == Progress::kEnded) return launcher_gone();
    if (now_ms() >= deadline_ms) return Status(Code::kTimeout, "the launcher, `hocket run`, does not answer");
    nanosleep(&kPause, nullptr);  // its queue is full
  }
}

}  // namespace

Result<std::unique_ptr<LaunchClient>> LaunchClient::join(const LaunchPlace& place, int64_t timeout_ms) {
  const int64_t deadline_ms = now_ms() + timeout_ms;
  Result<Descriptor> socket = connect_with_launcher(place, deadline_ms);
  if (!socket.is_ok()) return socket.take_status();
  std::unique_ptr<LaunchClient> client(new LaunchClient(socket.take(), place, timeout_ms));
  Join join;
  join.rank = place.rank;
  std::copy(std::begin(place.key), std::end(place.key), join.key);
  join.timeout_ms = timeout_ms;
  HOCKET_TRY(client->send_message(std::as_bytes(std::span(&join, 1)), deadline_ms));
  return client;
}

Status LaunchClient::wait_for(short events, int64_t deadline_ms) {
  for (;;) {
    const int64_t left_ms = deadline_ms - now_ms();
    if (left_ms <= 0) return {Code::kTimeout, "the launcher, `hocket run`, does not answer"};
    pollfd watched{socket_.get(), events, 0};
    const int ready = poll(&watched, 1, static_cast<int>(std::min<int64_t>(left_ms, 60'000)));
    if (ready > 0) return Status::ok();
    if (ready < 0 && errno != EINTR) return Status::system("Waiting for the launcher", errno);
  }
}

Status LaunchClient::send_message(std::span<const std::byte> message, int64_t deadline_ms) {
  for (;;) {
    const ssize_t sent = send(socket_.get(), message.data(), message.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) return Status::ok();
    if (errno == EINTR) continue;
    // It has refused us and gone: what it said is still to be read.
    if (errno == EPIPE || errno == ECONNRESET) return Status::ok();
    if (errno != EAGAIN && errno != ENOBUFS) return Status::system("Writing to the launcher", errno);
    HOCKET_TRY(wait_for(POLLOUT, deadline_ms));
  }
}

Status LaunchClient::receive_message(std::span<std::byte> buffer, size_t& length, int64_t deadline_ms) {
  for (;;) {
    const ssize_t received = recv(socket_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (received > 0) {
      length = static_cast<size_t>(received);
      return Status::ok();
    }
    if (received == 0) return launcher_gone();
    // A reset is told once, before what the launcher has said last.
    if (errno == EINTR || errno == ECONNRESET) continue;
    if (errno != EAGAIN) return Status::system("Reading from the launcher", errno);
    HOCKET_TRY(wait_for(POLLIN, deadline_ms));
  }
}

// `send` is short enough for one message; the answer comes in as many as it takes.
Status LaunchClient::round(std::span<const std::byte> send, std::span<std::byte> gathered, int64_t deadline_ms) {
  std::vector<std::byte> buffer(kMostMessageBytes);
  Head head;
  head.bytes = send.size();
  std::memcpy(buffer.data(), &head, sizeof head);
  std::memcpy(buffer.data() + sizeof head, send.data(), send.size());
  HOCKET_TRY(send_message(std::span(buffer).first(sizeof head + send.size()), deadline_ms));
  while (!gathered.empty()) {
    size_t length = 0;
    HOCKET_TRY(receive_message(buffer, length, deadline_ms));
    if (length < sizeof head) return other_version();
    std::memcpy(&head, buffer.data(), sizeof head);
    if (head.bytes != length - sizeof head) return other_version();
    const std::byte* data = buffer.data() + sizeof head;
    if (head.kind == Kind::kFailed) {
      return {static_cast<Code>(head.code), std::string(reinterpret_cast<const char*>(data), head.bytes)};
    }
    if (head.kind != Kind::kPart || head.bytes == 0 || head.bytes > gathered.size()) return other_version();
    std::memcpy(gathered.data(), data, head.bytes);
    gathered = gathered.subspan(head.bytes);
  }
  return Status::ok();
}

Status LaunchClient::allgather(std::span<const std::byte> send, std::byte* receive) {
  const int64_t deadline_ms = now_ms() + timeout_ms_ + kExtraTimeoutMs;
  std::vector<std::byte> gathered;
  for (size_t begin = 0; begin < send.size() && failure_.is_ok(); begin += kPieceBytes) {
    const size_t length = std::min(kPieceBytes, send.size() - begin);
    gathered.resize(length * place_.size);
    failure_ = round(send.subspan(begin, length), gathered, deadline_ms);
    if (!failure_.is_ok()) break;
    for (size_t rank = 0; rank < place_.size; ++rank) {
      std::memcpy(receive + rank * send.size() + begin, gathered.data() + rank * length, length);
    }
  }
  return failure_.is_ok() ? Status::ok() : Status(failure_.code(), failure_.message());
}

}  // namespace hocket::platform
