// SPDX-License-Identifier: BSD-3-Clause
// A file descriptor with an owner, which closes it.
//
// Thread safety: as for an int.
#pragma once

#include <unistd.h>

#include <utility>

namespace hocket::platform {

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
