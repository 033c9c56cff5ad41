// SPDX-License-Identifier: BSD-3-Clause
// The host's own barriers: the same messages as the NIC engine's, in the same order, by the processor that waits.
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

#include "lab_bench/barrier_driver.h"
#include "nic/next_hop.h"
#include "protocol/record.h"

namespace hocket::lab_bench {
namespace {

using engines::nic::Mode;
using platform::Descriptor;

constexpr int kLooks = 1;
constexpr int kSleepMs = 10;
// Of Ethernet frames that nobody else sends (IEEE 802: for local experiments).
constexpr uint16_t kEtherType = 0x88b5;

struct Message {
  uint64_t job;
  uint64_t epoch;
  uint64_t bit;
};

// What UDP and raw packets have in common: which messages go out when, and what has come.
class SocketDriver : public BarrierDriver {
 public:
  explicit SocketDriver(const Place& place) : place_(place) {}

  Status connect(const std::vector<Card>& cards) final {
    Result<nic_program> program = engines::nic::stage_table(place_.rank, {Mode::kChain}, place_.plan_of);
    if (!program.is_ok()) return program.take_status();
    program_ = program.take();
    for (const Card& card : cards) HOCKET_TRY(add_peer(card));
    return Status::ok();
  }

  Status barrier() final {
    ++epoch_;
    // Of this barrier and the next: nobody can be further ahead.
    uint64_t& word = come_[epoch_ % 2];
    word |= NIC_STARTED;
    uint32_t sent = 0;
    for (;;) {
      for (const uint32_t end = nic_sends_reached(&program_, word); sent < end; ++sent) {
        const nic_send& send = program_.send[sent];
        HOCKET_TRY(transmit(send.member, {place_.job, epoch_, send.bit}));
      }
      if (nic_is_complete(&program_, word)) break;
      HOCKET_TRY(take_some());
    }
    word = 0;
    return Status::ok();
  }

 protected:
  virtual Status add_peer(const Card& card) = 0;
  virtual Status transmit(uint32_t peer, const Message& message) = 0;
  // One message; false: none is there.
  virtual bool take(Message& message) = 0;

  const Place& place() const { return place_; }
  Descriptor socket_;

 private:
  Status take_some() {
    Message message{};
    for (int look = 0; look < kLooks; ++look) {
      if (!take(message)) continue;
      if (message.job == place_.job && message.epoch - epoch_ < 2)
        come_[message.epoch % 2] |= uint64_t{1} << message.bit;
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
  nic_program program_{};
  uint64_t epoch_ = 0;
  std::array<uint64_t, 2> come_ = {};
};

class UdpDriver final : public SocketDriver {
 public:
  using SocketDriver::SocketDriver;

  Result<Card> open() override {
    const Result<nic::Interface> interface = nic::find_interface(place().interface);
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
  Status transmit(uint32_t peer, const Message& message) override {
    const sockaddr_in& address = peers_[peer];
    if (sendto(socket_.get(), &message, sizeof message, 0, reinterpret_cast<const sockaddr*>(&address),
               sizeof address) == static_cast<ssize_t>(sizeof message))
      return Status::ok();
    return Status::system("can't send over UDP", errno);
  }
  bool take(Message& message) override {
    return recv(socket_.get(), &message, sizeof message, MSG_DONTWAIT) == static_cast<ssize_t>(sizeof message);
  }

  std::vector<sockaddr_in> peers_;
};

class PacketDriver final : public SocketDriver {
 public:
  using SocketDriver::SocketDriver;

  Result<Card> open() override {
    Result<nic::Interface> interface = nic::find_interface(place().interface);
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
  Status transmit(uint32_t peer, const Message& message) override {
    std::memcpy(frame_.head.h_dest, peers_[peer].mac, sizeof frame_.head.h_dest);
    frame_.message = message;
    if (send(socket_.get(), &frame_, sizeof frame_, 0) == static_cast<ssize_t>(sizeof frame_)) return Status::ok();
    return Status::system("can't send a raw packet", errno);
  }
  bool take(Message& message) override {
    std::array<char, 128> buffer;
    const ssize_t length = recv(socket_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (length < static_cast<ssize_t>(sizeof(Frame))) return false;
    std::memcpy(&message, buffer.data() + sizeof(ethhdr), sizeof message);
    return true;
  }

  Frame frame_{};
  std::vector<Card> peers_;
};

}  // namespace

std::unique_ptr<BarrierDriver> make_udp_driver(const Place& place) { return std::make_unique<UdpDriver>(place); }
std::unique_ptr<BarrierDriver> make_packet_driver(const Place& place) { return std::make_unique<PacketDriver>(place); }

}  // namespace hocket::lab_bench
