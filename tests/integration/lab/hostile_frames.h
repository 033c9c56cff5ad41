// SPDX-License-Identifier: BSD-3-Clause
// Hostile packets as frames of a wire, whole and spoilt.
#pragma once

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <netinet/ip.h>
#include <netinet/udp.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "bpf/nic.h"
#include "unit/protocol/hostile_packets.h"

namespace hocket::test {

using Frame = std::vector<std::byte>;

inline nic_message message_of(const HostilePacket& packet) {
  __u64 words[NIC_WORDS + 1];
  std::memcpy(words, packet.bytes.data(), sizeof words);
  nic_message message;
  const int carried = words_of_length(packet.length);
  (void)nic_read(words, carried < 0 ? 0 : static_cast<uint32_t>(carried), &message);
  return message;
}
inline void put(const nic_message& message, HostilePacket& packet) {
  __u64 words[NIC_WORDS + 1];
  nic_write(&message, 0, words);
  std::memcpy(packet.bytes.data(), words, sizeof words);
}

// As a group's member sends it.
inline Frame datagram_of(const nic_group& group, const nic_message& message, const nic_operand& operand) {
  Frame datagram(NIC_HEADER_BYTES + sizeof(uint64_t) * message.carried);
  __u64 words[NIC_WORDS + 1];
  nic_write(&message, nic_tag(&group.key, &message, &operand), words);
  std::memcpy(datagram.data(), words, sizeof words);
  if (message.carried != 0) std::memcpy(&datagram[NIC_HEADER_BYTES], &operand, datagram.size() - NIC_HEADER_BYTES);
  return datagram;
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
  headers.ip.tot_len = htons(static_cast<uint16_t>(NIC_IP_BYTES + NIC_UDP_BYTES + datagram.size()));
  Frame frame(sizeof headers + datagram.size());
  std::memcpy(frame.data(), &headers, sizeof headers);
  if (!datagram.empty()) std::memcpy(&frame[sizeof headers], datagram.data(), datagram.size());
  return frame;
}

// What is wrong with the headers of a frame that the programs have made; "": nothing.
inline std::string flaw_of_headers(const Frame& frame, uint32_t from, uint32_t to) {
  Headers headers;
  if (frame.size() < sizeof headers) return "no headers";
  std::memcpy(&headers, frame.data(), sizeof headers);
  uint32_t sum = 0;
  for (size_t at = ETH_HLEN; at < ETH_HLEN + NIC_IP_BYTES; at += 2)
    sum += static_cast<uint32_t>(frame[at]) << 8 | static_cast<uint32_t>(frame[at + 1]);
  sum = (sum & 0xffff) + (sum >> 16);
  if (sum != 0xffff) return "another checksum than the header's";
  if (ntohs(headers.ip.tot_len) != frame.size() - ETH_HLEN) return "another length for IP";
  if (ntohs(headers.udp.len) != frame.size() - ETH_HLEN - NIC_IP_BYTES) return "another length for UDP";
  return headers.ip.saddr == from && headers.ip.daddr == to ? "" : "other addresses";
}

// Spoils a frame below the protocol; gives what it will be counted under.
inline uint32_t spoil(Frame& frame, HostilePackets& packets) {
  Headers headers;
  std::memcpy(&headers, frame.data(), sizeof headers);
  const auto other = [&](uint64_t limit) { return static_cast<uint16_t>(1 + packets.below(limit - 1)); };
  uint32_t expected = kPassed;
  switch (packets.below(8)) {
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
    case 6:
      // More than UDP's header says.
      frame.resize(frame.size() + 1 + packets.below(32));
      expected = NIC_BAD_LENGTH;
      break;
    default:
      // The kernel tries no frame without a whole header of IP.
      frame.resize(ETH_HLEN + NIC_IP_BYTES + packets.below(frame.size() - ETH_HLEN - NIC_IP_BYTES));
      if (frame.size() >= NIC_BEFORE_HEADER) expected = NIC_BAD_LENGTH;
  }
  std::memcpy(frame.data(), &headers, std::min(frame.size(), sizeof headers));
  return expected;
}

}  // namespace hocket::test
