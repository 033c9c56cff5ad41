// SPDX-License-Identifier: BSD-3-Clause
// A network within a test that multicasts: it loses, doubles and mixes what it carries as it is told.
//
// Thread safety: one thread.
#pragma once

#include <cstdint>
#include <deque>
#include <random>
#include <utility>
#include <vector>

#include "engines/multicast/port.h"

namespace hocket::test {

using Datagram = std::vector<std::byte>;

struct MulticastNetwork {
  std::vector<std::deque<Datagram>*> members;  // what has come for each
  std::mt19937 random{1};
  uint32_t lost_percent = 0;
  uint32_t doubled_percent = 0;
  bool mixes = false;

  bool draws(uint32_t percent) { return random() % 100 < percent; }
};

class MulticastNetworkPort final : public engines::multicast::MulticastPort {
 public:
  explicit MulticastNetworkPort(MulticastNetwork& network) : network_(network) { network.members.push_back(&come_); }
  MulticastNetworkPort(const MulticastNetworkPort&) = delete;
  MulticastNetworkPort& operator=(const MulticastNetworkPort&) = delete;
  ~MulticastNetworkPort() override { std::erase(network_.members, &come_); }
  uint32_t most_bytes() const override { return 1500; }
  uint64_t room() const override { return 1 << 16; }
  int descriptor() const override { return -1; }
  Status send(std::span<const std::byte> head, std::span<const std::byte> body) override {
    Datagram datagram(head.begin(), head.end());
    datagram.insert(datagram.end(), body.begin(), body.end());
    for (std::deque<Datagram>* member : network_.members) {
      if (network_.draws(network_.lost_percent)) continue;
      const int copies = network_.draws(network_.doubled_percent) ? 2 : 1;
      for (int copy = 0; copy < copies; ++copy) {
        const size_t place = network_.mixes ? network_.random() % (member->size() + 1) : member->size();
        member->insert(member->begin() + static_cast<std::ptrdiff_t>(place), datagram);
      }
    }
    return Status::ok();
  }
  std::span<const std::byte> receive() override {
    if (come_.empty()) return {};
    taken_ = std::move(come_.front());
    come_.pop_front();
    return taken_;
  }

 private:
  MulticastNetwork& network_;
  std::deque<Datagram> come_;
  Datagram taken_;
};

}  // namespace hocket::test
