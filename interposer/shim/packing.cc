// SPDX-License-Identifier: BSD-3-Clause
#include "shim/packing.h"

namespace hocket::interposer {
namespace {

Scratch& scratch_for(Packed::Use use) {
  static thread_local Scratch input, output;
  return use == Packed::Use::kInput ? input : output;
}

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

}  // namespace

Packed::Packed(Use use) : scratch_(scratch_for(use)) {}

Packed::~Packed() { scratch_.trim(); }

bool Packed::make_room(size_t count, const TypeFacts& facts) {
  bytes_ = scratch_.reserve(count * facts.size);
  return bytes_ != nullptr;
}

int Packed::pack(const void* buffer, size_t count, MPI_Datatype type, const TypeFacts& facts, MPI_Comm comm) {
  if (facts.size == 0 || count == 0) return MPI_SUCCESS;
  const Located from(buffer, static_cast<int>(count), type);
  if (from.error() != MPI_SUCCESS) return from.error();
  int position = 0;
  return next_pmpi().Pack(from.base(), from.count(), from.type(), bytes_, static_cast<int>(count * facts.size),
                          &position, comm);
}

int Packed::unpack(void* buffer, size_t count, MPI_Datatype type, const TypeFacts& facts, MPI_Comm comm) const {
  if (facts.size == 0 || count == 0) return MPI_SUCCESS;
  const Located to(buffer, static_cast<int>(count), type);
  if (to.error() != MPI_SUCCESS) return to.error();
  int position = 0;
  return next_pmpi().Unpack(bytes_, static_cast<int>(count * facts.size), &position, const_cast<void*>(to.base()),
                            to.count(), to.type(), comm);
}

}  // namespace hocket::interposer
