// SPDX-License-Identifier: BSD-3-Clause
// A file descriptor with an owner, which closes it.
//
// Thread safety: as for an int.
#pragma once

#include <unistd.h>

#include <utility>

namespace hocket::platform {

// The same file under a number from 512 on, or from half of what the limit allows, if there is one; else `descriptor`,
// which may be -1. Programs get the lowest numbers that are free, and some count on which: these must be the ones that
// they would get without hocket. Leaves errno alone.
int move_out_of_the_way(int descriptor);

// Has the kernel make room for such numbers. While the process has one thread this takes a microsecond, afterwards ten
// milliseconds and more: the kernel then waits until no processor can be in the old table.
void make_room_out_of_the_way();

class Descriptor {
 public:
  explicit Descriptor(int value = -1) : value_(value) {}
  ~Descriptor() { reset(); }
  Descriptor(Descriptor&& other) noexcept : value_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) {
      reset();
      value_ = other.release();
    }
    return *this;
  }
  int get() const { return value_; }
  int release() { return std::exchange(value_, -1); }
  void reset() {
    if (value_ >= 0) close(value_);
    value_ = -1;
  }

 private:
  int value_;
};

}  // namespace hocket::platform
