// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/verifier/multicast_rows.h"

#include <algorithm>

namespace hocket::schedule {

void MulticastRows::expect(Where where, Span destination) {
  Rank& rank = ranks_[where.rank];
  rank.is_row = true;
  if (!rank.taken.empty() || !rank.passed_on.empty())
    world_.complain(where, "expects a multicast after others have been taken or passed on");
  rank.expected.push_back({where, destination});
  for (Cell& cell : world_.cells(where.rank, destination)) cell = {0, Contributions::kUndefined};
}

void MulticastRows::take(Where where, Span destination) {
  Rank& rank = ranks_[where.rank];
  if (!rank.is_row) return;
  rank.taken.push_back(where);
  if (world_.step(rank.taken.front()).peer != world_.step(where).peer)
    world_.complain(where, "takes of another peer than " + world_.mention(rank.taken.front()));
  if (rank.expected.empty()) return world_.complain(where, "takes a multicast that is not expected");
  const Expected next = rank.expected.front();
  rank.expected.pop_front();
  if (world_.step(next.where).second_peer != world_.step(where).second_peer || !same(next.destination, destination))
    return world_.complain(where, "takes another multicast than " + world_.mention(next.where) + ", which is next");
  const std::span<const Cell> cells = world_.cells(where.rank, destination);
  if (std::any_of(cells.begin(), cells.end(), [](const Cell& cell) { return cell.value != Contributions::kUndefined; }))
    world_.complain(where, "takes what has been written since " + world_.mention(next.where));
}

bool MulticastRows::is_last_to_pass_on(Where where) const {
  const std::vector<Step>& steps = world_.plans[where.rank].steps;
  return std::none_of(steps.begin() + where.step + 1, steps.end(), [](const Step& step) { return step.to_first_of; });
}

void MulticastRows::pass_on(Where where, Span source) {
  Rank& rank = ranks_[where.rank];
  if (!rank.is_row) return;
  const std::span<const Cell> cells = world_.cells(where.rank, source);
  rank.passed_on.push_back({where, source, {cells.begin(), cells.end()}});
  if (world_.step(rank.passed_on.front().where).peer != world_.step(where).peer)
    world_.complain(where, "passes on to another peer than " + world_.mention(rank.passed_on.front().where));
  if (!is_last_to_pass_on(where)) return;
  for (const PassedOn& one : rank.passed_on) {
    const std::span<const Cell> now = world_.cells(where.rank, one.source);
    if (!std::equal(now.begin(), now.end(), one.cells.begin()))
      world_.complain(one.where, "passes on what is written before the last one is over");
  }
}

void MulticastRows::check() {
  for (const Rank& rank : ranks_)
    for (const Expected& one : rank.expected) world_.complain(one.where, "expects a multicast that nothing takes");
}

}  // namespace hocket::schedule
