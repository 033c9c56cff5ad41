// SPDX-License-Identifier: BSD-3-Clause
#include "shim/packing.h"

namespace hocket::interposer {
namespace {

Scratch& scratch_for(Packed::Use use) {
  static thread_local Scratch input, output;
  return use == Packed::Use::kInput ? input : output;
}

}  // namespace

Packed::Packed(Use use) : scratch_(scratch_for(use)) {}

Packed::~Packed() { scratch_.trim(); }

int Packed::make_room(size_t count, const TypeFacts& facts) {
  bytes_ = scratch_.reserve(count * facts.size);
  return bytes_ != nullptr ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

int Packed::pack(const void* buffer, size_t count, MPI_Datatype type, const TypeFacts& facts, MPI_Comm comm) {
  if (const int error = make_room(count, facts); error != MPI_SUCCESS) return error;
  if (facts.size == 0 || count == 0) return MPI_SUCCESS;
  int position = 0;
  return next_pmpi().Pack(buffer, static_cast<int>(count), type, bytes_, static_cast<int>(count * facts.size),
                          &position, comm);
}

int Packed::unpack(void* buffer, size_t count, MPI_Datatype type, const TypeFacts& facts, MPI_Comm comm) const {
  if (facts.size == 0 || count == 0) return MPI_SUCCESS;
  int position = 0;
  return next_pmpi().Unpack(bytes_, static_cast<int>(count * facts.size), &position, buffer, static_cast<int>(count),
                            type, comm);
}

}  // namespace hocket::interposer
