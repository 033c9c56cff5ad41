// SPDX-License-Identifier: BSD-3-Clause
// An array of counts or displacements as the program passes it: of int, or of MPI_Count or MPI_Aint in functions with
// _c.
//
// Thread safety: any thread; the array must outlive the view.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace hocket::interposer {

class Numbers {
 public:
  Numbers() = default;
  template <typename Integer>
  explicit Numbers(const Integer* values)
      : bytes_(reinterpret_cast<const char*>(values)), is_wide_(sizeof(Integer) == sizeof(int64_t)) {
    static_assert(sizeof(Integer) == sizeof(int64_t) || sizeof(Integer) == sizeof(int32_t));
  }

  bool is_there() const { return bytes_ != nullptr; }
  bool is_wide() const { return is_wide_; }
  const void* address() const { return bytes_; }

  int64_t operator[](int index) const {
    const auto at = static_cast<size_t>(index);
    if (is_wide_) return read<int64_t>(at);
    return read<int32_t>(at);
  }

 private:
  // MPI_Count and MPI_Aint may be other types than int64_t, of the same representation.
  template <typename Integer>
  Integer read(size_t at) const {
    Integer value;
    std::memcpy(&value, bytes_ + at * sizeof value, sizeof value);
    return value;
  }

  const char* bytes_ = nullptr;
  bool is_wide_ = false;
};

}  // namespace hocket::interposer
