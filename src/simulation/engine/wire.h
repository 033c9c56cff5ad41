// SPDX-License-Identifier: BSD-3-Clause
// The nodes' interfaces and the fabric between them. An interface serves some ranks at a time, and each rank's messages
// one after the other; a fat tree's leaf switches have so many links upwards. Who comes first is served first: these
// functions are called in the order of time.
//
// Thread safety: none; each simulation has its own.
#pragma once

#include <vector>

#include "simulation/engine/job.h"
#include "simulation/engine/prices.h"

namespace hocket::simulation {

class Wire {
 public:
  // They outlive it.
  Wire(const Job& job, const Prices& prices, const Network& network);

  // A message that its rank has handed over goes out: when its first bytes reach the receiver's interface, or the top
  // of the fabric if it goes through that.
  Time send(const Step& message, Time time);
  // It comes in there: when the receiver can take it. `time`: that of send() (or a repetition's).
  Time receive(const Step& message, Time time);
  // A multicast goes out: when it has left.
  Time multicast(const Step& message, Time time);
  // What an interface takes for it that nobody else uses.
  Time alone(uint64_t bytes) const;
  // Where an interface serves several ranks at a time, a rank's message must not take a place while the one before it
  // is under way: until when the rank's last one is. Else 0: such messages wait in the interface's own row.
  Time sends_until(uint32_t rank) const { return lanes_ > 1 ? ranks_out_[rank] : 0; }
  Time receives_until(uint32_t rank) const { return lanes_ > 1 ? ranks_in_[rank] : 0; }
  // Whether messages of one rank never wait for another's on their way out.
  bool has_own_way(const Step& message) const {
    return all_have_own_way_ || (leaf_nodes_ == 0 && job_.users[job_.node_of[message.rank]] <= 1);
  }
  // What send() and receive() will look at, from memory.
  void fetch_out(uint32_t rank) const { fetch(lanes_out_, ranks_out_, rank); }
  void fetch_in(uint32_t rank) const { fetch(lanes_in_, ranks_in_, rank); }

 private:
  void fetch(const std::vector<Time>& lanes, const std::vector<Time>& ranks, uint32_t rank) const {
    if (lanes.empty()) return;
    __builtin_prefetch(&lanes[size_t{node_of(rank)} * lanes_]);
    if (!ranks.empty()) __builtin_prefetch(&ranks[rank]);
  }
  Time busy(uint64_t bytes, uint32_t rank) const;
  uint32_t node_of(uint32_t rank) const { return is_rank_a_node_ ? rank : job_.node_of[rank]; }
  uint32_t leaf_of(uint32_t node) const { return node / leaf_nodes_; }
  bool goes_through_top(const Step& message) const;
  static Time& first_free(Time* lanes, uint32_t count);

  const Job& job_;
  const Prices& prices_;
  uint32_t lanes_;
  // What most of a large job's are, so that less of its memory is looked at.
  bool is_rank_a_node_ = true;  // of the same number
  bool all_have_own_way_ = false;
  double crowding_;
  uint32_t leaf_nodes_;
  uint32_t links_ = 0;
  Time top_;
  // When each is free again: lanes of nodes, ranks, and links of leaves. Ranks of nodes with one lane are free when it
  // is, or before.
  std::vector<Time> lanes_out_, lanes_in_;
  std::vector<Time> ranks_out_, ranks_in_;
  std::vector<Time> links_up_, links_down_;
};

}  // namespace hocket::simulation
