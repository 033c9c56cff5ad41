// SPDX-License-Identifier: BSD-3-Clause
#include "engines/nic/service_client.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <ctime>

#include "platform/bootstrap/passed_descriptors.h"
#include "protocol/machine.h"

namespace hocket::engines::nic {
namespace {

using platform::Descriptor;

// A service that says nothing for so long is taken for dead.
constexpr timeval kServiceTimeout = {.tv_sec = 10, .tv_usec = 0};
// A service that first has to find the members' machines says so at once; it is asked again so often.
constexpr int kMostRequests = 100;
constexpr timespec kBetweenRequests = {.tv_sec = 0, .tv_nsec = 10'000'000};
constexpr size_t kMostDescriptors = 3;  // descriptors of one answer

Status connect_by_name(const Descriptor& socket, const std::string& interface) {
  const std::string name = NIC_SERVICE_NAME + interface;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (name.size() + 1 > sizeof address.sun_path)
    return {Code::kInvalidArgument, "`" + interface + "` is too long for the name of an interface"};
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), length) == 0) return Status::ok();
  if (errno == ECONNREFUSED)
    return {Code::kNotSupported, "no NIC engine serves " + interface + ": `hocket nic up " + interface +
                                     "` as root starts one (HOCKET_NIC_INTERFACE names the interface to use)"};
  return Status::system("can't reach the NIC engine of " + interface, errno);
}

}  // namespace

Status out_of(const nic_answer& answer) {
  if (answer.version != NIC_SERVICE_VERSION)
    return {Code::kNotSupported, "the NIC engine's service speaks version " + std::to_string(answer.version) +
                                     ", this library " + std::to_string(NIC_SERVICE_VERSION) +
                                     "; `hocket nic down`, then up again by this version's hocket"};
  if (answer.error == 0) return Status::ok();
  const std::string text(answer.text, strnlen(answer.text, sizeof answer.text));
  return {answer.error == ENOMEM ? Code::kNoMemory : Code::kNotSupported, text};
}

Status ServiceClient::Joined::check_packet() const {
  if (answer.words_at + NIC_HEADER_BYTES == answer.doorbell_bytes && answer.doorbell_bytes <= sizeof answer.doorbell)
    return Status::ok();
  return {Code::kNotSupported, "the NIC engine's doorbell has another length: of another version?"};
}

Result<ServiceClient> ServiceClient::connect(const std::string& interface) {
  Descriptor socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (socket.get() < 0) return Status::system("can't make a socket", errno);
  (void)setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &kServiceTimeout, sizeof kServiceTimeout);
  (void)setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &kServiceTimeout, sizeof kServiceTimeout);
  HOCKET_TRY(connect_by_name(socket, interface));
  return ServiceClient(std::move(socket), interface);
}

bool ServiceClient::is_alive() const {
  char nothing = 0;
  return !is_out_of_step_ && recv(socket_.get(), &nothing, sizeof nothing, MSG_DONTWAIT | MSG_PEEK) < 0 &&
         (errno == EAGAIN || errno == EINTR);
}

bool ServiceClient::has_ended() const {
  char nothing = 0;
  return recv(socket_.get(), &nothing, sizeof nothing, MSG_DONTWAIT | MSG_PEEK) == 0;
}

void ServiceClient::wait_for_end() const {
  char nothing = 0;
  (void)recv(socket_.get(), &nothing, sizeof nothing, 0);
}

bool ServiceClient::tell(std::span<const std::byte> request) const {
  return send(socket_.get(), request.data(), request.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(request.size());
}

Status ServiceClient::check_keeper() const {
  ucred keeper{};
  socklen_t length = sizeof keeper;
  if (getsockopt(socket_.get(), SOL_SOCKET, SO_PEERCRED, &keeper, &length) != 0)
    return Status::system("can't ask whose the NIC engine of " + interface_ + " is", errno);
  if (keeper.uid == 0 || keeper.uid == geteuid()) return Status::ok();
  return {Code::kNotSupported, "the NIC engine of " + interface_ + " is kept by user " + std::to_string(keeper.uid) +
                                   ", who would learn this job's keys: it must be root's or one's own"};
}

Result<size_t> ServiceClient::exchange(std::span<const std::byte> request, std::span<std::byte> answer,
                                       std::span<Descriptor> descriptors) {
  if (is_out_of_step_)
    return Status(Code::kNotSupported, "the NIC engine's service of " + interface_ + " has left a question unanswered");
  ssize_t length = 0;
  while ((length = send(socket_.get(), request.data(), request.size(), MSG_NOSIGNAL)) < 0 && errno == EINTR) continue;
  // A service that has hung up may have said why.
  if (length < 0 && errno != EPIPE) return Status::system("the NIC engine's service can't be asked", errno);
  platform::RoomForDescriptors<kMostDescriptors> room;
  iovec piece = {answer.data(), answer.size()};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  platform::expect_descriptors(message, room);
  // A signal must not leave the answer to be taken for the next question's.
  while ((length = recvmsg(socket_.get(), &message, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR) continue;
  // The same where it did not wait for the request: the error comes before what it had said.
  if (length < 0 && errno == ECONNRESET) length = recvmsg(socket_.get(), &message, MSG_CMSG_CLOEXEC);
  is_out_of_step_ = length < 0;
  if (length < 0) return Status::system("the NIC engine's service doesn't answer", errno);
  size_t taken = 0;
  platform::take_descriptors(message, [&](Descriptor descriptor) {
    if (taken < descriptors.size()) descriptors[taken++] = std::move(descriptor);
  });
  if (length == 0) return Status(Code::kNotSupported, "the NIC engine's service has ended, or hung up");
  return static_cast<size_t>(length);
}

Status ServiceClient::ask(std::span<const std::byte> request, std::span<std::byte> answer,
                          std::span<Descriptor> descriptors) {
  Result<size_t> length = exchange(request, answer, descriptors);
  if (!length.is_ok()) return length.take_status();
  // What all versions have: a refusal may be no longer.
  nic_answer head{};
  if (length.value() >= sizeof head) {
    std::memcpy(&head, answer.data(), std::min(sizeof head, answer.size()));
    if (head.error != EAGAIN) HOCKET_TRY(out_of(head));
  }
  if (length.value() == answer.size()) return Status::ok();
  return {Code::kNotSupported, "the NIC engine's service gives an answer of " + std::to_string(length.value()) +
                                   " bytes, not " + std::to_string(answer.size()) + ": of another version?"};
}

Result<nic_hello> ServiceClient::greet() {
  const nic_request request = {NIC_SERVICE_VERSION, NIC_REQUEST_HELLO};
  nic_hello hello{};
  HOCKET_TRY(ask(bytes_of(request), writable_bytes_of(hello), {}));
  interface_.assign(hello.interface, strnlen(hello.interface, sizeof hello.interface));
  return hello;
}

Result<ServiceClient::Joined> ServiceClient::join(const GroupDescription& description, bool has_doorbell) {
  nic_join join{};
  join.request = {NIC_SERVICE_VERSION, NIC_REQUEST_JOIN};
  join.id = description.id;
  join.key = description.key;
  join.silence_ns = description.silence_ns;
  join.self = static_cast<uint16_t>(description.self);
  join.size = static_cast<uint16_t>(description.members.size());
  join.programs = static_cast<uint16_t>(description.programs.size());
  join.has_doorbell = has_doorbell;
  std::vector<std::byte> request;
  const auto append = [&](std::span<const std::byte> bytes) {
    request.insert(request.end(), bytes.begin(), bytes.end());
  };
  append(bytes_of(join));
  append(std::as_bytes(std::span(description.programs)));
  for (const Address& member : description.members) append(bytes_of(nic_peer{member.ip, member.port, 0}));

  Joined joined;
  std::array<Descriptor, kMostDescriptors> descriptors;
  HOCKET_TRY(ask(request, writable_bytes_of(joined.answer), descriptors));
  for (int i = 1; i < kMostRequests && joined.answer.answer.error == EAGAIN; ++i) {
    (void)nanosleep(&kBetweenRequests, nullptr);
    HOCKET_TRY(ask(request, writable_bytes_of(joined.answer), descriptors));
  }
  HOCKET_TRY(out_of(joined.answer.answer));
  joined.page = std::move(descriptors[0]);
  joined.wakeup_socket = std::move(descriptors[1]);
  joined.doorbell = std::move(descriptors[2]);
  return joined;
}

}  // namespace hocket::engines::nic
