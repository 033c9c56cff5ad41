// SPDX-License-Identifier: BSD-3-Clause
#include "shim/requests/copies.h"

#include <cstring>
#include <new>
#include <utility>

#include "shim/buffers/device_transfer.h"
#include "shim/buffers/packing.h"
#include "shim/job/job.h"

namespace hocket::interposer {

Copies::~Copies() {
  for (MPI_Datatype& type : held_) next_pmpi().Type_free(&type);
}

unsigned char* Copies::make(std::unique_ptr<unsigned char[]>& room, size_t bytes) {
  room.reset(new (std::nothrow) unsigned char[bytes + 1]);
  if (room == nullptr) end_without_memory(bytes, "for a copy of what a call is to move");
  return room.get();
}

void Copies::add_side(std::vector<Piece>& pieces, const Side& side, const Blocks& blocks, unsigned char* room) {
  for (int i = 0; i < blocks.number; ++i) {
    const Elements elements = block(side, blocks, i);
    add(pieces, elements, room);
    room += elements.bytes();
  }
}

void Copies::pack_side(const Side& side, const Blocks& blocks, unsigned char* room) {
  add_side(to_pack_, side, blocks, room);
}

void Copies::pack_block(const Side& side, const Blocks& blocks, int index, unsigned char* room) {
  for (int i = 0; i < index; ++i) room += block(side, blocks, i).bytes();
  add(to_pack_, block(side, blocks, index), room);
}

void Copies::unpack_side(const Side& side, const Blocks& blocks, unsigned char* room) {
  add_side(to_unpack_, side, blocks, room);
}

bool Copies::copy_within(const OwnCopy& copy) {
  const Elements &from = copy.from, &to = copy.to;
  const bool from_ready = from.lie_ready(), to_ready = to.lie_ready();
  if (from_ready && to_ready) {
    straight_.push_back({from.first_byte(), to.first_byte(), from.bytes()});
  } else if (from_ready) {
    unpack_to(to, from.first_byte());
  } else if (to_ready) {
    pack_from(from, to.first_byte());
  } else {
    std::unique_ptr<unsigned char[]> room(new (std::nothrow) unsigned char[from.bytes()]);
    if (room == nullptr) return false;
    pack_from(from, room.get());
    unpack_to(to, room.get());
    within_.push_back(std::move(room));
  }
  return true;
}

int Copies::pack(MPI_Comm comm) const {
  if (raw_in_.room != nullptr)
    if (const int error = copy_from_device(raw_in_.device, raw_in_.room, raw_in_.bytes, comm); error != MPI_SUCCESS)
      return error;
  for (const Piece& piece : to_pack_)
    if (const int error = interposer::pack(piece.with_facts(), piece.room, comm); error != MPI_SUCCESS) return error;
  for (const Straight& one : straight_) std::memmove(one.to, one.from, one.bytes);
  return MPI_SUCCESS;
}

int Copies::unpack(MPI_Comm comm) const {
  if (raw_out_.room != nullptr) {
    const int error = copy_to_device(raw_out_.room, const_cast<void*>(raw_out_.device), raw_out_.bytes, comm);
    if (error != MPI_SUCCESS) return error;
  }
  for (const Piece& piece : to_unpack_)
    if (const int error = interposer::unpack(piece.room, piece.with_facts(), comm); error != MPI_SUCCESS) return error;
  return MPI_SUCCESS;
}

// A new type made of the program's, which doesn't run its attributes' callbacks, as a duplicate would.
int Copies::hold_types(std::vector<Piece>& pieces) {
  MPI_Datatype last{}, held{};
  bool has_last = false;
  for (Piece& piece : pieces) {
    if (!has_last || piece.elements.type != last) {
      last = piece.elements.type;
      has_last = true;
      if (const int error = next_pmpi().Type_contiguous(1, last, &held); error != MPI_SUCCESS) return error;
      held_.push_back(held);
      if (const int error = next_pmpi().Type_commit(&held_.back()); error != MPI_SUCCESS) return error;
      held = held_.back();
    }
    piece.elements.type = held;
  }
  return MPI_SUCCESS;
}

int Copies::keep(bool is_started_again) {
  if (!is_started_again) {
    to_pack_.clear();
  } else if (const int error = hold_types(to_pack_); error != MPI_SUCCESS) {
    return error;
  }
  return hold_types(to_unpack_);
}

}  // namespace hocket::interposer
