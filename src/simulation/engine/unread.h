// SPDX-License-Identifier: BSD-3-Clause
// Which elements of a rank's buffers a network interface has written, past the caches, and no processor has read since.
//
// The first copy out of them waits for memory. Kumar, Mamidala, Panda, Scaling Alltoall Collective on Multi-core
// Systems, figure 5, found so that distributing what has come costs more than aggregating what is to go, though both
// copy as much.
//
// Thread safety: none.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "schedule/step.h"

namespace hocket::simulation {

class Unread {
 public:
  // By an interface.
  void arrives(const schedule::Slice& slice, const schedule::Range& range);
  // By a processor, in whose cache it then is.
  void written(const schedule::Slice& slice, const schedule::Range& range) { read(slice, range); }
  // How many elements are read for the first time. By this rank; they are in a cache of its own from now on.
  uint64_t read(const schedule::Slice& slice, const schedule::Range& range);
  // Those that others would read for the first time.
  std::vector<schedule::Range> within(const schedule::Slice& slice, const schedule::Range& range) const;

 private:
  using Ranges = std::map<uint64_t, uint64_t>;  // disjoint: where each begins, and its end
  static uint32_t buffer_of(const schedule::Slice& slice) {
    return static_cast<uint32_t>(slice.buffer) << 8 | slice.area;
  }
  std::map<uint32_t, Ranges> unread_;
};

// How many elements `range` and the disjoint `ranges` have in common.
uint64_t common(const std::vector<schedule::Range>& ranges, const schedule::Range& range);

}  // namespace hocket::simulation
