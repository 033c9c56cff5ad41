// SPDX-License-Identifier: BSD-3-Clause
#include "engines/multicast/udp_port.h"

#include <netinet/udp.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include "platform/descriptor.h"

namespace hocket::engines::multicast {
namespace {

// Trains of datagrams that are taken by one system call, each as long as the kernel makes them; and how many datagrams
// any kernel takes as one.
constexpr uint32_t kBatch = 4;
constexpr uint32_t kTrainBytes = 65536;
constexpr uint32_t kTrainDatagrams = 64;
// How often at most it looks for more when all datagrams were empty, so that a flood of these does not hold up the
// caller.
constexpr uint32_t kMostLooks = 32;
constexpr uint64_t kMostTrainBytes = 65000;  // 64 KiB less what IP and UDP take

class UdpPort final : public MulticastPort {
 public:
  UdpPort(platform::Descriptor socket, const UdpOptions& options, uint32_t most_bytes, uint64_t room);
  uint32_t most_bytes() const override { return most_bytes_; }
  uint64_t room() const override { return room_; }
  Status send(std::span<const std::byte> head, std::span<const std::byte> body) override;
  uint64_t most_at_once() const override {
    return sends_trains_ ? std::min<uint64_t>(kMostTrainBytes, uint64_t{kTrainDatagrams} * most_bytes_) : most_bytes_;
  }
  Status send_all(std::span<const Parts> run) override;
  Status send_train(std::span<const Parts> run);
  std::span<const std::byte> receive() override;
  int descriptor() const override { return socket_.get(); }

 private:
  msghdr message_of(std::span<const Parts> run, iovec* pieces);
  static uint32_t length_in(const mmsghdr& train);

  platform::Descriptor socket_;
  sockaddr_storage to_{};
  socklen_t to_bytes_ = 0;
  uint32_t most_bytes_;
  uint64_t room_;
  bool sends_trains_ = true;
  std::vector<iovec> run_;
  std::unique_ptr<std::byte[]> memory_;  // of a batch; untouched until something long comes
  std::array<iovec, kBatch> pieces_{};
  std::array<mmsghdr, kBatch> batch_{};
  struct Words {
    alignas(cmsghdr) std::byte bytes[CMSG_SPACE(sizeof(int))];
  };
  std::array<Words, kBatch> words_{};  // how long a train's datagrams are
  uint32_t come_ = 0;
  uint32_t taken_ = 0;
  uint32_t at_ = 0;  // in the train that is taken next
};

socklen_t fill(const GroupAddress& group, uint32_t interface, sockaddr_storage& storage) {
  if (group.family == Family::kIpv4) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(group.port);
    std::memcpy(&address.sin_addr, group.bytes, sizeof address.sin_addr);
    std::memcpy(&storage, &address, sizeof address);
    return sizeof address;
  }
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_scope_id = interface;  // which groups of one link need
  address.sin6_port = htons(group.port);
  std::memcpy(&address.sin6_addr, group.bytes, sizeof address.sin6_addr);
  std::memcpy(&storage, &address, sizeof address);
  return sizeof address;
}

template <typename T>
bool set(int socket, int level, int option, const T& value) {
  return setsockopt(socket, level, option, &value, sizeof value) == 0;
}

// A datagram that had to be cut would be lost with any of its pieces.
bool set_up_ipv4(int socket, const UdpOptions& options) {
  ip_mreqn membership{};
  std::memcpy(&membership.imr_multiaddr, options.group.bytes, sizeof membership.imr_multiaddr);
  membership.imr_ifindex = static_cast<int>(options.interface.index);
  return set(socket, IPPROTO_IP, IP_MULTICAST_IF, membership) && set(socket, IPPROTO_IP, IP_MULTICAST_ALL, 0) &&
         set(socket, IPPROTO_IP, IP_MULTICAST_TTL, static_cast<int>(options.hops)) &&
         set(socket, IPPROTO_IP, IP_MULTICAST_LOOP, 1) && set(socket, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO) &&
         set(socket, IPPROTO_IP, IP_ADD_MEMBERSHIP, membership);
}

bool set_up_ipv6(int socket, const UdpOptions& options) {
  ipv6_mreq membership{};
  std::memcpy(&membership.ipv6mr_multiaddr, options.group.bytes, sizeof membership.ipv6mr_multiaddr);
  membership.ipv6mr_interface = options.interface.index;
  const int index = static_cast<int>(options.interface.index);
  return set(socket, IPPROTO_IPV6, IPV6_MULTICAST_IF, index) && set(socket, IPPROTO_IPV6, IPV6_MULTICAST_ALL, 0) &&
         set(socket, IPPROTO_IPV6, IPV6_MULTICAST_HOPS, static_cast<int>(options.hops)) &&
         set(socket, IPPROTO_IPV6, IPV6_MULTICAST_LOOP, 1) &&
         set(socket, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_DO) &&
         set(socket, IPPROTO_IPV6, IPV6_JOIN_GROUP, membership);
}

Status why_not_joined(const UdpOptions& options, int error_number) {
  std::string what =
      "can't join the multicast group " + to_text(options.group) + " on interface " + options.interface.name;
  if (error_number == ENOBUFS || error_number == ENOMEM)
    what += " (the limits are net.ipv4.igmp_max_memberships and net.core.optmem_max)";
  return Status::system(what, error_number);
}

UdpPort::UdpPort(platform::Descriptor socket, const UdpOptions& options, uint32_t most_bytes, uint64_t room)
    : socket_(std::move(socket)),
      most_bytes_(most_bytes),
      room_(room),
      memory_(std::make_unique_for_overwrite<std::byte[]>(size_t{kBatch} * kTrainBytes)) {
  to_bytes_ = fill(options.group, options.interface.index, to_);
  for (uint32_t i = 0; i < kBatch; ++i) {
    pieces_[i] = {memory_.get() + size_t{i} * kTrainBytes, kTrainBytes};
    batch_[i].msg_hdr.msg_iov = &pieces_[i];
    batch_[i].msg_hdr.msg_iovlen = 1;
    batch_[i].msg_hdr.msg_control = words_[i].bytes;
  }
}

// Whatever keeps one from leaving (a full queue, a link that is down, a firewall) is a loss like any other.
Status UdpPort::send(std::span<const std::byte> head, std::span<const std::byte> body) {
  const Parts one{head, body};
  iovec pieces[2];
  msghdr message = message_of({&one, 1}, pieces);
  if (sendmsg(socket_.get(), &message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 && errno == EMSGSIZE)
    return {Code::kSystem, "a multicast datagram of " + std::to_string(head.size() + body.size()) +
                               " bytes is longer than the interface carries; has its MTU been changed?"};
  return Status::ok();
}

msghdr UdpPort::message_of(std::span<const Parts> run, iovec* pieces) {
  msghdr message{};
  message.msg_name = &to_;
  message.msg_namelen = to_bytes_;
  message.msg_iov = pieces;
  message.msg_iovlen = 2 * run.size();
  for (const auto& [head, body] : run) {
    *pieces++ = {const_cast<std::byte*>(head.data()), head.size()};
    *pieces++ = {const_cast<std::byte*>(body.data()), body.size()};
  }
  return message;
}

Status UdpPort::send_all(std::span<const Parts> run) {
  while (!run.empty()) {
    const size_t length = std::min<size_t>(run.size(), kTrainDatagrams);
    if (Status sent = send_train(run.first(length)); !sent.is_ok()) return sent;
    run = run.subspan(length);
  }
  return Status::ok();
}

Status UdpPort::send_train(std::span<const Parts> run) {
  if (run.size() == 1 || !sends_trains_) return MulticastPort::send_all(run);
  run_.resize(2 * run.size());
  msghdr message = message_of(run, run_.data());
  alignas(cmsghdr) std::byte words[CMSG_SPACE(sizeof(uint16_t))] = {};
  message.msg_control = words;
  message.msg_controllen = sizeof words;
  cmsghdr* word = CMSG_FIRSTHDR(&message);
  word->cmsg_level = SOL_UDP;
  word->cmsg_type = UDP_SEGMENT;
  word->cmsg_len = CMSG_LEN(sizeof(uint16_t));
  const auto length = static_cast<uint16_t>(run[0].head.size() + run[0].body.size());
  std::memcpy(CMSG_DATA(word), &length, sizeof length);
  if (sendmsg(socket_.get(), &message, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0) return Status::ok();
  // A kernel that doesn't know it, or an interface that leaves checksums to it: one by one from now on. Anything else
  // is a loss like any other.
  constexpr int kRefusals[] = {EINVAL, EIO, EOPNOTSUPP, ENOPROTOOPT, EMSGSIZE};
  if (std::find(std::begin(kRefusals), std::end(kRefusals), errno) == std::end(kRefusals)) return Status::ok();
  sends_trains_ = false;
  return MulticastPort::send_all(run);
}

// Of the datagrams in a train.
uint32_t UdpPort::length_in(const mmsghdr& train) {
  for (cmsghdr* word = CMSG_FIRSTHDR(&train.msg_hdr); word != nullptr;
       word = CMSG_NXTHDR(const_cast<msghdr*>(&train.msg_hdr), word)) {
    int length = 0;
    if (word->cmsg_level != SOL_UDP || word->cmsg_type != UDP_GRO) continue;
    std::memcpy(&length, CMSG_DATA(word), sizeof length);
    if (length > 0) return static_cast<uint32_t>(length);
  }
  return train.msg_len;
}

std::span<const std::byte> UdpPort::receive() {
  for (uint32_t looks = 0;; ++looks) {
    while (taken_ < come_ && at_ >= batch_[taken_].msg_len) {  // a stranger's may be empty
      ++taken_;
      at_ = 0;
    }
    if (taken_ < come_) break;
    if (looks == kMostLooks) return {};
    for (mmsghdr& one : batch_) one.msg_hdr.msg_controllen = sizeof(Words);
    const int come = recvmmsg(socket_.get(), batch_.data(), kBatch, MSG_DONTWAIT, nullptr);
    taken_ = at_ = 0;
    come_ = come > 0 ? static_cast<uint32_t>(come) : 0;
    if (come_ == 0) return {};
  }
  const mmsghdr& train = batch_[taken_];
  const uint32_t at = at_;
  at_ += length_in(train);
  return {memory_.get() + size_t{taken_} * kTrainBytes + at, std::min(at_, train.msg_len) - at};
}

}  // namespace

Result<std::unique_ptr<MulticastPort>> open_udp_port(const UdpOptions& options) {
  const bool is_ipv4 = options.group.family == Family::kIpv4;
  platform::Descriptor opened(socket(is_ipv4 ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (opened.get() < 0) return Status::system("can't open a socket for multicast", errno);
  // Ranks of one machine, and other jobs by chance, may have the same address.
  if (!set(opened.get(), SOL_SOCKET, SO_REUSEADDR, 1)) return Status::system("SO_REUSEADDR", errno);
  (void)set(opened.get(), SOL_SOCKET, SO_RCVBUF, static_cast<int>(options.room));
  // Without it trains are cut before they come here.
  (void)set(opened.get(), SOL_UDP, UDP_GRO, 1);
  int room = 0;
  socklen_t length = sizeof room;
  if (getsockopt(opened.get(), SOL_SOCKET, SO_RCVBUF, &room, &length) != 0) return Status::system("SO_RCVBUF", errno);
  sockaddr_storage own{};
  const socklen_t own_bytes = fill(options.group, options.interface.index, own);
  // To the group's own address, so that datagrams of others that use the port don't come here.
  if (bind(opened.get(), reinterpret_cast<const sockaddr*>(&own), own_bytes) != 0)
    return Status::system("can't bind a socket to the multicast address " + to_text(options.group), errno);
  if (!(is_ipv4 ? set_up_ipv4(opened.get(), options) : set_up_ipv6(opened.get(), options)))
    return why_not_joined(options, errno);
  const uint32_t most = options.interface.mtu - header_bytes(options.group.family);
  // The kernel counts its own book-keeping, too, and says twice what was asked for.
  return std::unique_ptr<MulticastPort>(
      std::make_unique<UdpPort>(std::move(opened), options, most, static_cast<uint64_t>(room) / 2));
}

}  // namespace hocket::engines::multicast
