// SPDX-License-Identifier: BSD-3-Clause
#include "engines/nic/depths.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

namespace hocket::engines::nic {
namespace {

// Of one rank's plan.
struct Messages {
  struct Send {
    uint32_t peer;
    size_t receives_before;  // that must have come
  };
  std::vector<Send> sends;
  std::vector<uint32_t> senders;  // of the receives
};

Messages messages_of(const schedule::Plan& plan) {
  Messages messages;
  size_t before = 0;
  for (const schedule::Step& step : plan.steps) {
    if (is_receive(step)) messages.senders.push_back(step.peer);
    if (step.kind == schedule::StepKind::kSend) messages.sends.push_back({step.peer, before});
    if (step.ends_stage) before = messages.senders.size();
  }
  return messages;
}

// Goes through the schedule as if each message took one unit of time, until nothing changes.
class Walk {
 public:
  Walk(uint32_t size, const PlanOf& plan_of) : sent_(size), received_(size) {
    for (uint32_t rank = 0; rank < size; ++rank) all_.push_back(messages_of(plan_of(rank)));
    for (uint32_t rank = 0; rank < size; ++rank) {
      received_[rank].resize(all_[rank].senders.size());
      for (size_t number = 0; number < received_[rank].size(); ++number)
        waiting_[{all_[rank].senders[number], rank}].push_back(number);
    }
  }
  void run() {
    for (bool has_moved = true; has_moved;) {
      has_moved = false;
      for (uint32_t rank = 0; rank < all_.size(); ++rank) has_moved |= advance(rank);
    }
  }
  const std::vector<uint32_t>& received(uint32_t rank) const { return received_[rank]; }
  uint32_t deepest() const {
    uint32_t deepest = 0;
    for (const std::vector<uint32_t>& depths : received_)
      for (const uint32_t depth : depths) deepest = std::max(deepest, depth);
    return deepest;
  }

 private:
  bool advance(uint32_t rank) {
    bool has_moved = false;
    const Messages& messages = all_[rank];
    for (size_t& next = sent_[rank]; next < messages.sends.size(); ++next) {
      const Messages::Send& send = messages.sends[next];
      uint32_t depth = 1;
      for (size_t i = 0; i < send.receives_before; ++i) {
        if (received_[rank][i] == 0) return has_moved;
        depth = std::max(depth, received_[rank][i] + 1);
      }
      // The k-th message of a pair is the k-th on both sides.
      const std::vector<size_t>& places = waiting_[{rank, send.peer}];
      size_t& used = used_[{rank, send.peer}];
      if (used < places.size()) received_[send.peer][places[used++]] = depth;
      has_moved = true;
    }
    return has_moved;
  }

  using Pair = std::pair<uint32_t, uint32_t>;
  std::vector<Messages> all_;
  std::vector<size_t> sent_;
  std::vector<std::vector<uint32_t>> received_;  // depths; 0: not yet
  std::map<Pair, std::vector<size_t>> waiting_;  // the numbers of a pair's receives
  std::map<Pair, size_t> used_;
};

}  // namespace

Depths depths_of(uint32_t rank, uint32_t size, const PlanOf& plan_of) {
  Walk walk(size, plan_of);
  walk.run();
  return {walk.received(rank), walk.deepest()};
}

std::vector<Depths> depths_of_all(uint32_t size, const PlanOf& plan_of) {
  Walk walk(size, plan_of);
  walk.run();
  std::vector<Depths> all;
  const uint32_t deepest = walk.deepest();
  for (uint32_t rank = 0; rank < size; ++rank) all.push_back({walk.received(rank), deepest});
  return all;
}

uint8_t depth_of_arrival(uint32_t depth) {
  return static_cast<uint8_t>(std::min<uint32_t>(depth, std::numeric_limits<uint8_t>::max()));
}

}  // namespace hocket::engines::nic
