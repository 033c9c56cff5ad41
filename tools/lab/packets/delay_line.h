// SPDX-License-Identifier: BSD-3-Clause
// Packets that are on their way for a while: when each is to go on.
//
// Packets of a link keep their order, whatever their jitter, but for those that are held back: these come later than
// others that were sent after them.
//
// Thread safety: one thread. Time is the caller's, in nanoseconds.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <vector>

#include "bpf/lab_port.h"

namespace hocket::lab {

class DelayLine {
 public:
  explicit DelayLine(size_t most_bytes) : most_bytes_(most_bytes) {}

  // Gives when it is to go on; nothing: there is no room for it.
  std::optional<uint64_t> add(std::vector<uint8_t> frame, uint32_t link, bool is_held, const lab_settings& settings,
                              uint64_t came_ns);
  // The next one whose time has come, or nothing.
  std::optional<std::vector<uint8_t>> take_due(uint64_t now_ns);
  // UINT64_MAX: there is none.
  uint64_t next_ns() const { return waiting_.empty() ? UINT64_MAX : waiting_.top().release_ns; }

 private:
  struct Waiting {
    uint64_t release_ns;
    uint64_t serial;  // of two with the same time the first goes first
    mutable std::vector<uint8_t> frame;
    bool operator>(const Waiting& other) const {
      return release_ns != other.release_ns ? release_ns > other.release_ns : serial > other.serial;
    }
  };

  size_t most_bytes_;
  size_t bytes_ = 0;
  uint64_t serial_ = 0;
  std::array<uint64_t, LAB_LINKS> number_ = {};
  std::array<uint64_t, LAB_LINKS> last_release_ns_ = {};
  std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> waiting_;
};

}  // namespace hocket::lab
