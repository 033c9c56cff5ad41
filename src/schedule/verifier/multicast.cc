// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/verifier/multicast.h"

#include <algorithm>

namespace hocket::schedule {

void Multicasts::send(Where where, Span source) {
  const std::span<const Cell> cells = world_.cells(where.rank, source);
  const bool is_undefined =
      std::any_of(cells.begin(), cells.end(), [](const Cell& cell) { return cell.value == Contributions::kUndefined; });
  if (is_undefined) world_.complain(where, "multicasts undefined data");
  ++world_.report.multicasts;
  world_.report.elements_moved += source.length;
  sent_[where.rank].push_back(
      {where, {cells.begin(), cells.end()}, world_.clocks.save(where.rank), world_.deepen(where, 0)});
}

void Multicasts::expect(Where where) {
  numbers_[{where.rank, where.step}] = expected_[{where.rank, world_.step(where).second_peer}]++;
}

const Multicasts::Sent* Multicasts::sent(uint32_t source, uint32_t number) const {
  return number < sent_[source].size() ? &sent_[source][number] : nullptr;
}

Multicasts::Arrival Multicasts::arrive(Where where, Where message) {
  const Sent* multicast = sent(world_.step(where).second_peer, numbers_[{where.rank, where.step}]);
  const uint32_t* by_message = world_.clocks.now(message.rank);
  std::fill(clock_.begin(), clock_.end(), 0);
  // Nothing, if it hasn't been sent yet here: that can only raise an alarm too many.
  if (multicast == nullptr) return {clock_.data(), world_.depth[message.rank]};
  const uint32_t* by_multicast = world_.clocks.saved(multicast->clock);
  for (uint32_t rank = 0; rank < world_.size(); ++rank) clock_[rank] = std::min(by_message[rank], by_multicast[rank]);
  return {clock_.data(), multicast->depth};
}

void Multicasts::taken(Where where, std::span<const Cell> cells) {
  taken_.push_back({where, numbers_[{where.rank, where.step}], {cells.begin(), cells.end()}});
}

void Multicasts::check() {
  for (const Taken& taken : taken_) {
    const uint32_t source = world_.step(taken.where).second_peer;
    const Sent* multicast = sent(source, taken.number);
    if (multicast == nullptr) {
      world_.complain(taken.where, "waits for multicast " + std::to_string(taken.number + 1) + " of rank " +
                                       std::to_string(source) + ", which sends " +
                                       std::to_string(sent_[source].size()));
      continue;
    }
    world_.link(LinkKind::kMulticast, multicast->where, taken.where, taken.cells.size());
    if (multicast->cells.size() != taken.cells.size()) {
      world_.complain(taken.where, "takes " + std::to_string(taken.cells.size()) + " elements, but " +
                                       world_.mention(multicast->where) + " sends " +
                                       std::to_string(multicast->cells.size()));
    } else if (multicast->cells != taken.cells) {
      world_.complain(taken.where, "gets other data by its message than by " + world_.mention(multicast->where));
    }
  }
  for (const auto& [who, count] : expected_) {
    const auto [rank, source] = who;
    if (count >= sent_[source].size()) continue;
    world_.complain("rank " + std::to_string(rank) + " takes " + std::to_string(count) + " of the " +
                    std::to_string(sent_[source].size()) + " multicasts of rank " + std::to_string(source) +
                    "; who takes one takes all, or it would count them otherwise than others");
  }
}

}  // namespace hocket::schedule
