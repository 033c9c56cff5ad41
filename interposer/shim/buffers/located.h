// SPDX-License-Identifier: BSD-3-Clause
// What MPI_Pack and MPI_Unpack are given, and what they say.
//
// Thread safety: an object belongs to one call.
#pragma once

#include "shim/underneath/next.h"

namespace hocket::interposer {

// MPI_BOTTOM is a good address for a type that holds absolute ones, but MPICH's MPI_Pack refuses it: then the same
// places are described from a base that isn't NULL.
class Located {
 public:
  Located(const void* buffer, int count, MPI_Datatype type) : base_(buffer), count_(count), type_(type) {
    if (buffer != nullptr) return;
    const MPI_Aint shift = -kBase;
    error_ = next_pmpi().Type_create_hindexed(1, &count, &shift, type, &shifted_);
    if (error_ != MPI_SUCCESS) return;
    is_shifted_ = true;
    error_ = next_pmpi().Type_commit(&shifted_);
    base_ = reinterpret_cast<const void*>(kBase);
    count_ = 1;
    type_ = shifted_;
  }
  ~Located() {
    if (is_shifted_) next_pmpi().Type_free(&shifted_);
  }
  Located(const Located&) = delete;
  Located& operator=(const Located&) = delete;

  int error() const { return error_; }
  const void* base() const { return base_; }
  int count() const { return count_; }
  MPI_Datatype type() const { return type_; }

 private:
  static constexpr intptr_t kBase = 4096;
  const void* base_;
  int count_;
  MPI_Datatype type_;
  MPI_Datatype shifted_{};
  bool is_shifted_ = false;
  int error_ = MPI_SUCCESS;
};

// The error of a packing that was to move `bytes`. Some MPI releases move too few bytes
// and return success.
int checked_packing(int error, size_t moved, size_t bytes, MPI_Comm comm);

}  // namespace hocket::interposer
