// SPDX-License-Identifier: BSD-3-Clause
// What the model says of a figure: its lines, by simulating each of their points.
//
// Calls that several figures have in common are simulated once. The same item gives the same lines.
//
// Thread safety: one thread.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "reproduce/model_call.h"
#include "reproduce/papers.h"

namespace hocket::reproduce {

class Models {
 public:
  // Of an item without a model none; a line that can't be simulated has no points and says why.
  std::vector<Line> lines_of(const Item& item);

  size_t simulated() const { return known_.size(); }

 private:
  Line line_of(const Json& call, const Json& x);
  const Result<command::Simulated>& simulated(const Json& call);

  std::map<std::string, Result<command::Simulated>> known_;  // by what was asked
};

// The call's `quantity` of what was simulated: when the last rank is done (end, the default), the mean time of ranks in
// the call (rank_mean), one rank's (rank, and its number in `rank`, -1 is the last), packets, messages, path_messages,
// messages_a_rank, or GB/s of what a broadcast moves (bandwidth); means of all runs.
double quantity_of(const Json& call, const command::Simulated& found);

}  // namespace hocket::reproduce
