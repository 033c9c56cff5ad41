// SPDX-License-Identifier: BSD-3-Clause
// Hostile packets as frames of a wire, whole and spoilt.
#pragma once

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <netinet/ip.h>
#include <netinet/udp.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "bpf/nic.h"
#include "unit/protocol/hostile_packets.h"

namespace hocket::test {

struct Frame {
  std::array<std::byte, NIC_BEFORE_HEADER + sizeof(HostilePacket::bytes)> bytes{};
  size_t length = 0;
  std::span<std::byte> span() { return std::span(bytes).first(length); }
};

inline nic_message message_of(const HostilePacket& packet) {
  __u64 words[NIC_WORDS + 1];
  std::memcpy(words, packet.bytes.data(), sizeof words);
  nic_message message;
  (void)nic_read(words, &message);
  return message;
}
inline void put(const nic_message& message, HostilePacket& packet) {
  __u64 words[NIC_WORDS + 1];
  nic_write(&message, 0, words);
  std::memcpy(packet.bytes.data(), words, sizeof words);
}

struct Headers {
  ethhdr ethernet;
  iphdr ip;
  udphdr udp;
} __attribute__((packed));

inline Frame frame_of(std::span<const std::byte> datagram) {
  Headers headers{};
  headers.ethernet.h_proto = htons(ETH_P_IP);
  headers.ip.version = 4;
  headers.ip.ihl = 5;
  headers.ip.protocol = IPPROTO_UDP;
  headers.udp.dest = htons(NIC_DEFAULT_PORT);
  headers.udp.len = htons(static_cast<uint16_t>(NIC_UDP_BYTES + datagram.size()));
  Frame frame;
  frame.length = sizeof headers + datagram.size();
  std::memcpy(frame.bytes.data(), &headers, sizeof headers);
  std::memcpy(&frame.bytes[sizeof headers], datagram.data(), datagram.size());
  return frame;
}

// Spoils a frame below the protocol; gives what it will be counted under.
inline uint32_t spoil(Frame& frame, HostilePackets& packets) {
  Headers headers;
  std::memcpy(&headers, frame.bytes.data(), sizeof headers);
  const auto other = [&](uint64_t limit) { return static_cast<uint16_t>(1 + packets.below(limit - 1)); };
  uint32_t expected = kPassed;
  switch (packets.below(7)) {
    case 0:
      headers.ethernet.h_proto ^= other(1 << 16);
      break;
    case 1:
      headers.ip.protocol = static_cast<uint8_t>(headers.ip.protocol ^ other(1 << 8));
      break;
    case 2:
      headers.udp.dest ^= other(1 << 16);
      break;
    case 3: {
      // The header's version and length.
      auto* first = reinterpret_cast<unsigned char*>(&headers.ip);
      *first = static_cast<unsigned char>(*first ^ other(1 << 8));
      break;
    }
    case 4:
      headers.ip.frag_off = htons(other(1 << 14));
      break;
    case 5:
      headers.udp.len ^= other(1 << 16);
      expected = NIC_BAD_LENGTH;
      break;
    default:
      // The kernel tries no frame without a whole header of IP.
      frame.length = ETH_HLEN + NIC_IP_BYTES + packets.below(NIC_FRAME_BYTES - ETH_HLEN - NIC_IP_BYTES);
      if (frame.length >= NIC_BEFORE_HEADER) expected = NIC_BAD_LENGTH;
  }
  std::memcpy(frame.bytes.data(), &headers, sizeof headers);
  return expected;
}

}  // namespace hocket::test
