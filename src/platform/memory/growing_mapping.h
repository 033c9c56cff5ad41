// SPDX-License-Identifier: BSD-3-Clause
// A file mapped from its beginning, and further when more of it is needed. Addresses that are mapped count against
// limits, used or not: `ulimit -v`, and `ulimit -l` where the process locks its memory. So no more are taken than are
// needed soon.
//
// Mappings begin far from where the kernel puts others, so that they grow without moving, as a rule.
//
// Thread safety: none, the owner locks.
#pragma once

#include <cstddef>
#include <vector>

#include "base/status.h"

namespace hocket::platform {

inline size_t round_up(size_t value, size_t multiple) { return (value + multiple - 1) / multiple * multiple; }

// Where offsets below `bytes` are mapped.
struct Window {
  std::byte* base = nullptr;
  size_t bytes = 0;
};

class GrowingMapping {
 public:
  // `first` and `most`, multiples of a page: what is mapped at once, and how far it may grow. Where there is no place
  // far from others, `most` becomes what the addresses have room for.
  static Result<GrowingMapping> map(int descriptor, size_t first, size_t most);
  GrowingMapping() = default;
  ~GrowingMapping();
  GrowingMapping(GrowingMapping&& other) noexcept { swap(other); }
  GrowingMapping& operator=(GrowingMapping&& other) noexcept {
    swap(other);
    return *this;
  }

  // The latest; earlier ones stay as they are.
  const Window& window() const { return window_; }
  size_t most() const { return most_; }
  // By how much to grow so that `end` is inside: more than is needed, since each time costs.
  size_t size_for(size_t end) const;
  // Where it is. On failure nothing has changed.
  Status extend(size_t bytes);
  // The same, and where something is in the way, the whole a second time elsewhere.
  Status extend_or_move(size_t bytes);

 private:
  void swap(GrowingMapping& other) noexcept;
  Window window_;
  size_t most_ = 0;
  std::vector<Window> earlier_;
};

}  // namespace hocket::platform
