// SPDX-License-Identifier: BSD-3-Clause
// Which calls of one communicator are left to the MPI's own algorithm, by the lines of a table that say `mpi` or by
// force. The first line that holds for a length decides, whatever it can serve: so the length of a message is all that
// it hangs on, which all ranks know alike.
//
// Thread safety: it does not change once made; any thread may read it.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "selection/choice.h"

namespace hocket::selection {

class ByMpi {
 public:
  using Forced = std::map<schedule::Collective, Spec>;

  ByMpi() = default;
  // `communicator`: a query with what is the same for all its calls. `table`: nullptr for those that are forced alone.
  ByMpi(const Query& communicator, const Table* table, const Forced& forced);

  // Whether any call may be.
  bool any() const;
  // `bytes` as a Query's.
  bool chosen(schedule::Collective collective, uint64_t bytes) const {
    for (const Line& line : lines_[static_cast<size_t>(collective)])
      if (line.bytes.contains(bytes)) return line.is_mpis;
    return false;
  }

 private:
  struct Line {
    Interval bytes;
    bool is_mpis;
  };
  // In the table's order; empty where none is the MPI's.
  std::array<std::vector<Line>, schedule::kAllCollectives> lines_;
};

}  // namespace hocket::selection
