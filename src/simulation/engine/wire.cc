// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/engine/wire.h"

#include <algorithm>

namespace hocket::simulation {

Wire::Wire(const Job& job, const Prices& prices, const Network& network)
    : job_(job),
      prices_(prices),
      lanes_(std::clamp(network.costs.wire_lanes, 1u, std::max(job.ranks(), 1u))),
      crowding_(network.costs.wire_crowding),
      leaf_nodes_(network.more.leaf_nodes >= job.nodes() ? 0 : network.more.leaf_nodes),
      top_(from_us(network.more.top_us)) {
  if (job.nodes() <= 1) return;
  const auto most_users = *std::max_element(job.users.begin(), job.users.end());
  lanes_ = std::min(lanes_, std::max(most_users, 1u));
  all_have_own_way_ = most_users <= 1 && leaf_nodes_ == 0;
  for (uint32_t rank = 0; rank < job.ranks(); ++rank) is_rank_a_node_ &= job.node_of[rank] == rank;
  lanes_out_.resize(size_t{job.nodes()} * lanes_);
  lanes_in_.resize(lanes_out_.size());
  if (lanes_ > 1) {
    ranks_out_.resize(job.ranks());
    ranks_in_.resize(job.ranks());
  }
  if (leaf_nodes_ == 0) return;
  links_ = network.more.leaf_links == 0 ? leaf_nodes_ : network.more.leaf_links;
  const size_t leaves = (job.nodes() + leaf_nodes_ - 1) / leaf_nodes_;
  links_up_.resize(leaves * links_);
  links_down_.resize(leaves * links_);
}

Time& Wire::first_free(Time* lanes, uint32_t count) { return *std::min_element(lanes, lanes + count); }

bool Wire::goes_through_top(const Step& message) const {
  return leaf_nodes_ != 0 && leaf_of(node_of(message.rank)) != leaf_of(node_of(message.other));
}

Time Wire::alone(uint64_t bytes) const { return prices_.gap + prices_.wire_bytes(bytes); }

Time Wire::busy(uint64_t bytes, uint32_t rank) const {
  const Time time = alone(bytes);
  if (crowding_ == 0) return time;
  const uint32_t users = job_.users[node_of(rank)];
  const double beyond = users > lanes_ ? users - lanes_ : 0;
  return time + static_cast<Time>(static_cast<double>(time) * crowding_ * beyond);
}

Time Wire::send(const Step& message, Time time) {
  const uint32_t node = node_of(message.rank);
  Time& lane = first_free(&lanes_out_[size_t{node} * lanes_], lanes_);
  Time& rank = lanes_ > 1 ? ranks_out_[message.rank] : lane;
  Time begin = std::max({time, lane, rank});
  lane = rank = begin + busy(message.bytes, message.rank);
  begin += prices_.wire_alpha;
  if (!goes_through_top(message)) return begin;
  Time& link = first_free(&links_up_[size_t{leaf_of(node)} * links_], links_);
  begin = std::max(begin, link);
  link = begin + alone(message.bytes);
  return begin + top_;
}

Time Wire::receive(const Step& message, Time time) {
  const uint32_t node = node_of(message.other);
  if (goes_through_top(message)) {
    Time& link = first_free(&links_down_[size_t{leaf_of(node)} * links_], links_);
    time = std::max(time, link);
    link = time + alone(message.bytes);
  }
  Time& lane = first_free(&lanes_in_[size_t{node} * lanes_], lanes_);
  Time& rank = lanes_ > 1 ? ranks_in_[message.other] : lane;
  const Time begin = std::max({time, lane, rank});
  // It comes in while it goes out, and is not there before all of it has gone out.
  lane = rank = std::max(begin + busy(message.bytes, message.other), time + busy(message.bytes, message.rank));
  return lane;
}

Time Wire::multicast(const Step& message, Time time) {
  const uint32_t node = node_of(message.rank);
  Time& lane = first_free(&lanes_out_[size_t{node} * lanes_], lanes_);
  Time& rank = lanes_ > 1 ? ranks_out_[message.rank] : lane;
  const Time further = (prices_.fragments_of(message.bytes) - 1) * prices_.gap;
  return lane = rank = std::max({time, lane, rank}) + busy(message.bytes, message.rank) + further;
}

}  // namespace hocket::simulation
