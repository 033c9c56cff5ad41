// SPDX-License-Identifier: BSD-3-Clause
#include "shim/buffers/packing.h"

#include <algorithm>
#include <climits>

#include "base/thread_owned.h"
#include "shim/buffers/device_transfer.h"
#include "shim/buffers/located.h"
#include "shim/buffers/long_elements.h"
#include "shim/job/errors.h"
#include "shim/job/job.h"

namespace hocket::interposer {
namespace {

struct PackingRooms {
  Scratch input, output;
};

Scratch& scratch_for(Packed::Use use) {
  PackingRooms& rooms = ThreadOwned<PackingRooms>::get();
  return use == Packed::Use::kInput ? rooms.input : rooms.output;
}

// What one call of MPI_Pack takes: it counts in int.
constexpr size_t kLargestPiece = INT_MAX;

int pack_piece(const Elements& from, unsigned char* to, MPI_Comm comm) {
  const Located place(from.buffer, static_cast<int>(from.count), from.type);
  if (place.error() != MPI_SUCCESS) return place.error();
  int position = 0;
  const int error =
      next_pmpi().Pack(place.base(), place.count(), place.type(), to, static_cast<int>(from.bytes()), &position, comm);
  return checked_packing(error, static_cast<size_t>(position), from.bytes(), comm);
}

int unpack_piece(const unsigned char* from, const Elements& to, MPI_Comm comm) {
  const Located place(to.buffer, static_cast<int>(to.count), to.type);
  if (place.error() != MPI_SUCCESS) return place.error();
  int position = 0;
  const int error = next_pmpi().Unpack(from, static_cast<int>(to.bytes()), &position, const_cast<void*>(place.base()),
                                       place.count(), place.type(), comm);
  return checked_packing(error, static_cast<size_t>(position), to.bytes(), comm);
}

// `move(piece, where its bytes begin)` for pieces that one call can take.
template <typename Move>
int in_pieces(const Elements& all, const Move& move) {
  const size_t size = all.facts->size;
  if (size == 0) return MPI_SUCCESS;
  const size_t at_once = std::max<size_t>(kLargestPiece / size, 1);
  for (size_t done = 0; done < all.count; done += at_once) {
    const int error = move(all.part(done, std::min(at_once, all.count - done)), done * size);
    if (error != MPI_SUCCESS) return error;
  }
  return MPI_SUCCESS;
}

}  // namespace

int checked_packing(int error, size_t moved, size_t bytes, MPI_Comm comm) {
  if (error != MPI_SUCCESS || moved == bytes) [[likely]]
    return error;
  return raise_error(comm, MPI_ERR_INTERN);
}

int pack(const Elements& from, unsigned char* to, MPI_Comm comm) {
  if (is_beyond_reach(from)) [[unlikely]]
    return pack_from_device(from, to, comm);
  const auto move = from.facts->size <= kLargestPiece ? pack_piece : pack_long_element;
  return in_pieces(from, [&](const Elements& piece, size_t at) { return move(piece, to + at, comm); });
}

int unpack(const unsigned char* from, const Elements& to, MPI_Comm comm) {
  if (is_beyond_reach(to)) [[unlikely]]
    return unpack_to_device(from, to, comm);
  const auto move = to.facts->size <= kLargestPiece ? unpack_piece : unpack_long_element;
  return in_pieces(to, [&](const Elements& piece, size_t at) { return move(from + at, piece, comm); });
}

Packed::Packed(Use use, MPI_Comm comm) : scratch_(scratch_for(use)), comm_(comm) {}

Packed::~Packed() { scratch_.trim(); }

bool Packed::reserve(size_t bytes) {
  bytes_ = scratch_.reserve(bytes);
  return bytes_ != nullptr;
}

void Packed::make_room(size_t bytes) {
  if (!reserve(bytes)) end_without_memory(bytes, "to pack data");
}

void Packed::pack_at(size_t at, const Elements& from) {
  if (error_ == MPI_SUCCESS) error_ = pack(from, bytes_ + at, comm_);
}

void Packed::unpack_at(size_t at, const Elements& to) {
  if (error_ == MPI_SUCCESS) error_ = unpack(bytes_ + at, to, comm_);
}

}  // namespace hocket::interposer
