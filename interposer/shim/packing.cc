// SPDX-License-Identifier: BSD-3-Clause
#include "shim/packing.h"

#include <algorithm>
#include <climits>

#include "shim/job.h"

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

// What one call of MPI_Pack takes: it counts in int.
constexpr size_t kLargestPiece = INT_MAX;

__attribute__((cold)) int raise(MPI_Comm comm, int error_class) {
  const NestedCall nested;
  next_pmpi().Comm_call_errhandler(comm, error_class);
  return error_class;
}

// What MPI_Pack and MPI_Unpack said. There are releases in which they come to move too little, and call it a success.
int checked(int error, size_t moved, size_t bytes, MPI_Comm comm) {
  if (error != MPI_SUCCESS || moved == bytes) [[likely]]
    return error;
  return raise(comm, MPI_ERR_INTERN);
}

int pack_piece(const Elements& from, unsigned char* to, MPI_Comm comm) {
  const Located place(from.buffer, static_cast<int>(from.count), from.type);
  if (place.error() != MPI_SUCCESS) return place.error();
  int position = 0;
  const int error =
      next_pmpi().Pack(place.base(), place.count(), place.type(), to, static_cast<int>(from.bytes()), &position, comm);
  return checked(error, static_cast<size_t>(position), from.bytes(), comm);
}

int unpack_piece(const unsigned char* from, const Elements& to, MPI_Comm comm) {
  const Located place(to.buffer, static_cast<int>(to.count), to.type);
  if (place.error() != MPI_SUCCESS) return place.error();
  int position = 0;
  const int error = next_pmpi().Unpack(from, static_cast<int>(to.bytes()), &position, const_cast<void*>(place.base()),
                                       place.count(), place.type(), comm);
  return checked(error, static_cast<size_t>(position), to.bytes(), comm);
}

// One element of more than that: an MPI without functions for it can't pack it.
#if HOCKET_HAS_COUNT_FUNCTIONS
int pack_long_element(const Elements& from, unsigned char* to, MPI_Comm comm) {
  if (next_pmpi().Pack_c == nullptr) return raise(comm, MPI_ERR_COUNT);
  const Located place(from.buffer, 1, from.type);
  MPI_Count position = 0;
  if (place.error() != MPI_SUCCESS) return place.error();
  const auto bytes = static_cast<MPI_Count>(from.facts->size);
  const int error = next_pmpi().Pack_c(place.base(), 1, place.type(), to, bytes, &position, comm);
  return checked(error, static_cast<size_t>(position), from.facts->size, comm);
}

int unpack_long_element(const unsigned char* from, const Elements& to, MPI_Comm comm) {
  if (next_pmpi().Unpack_c == nullptr) return raise(comm, MPI_ERR_COUNT);
  const Located place(to.buffer, 1, to.type);
  MPI_Count position = 0;
  if (place.error() != MPI_SUCCESS) return place.error();
  const auto bytes = static_cast<MPI_Count>(to.facts->size);
  const int error =
      next_pmpi().Unpack_c(from, bytes, &position, const_cast<void*>(place.base()), 1, place.type(), comm);
  return checked(error, static_cast<size_t>(position), to.facts->size, comm);
}
#else
int pack_long_element(const Elements&, unsigned char*, MPI_Comm comm) { return raise(comm, MPI_ERR_COUNT); }
int unpack_long_element(const unsigned char*, const Elements&, MPI_Comm comm) { return raise(comm, MPI_ERR_COUNT); }
#endif

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

int pack(const Elements& from, unsigned char* to, MPI_Comm comm) {
  const auto move = from.facts->size <= kLargestPiece ? pack_piece : pack_long_element;
  return in_pieces(from, [&](const Elements& piece, size_t at) { return move(piece, to + at, comm); });
}

int unpack(const unsigned char* from, const Elements& to, MPI_Comm comm) {
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
  if (!reserve(bytes)) end_without_memory(comm_, bytes, "to pack data");
}

void Packed::pack_at(size_t at, const Elements& from) {
  if (error_ == MPI_SUCCESS) error_ = pack(from, bytes_ + at, comm_);
}

void Packed::unpack_at(size_t at, const Elements& to) {
  if (error_ == MPI_SUCCESS) error_ = unpack(bytes_ + at, to, comm_);
}

}  // namespace hocket::interposer
