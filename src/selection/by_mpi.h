// SPDX-License-Identifier: BSD-3-Clause
// Which calls of one communicator are left to the MPI's own algorithm, by the lines of a table that say `mpi` or by
// force. What such a line covers and no line before it does is the MPI's, whatever those before it can serve: so the
// length of a message decides, of which all ranks know alike.
//
// Thread safety: it does not change once made; any thread may read it.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "selection/choice.h"

namespace hocket::selection {

class ByMpi {
 public:
  using Forced = std::array<std::optional<Spec>, schedule::kCollectives>;

  ByMpi() = default;
  // `communicator`: a query with what is the same for all its calls. `table`: nullptr for those that are forced alone.
  ByMpi(const Query& communicator, const Table* table, const Forced& forced);

  // Whether any call may be.
  bool any() const;
  // `bytes` as a Query's.
  bool chosen(schedule::Collective collective, uint64_t bytes) const {
    for (const Interval& interval : lengths_[static_cast<size_t>(collective)])
      if (interval.contains(bytes)) return true;
    return false;
  }

 private:
  std::array<std::vector<Interval>, schedule::kCollectives> lengths_;
};

}  // namespace hocket::selection
