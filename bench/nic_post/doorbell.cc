// SPDX-License-Identifier: BSD-3-Clause
#include "doorbell.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <random>
#include <vector>

#include "algorithms/algorithm.h"
#include "engines/nic/stage_table.h"
#include "platform/bootstrap/passed_descriptors.h"
#include "protocol/machine.h"
#include "protocol/page.h"
#include "protocol/service.h"

namespace hocket::nic_post {
namespace {

using platform::Descriptor;

constexpr uint64_t kNotTheNext = 5;  // the first operation is 1
constexpr timespec kBetweenRequests = {.tv_sec = 0, .tv_nsec = 10'000'000};

Result<nic_program> barrier_of_two() {
  return engines::nic::stage_table(0, {}, [](uint32_t rank) {
    const auto* barrier = algorithms::find(schedule::Collective::kBarrier, "dissemination");
    return algorithms::make_plan(*barrier, {.size = 2, .rank = rank});
  });
}

template <typename T>
void append(std::vector<std::byte>& request, const T& value) {
  request.resize(request.size() + sizeof value);
  std::memcpy(request.data() + request.size() - sizeof value, &value, sizeof value);
}

// One answer, and the descriptors that come with it.
template <typename Answer>
Status ask(const Descriptor& service, std::span<const std::byte> request, Answer& answer,
           std::vector<Descriptor>& descriptors) {
  if (send(service.get(), request.data(), request.size(), MSG_NOSIGNAL) < 0)
    return Status::system("the NIC engine's service can't be asked", errno);
  platform::RoomForDescriptors<3> room;
  iovec piece = {&answer, sizeof answer};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  platform::expect_descriptors(message, room);
  const ssize_t length = recvmsg(service.get(), &message, MSG_CMSG_CLOEXEC);
  platform::take_descriptors(message, [&](Descriptor one) { descriptors.push_back(std::move(one)); });
  if (length == sizeof answer && (answer.answer.error == 0 || answer.answer.error == EAGAIN)) return Status::ok();
  return {Code::kNotSupported, length >= static_cast<ssize_t>(sizeof(nic_answer)) ? answer.answer.text : "no answer"};
}

}  // namespace

Result<std::unique_ptr<Doorbell>> Doorbell::open(const std::string& interface, const std::string& peer) {
  in_addr address{};
  if (inet_pton(AF_INET, peer.c_str(), &address) != 1)
    return Status(Code::kInvalidArgument, "`" + peer + "` is no IPv4 address, as another node has one");
  std::unique_ptr<Doorbell> doorbell(new Doorbell);
  doorbell->service_ = Descriptor(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  const std::string text = NIC_SERVICE_NAME + interface;
  std::memcpy(name.sun_path + 1, text.data(), std::min(text.size(), sizeof name.sun_path - 1));
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
  if (connect(doorbell->service_.get(), reinterpret_cast<const sockaddr*>(&name), length) != 0)
    return Status::system("no NIC engine serves " + interface + " (`hocket nic up " + interface + "`)", errno);
  HOCKET_TRY(doorbell->join(address.s_addr));
  return doorbell;
}

Status Doorbell::join(uint32_t peer) {
  std::vector<Descriptor> descriptors;
  nic_hello hello{};
  std::vector<std::byte> request;
  append(request, nic_request{NIC_SERVICE_VERSION, NIC_REQUEST_HELLO});
  HOCKET_TRY(ask(service_, request, hello, descriptors));
  Result<nic_program> program = barrier_of_two();
  if (!program.is_ok()) return program.take_status();
  std::random_device dice;
  nic_join join{};
  join.request = {NIC_SERVICE_VERSION, NIC_REQUEST_JOIN};
  join.id = uint64_t{dice()} << 32 | dice();
  join.size = 2;
  join.programs = 1;
  request.clear();
  append(request, join);
  append(request, program.value());
  append(request, nic_peer{hello.ip, hello.port, 0});
  append(request, nic_peer{peer, hello.port, 0});
  nic_joined joined{};
  HOCKET_TRY(ask(service_, request, joined, descriptors));
  // Where the other machine is has to be found out first.
  for (int i = 0; i < 100 && joined.answer.error == EAGAIN; ++i) {
    (void)nanosleep(&kBetweenRequests, nullptr);
    HOCKET_TRY(ask(service_, request, joined, descriptors));
  }
  if (joined.answer.error != 0 || descriptors.empty()) return {Code::kNotSupported, joined.answer.text};
  doorbell_ = std::move(descriptors.back());
  std::memcpy(packet_.data(), joined.doorbell, joined.doorbell_bytes);
  nic_message m{};
  m.group = joined.group;
  m.epoch = kNotTheNext;
  m.kind = NIC_DOORBELL;
  __u64 words[NIC_WORDS + 1];
  nic_write(&m, 0, words);
  std::memcpy(packet_.data() + joined.words_at, words, sizeof words);
  length_ = joined.words_at + sizeof words;
  return Status::ok();
}

}  // namespace hocket::nic_post
