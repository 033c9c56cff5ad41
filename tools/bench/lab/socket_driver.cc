// SPDX-License-Identifier: BSD-3-Clause
// The host's own collectives: the same messages as the NIC engine's, in the same order, combined by hocket's kernels,
// by the processor that waits.
#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include "bench/lab/driver.h"
#include "nic/next_hop.h"
#include "protocol/operands.h"
#include "reduction/reduction.h"

namespace hocket::lab_bench {
namespace {

using engines::nic::Mode;
using platform::Descriptor;

constexpr int kLooksAtASocket = 1;
constexpr int kSleepMs = 10;
// Of Ethernet frames that no other protocol sends (IEEE 802: for local experiments).
constexpr uint16_t kEtherType = 0x88b5;

struct Head {
  uint64_t job;
  uint64_t call;
  uint64_t bit;
};

struct Message {
  Head head;
  nic_operand content;
};

// What UDP and raw packets have in common: which messages go out when, what has come, and what comes of it.
class SocketDriver : public Driver {
 public:
  explicit SocketDriver(const Place& place)
      : place_(place), combine_(reduction::find_combine(place.work.operation, place.work.type)) {}

  Status connect(const std::vector<Card>& cards) final {
    Result<nic_program> program = engines::nic::stage_table(place_.rank, {Mode::kChain}, place_.plan_of);
    if (!program.is_ok()) return program.take_status();
    program_ = program.take();
    at_first_ = NIC_STARTED;
    if (program_.operands != 0) {
      // The root is member 0, so what goes to or comes from another root needn't be waited for.
      const bool is_from_root = (program_.flags & NIC_FROM_ROOT) != 0;
      const bool is_to_root = (program_.flags & NIC_TO_ROOT) != 0;
      if (place_.rank == 0 ? is_from_root : is_to_root) at_first_ |= 1;
      at_first_ |= NIC_PUBLISHED;
    }
    for (const Card& card : cards) HOCKET_TRY(add_peer(card));
    return Status::ok();
  }

  Status begin(const nic_operand* operand) final {
    ++call_;
    Incoming& own = of(call_);
    own.come |= at_first_;
    if (operand != nullptr) own.operand[NIC_HOSTS_OPERAND] = *operand;
    for (uint32_t sent = 0;;) {
      for (const uint32_t end = nic_sends_reached(&program_, own.come); sent < end; ++sent) HOCKET_TRY(send(sent, own));
      if (nic_is_complete(&program_, own.come)) break;
      HOCKET_TRY(take_some());
    }
    own.come = 0;
    return Status::ok();
  }

  Status finish(nic_operand& result) final {
    if (place_.work.gets(place_.rank) && program_.operands != 0) result = fold(program_.result.content, of(call_));
    return Status::ok();
  }

 protected:
  virtual Status add_peer(const Card& card) = 0;
  virtual Status transmit(uint32_t peer, const Message& message, size_t bytes) = 0;
  // One message; false: none is there.
  virtual bool take(Message& message) = 0;

  const Place& place() const { return place_; }
  Descriptor socket_;

 private:
  // Of one call.
  struct Incoming {
    uint64_t come = 0;
    std::array<nic_operand, NIC_MOST_ARRIVALS + 1> operand = {};
  };
  // This one and the next: no rank can be further ahead.
  Incoming& of(uint64_t call) { return incoming_[call % incoming_.size()]; }

  Status send(uint32_t number, const Incoming& own) {
    const nic_send& send = program_.send[number];
    if (send.member == NIC_ROOT || send.member == NIC_HUB) return Status::ok();
    Message message;
    message.head = {place_.job, call_, send.bit};
    const bool is_empty = send.content.first == send.content.end;
    if (!is_empty) message.content = fold(send.content, own);
    const size_t bytes = sizeof message.head + (is_empty ? 0 : place_.work.words * sizeof(uint64_t));
    return transmit(send.member, message, bytes);
  }

  nic_operand fold(const nic_content& content, const Incoming& own) const {
    const auto place = [&](uint32_t entry) -> const nic_operand& {
      return own.operand[program_.fold[entry] & (NIC_IS_LEFT - 1)];
    };
    nic_operand result;
    std::memcpy(&result, &place(content.first), place_.work.words * sizeof(uint64_t));
    for (uint32_t entry = content.first + 1U; entry < content.end; ++entry) {
      const bool is_left = (program_.fold[entry] & NIC_IS_LEFT) != 0;
      const nic_operand& left = is_left ? place(entry) : result;
      combine_(&left, is_left ? &result : &place(entry), &result, place_.work.words);
    }
    return result;
  }

  void keep(const Message& message) {
    if (message.head.job != place_.job || message.head.call - call_ >= incoming_.size()) return;
    Incoming& own = of(message.head.call);
    const nic_arrival& arrival = program_.arrival[message.head.bit % NIC_MOST_ARRIVALS];
    if (arrival.operand != NIC_NO_OPERAND && program_.operands != 0)
      std::memcpy(&own.operand[arrival.operand], &message.content, place_.work.words * sizeof(uint64_t));
    own.come |= uint64_t{1} << message.head.bit;
  }

  Status take_some() {
    Message message{};
    for (int look = 0; look < kLooksAtASocket; ++look) {
      if (!take(message)) continue;
      keep(message);
      return Status::ok();
    }
    if (place_.waiting == Waiting::kSpin) {
      sched_yield();
      return Status::ok();
    }
    pollfd watched = {socket_.get(), POLLIN, 0};
    (void)poll(&watched, 1, kSleepMs);
    return Status::ok();
  }

  Place place_;
  reduction::Combine combine_;
  nic_program program_{};
  uint64_t at_first_ = 0;
  uint64_t call_ = 0;
  std::array<Incoming, 2> incoming_;
};

class UdpDriver final : public SocketDriver {
 public:
  using SocketDriver::SocketDriver;

  Result<Card> open() override {
    const Result<nic::Interface> interface = nic::engine_interface(place().interface);
    if (!interface.is_ok()) return Status(Code::kInvalidArgument, interface.status().message());
    socket_ = Descriptor(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    sockaddr_in own{};
    own.sin_family = AF_INET;
    own.sin_addr.s_addr = interface.value().ip;
    socklen_t length = sizeof own;
    if (bind(socket_.get(), reinterpret_cast<const sockaddr*>(&own), length) != 0 ||
        getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&own), &length) != 0)
      return Status::system("can't make a UDP socket", errno);
    return Card{own.sin_addr.s_addr, own.sin_port, {}};
  }

 private:
  Status add_peer(const Card& card) override {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = card.ip;
    address.sin_port = card.port;
    peers_.push_back(address);
    return Status::ok();
  }
  Status transmit(uint32_t peer, const Message& message, size_t bytes) override {
    const sockaddr_in& address = peers_[peer];
    if (sendto(socket_.get(), &message, bytes, 0, reinterpret_cast<const sockaddr*>(&address), sizeof address) ==
        static_cast<ssize_t>(bytes))
      return Status::ok();
    return Status::system("can't send over UDP", errno);
  }
  bool take(Message& message) override {
    return recv(socket_.get(), &message, sizeof message, MSG_DONTWAIT) >= static_cast<ssize_t>(sizeof message.head);
  }

  std::vector<sockaddr_in> peers_;
};

class PacketDriver final : public SocketDriver {
 public:
  using SocketDriver::SocketDriver;

  Result<Card> open() override {
    Result<nic::Interface> interface = nic::engine_interface(place().interface);
    if (!interface.is_ok()) return interface.take_status();
    socket_ = Descriptor(socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, htons(kEtherType)));
    sockaddr_ll own{};
    own.sll_family = AF_PACKET;
    own.sll_protocol = htons(kEtherType);
    own.sll_ifindex = interface.value().index;
    if (bind(socket_.get(), reinterpret_cast<const sockaddr*>(&own), sizeof own) != 0)
      return Status::system("can't make a packet socket", errno);
    Card card;
    std::memcpy(card.mac, interface.value().mac.data(), sizeof card.mac);
    std::memcpy(frame_.head.h_source, card.mac, sizeof card.mac);
    frame_.head.h_proto = htons(kEtherType);
    return card;
  }

 private:
  struct Frame {
    ethhdr head;
    Message message;
  } __attribute__((packed));

  Status add_peer(const Card& card) override {
    peers_.push_back(card);
    return Status::ok();
  }
  Status transmit(uint32_t peer, const Message& message, size_t bytes) override {
    std::memcpy(frame_.head.h_dest, peers_[peer].mac, sizeof frame_.head.h_dest);
    std::memcpy(&frame_.message, &message, bytes);
    const size_t length = sizeof frame_.head + bytes;
    if (::send(socket_.get(), &frame_, length, 0) == static_cast<ssize_t>(length)) return Status::ok();
    return Status::system("can't send a raw packet", errno);
  }
  bool take(Message& message) override {
    std::array<char, sizeof(Frame)> buffer;
    const ssize_t length = recv(socket_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (length < static_cast<ssize_t>(sizeof(ethhdr) + sizeof message.head)) return false;
    std::memcpy(&message, buffer.data() + sizeof(ethhdr), static_cast<size_t>(length) - sizeof(ethhdr));
    return true;
  }

  Frame frame_{};
  std::vector<Card> peers_;
};

}  // namespace

std::unique_ptr<Driver> make_udp_driver(const Place& place) { return std::make_unique<UdpDriver>(place); }
std::unique_ptr<Driver> make_packet_driver(const Place& place) { return std::make_unique<PacketDriver>(place); }

}  // namespace hocket::lab_bench
