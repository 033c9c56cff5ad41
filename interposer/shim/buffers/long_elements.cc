// SPDX-License-Identifier: BSD-3-Clause
#include "shim/buffers/long_elements.h"

#include <algorithm>
#include <mutex>
#include <vector>

#include "shim/buffers/located.h"
#include "shim/job/errors.h"
#include "shim/job/job.h"
#include "shim/underneath/handles.h"

namespace hocket::interposer {
namespace {

// As many bytes, as one element.
class LongBytes {
 public:
  explicit LongBytes(size_t bytes) {
    constexpr size_t kBlock = size_t{1} << 30;
    std::vector<int> lengths;
    std::vector<MPI_Aint> places;
    for (size_t at = 0; at < bytes; at += kBlock) {
      lengths.push_back(static_cast<int>(std::min(kBlock, bytes - at)));
      places.push_back(static_cast<MPI_Aint>(at));
    }
    error_ = next_pmpi().Type_create_hindexed(static_cast<int>(lengths.size()), lengths.data(), places.data(),
                                              handles.byte, &type_);
    is_made_ = error_ == MPI_SUCCESS;
    if (is_made_) error_ = next_pmpi().Type_commit(&type_);
  }
  ~LongBytes() {
    if (is_made_) next_pmpi().Type_free(&type_);
  }
  LongBytes(const LongBytes&) = delete;
  LongBytes& operator=(const LongBytes&) = delete;

  int error() const { return error_; }
  MPI_Datatype type() const { return type_; }

 private:
  MPI_Datatype type_{};
  bool is_made_ = false;
  int error_ = MPI_SUCCESS;
};

// An MPI without MPI_Pack_c moves the element all the same, in a message to itself.
int send_to_self(const void* from, MPI_Datatype from_type, void* to, MPI_Datatype to_type, MPI_Comm comm) {
  static std::mutex one_at_a_time;
  constexpr int kTag = 1;
  const int self = rank_on_hidden_comm();
  int error = MPI_SUCCESS;
  {
    const std::lock_guard lock(one_at_a_time);
    error = next_pmpi().Sendrecv(from, 1, from_type, self, kTag, to, 1, to_type, self, kTag, hidden_comm(),
                                 MPI_STATUS_IGNORE);
  }
  return error == MPI_SUCCESS ? error : raise_error(comm, error);
}

}  // namespace

int pack_long_element(const Elements& from, unsigned char* to, MPI_Comm comm) {
  const Located place(from.buffer, 1, from.type);
  if (place.error() != MPI_SUCCESS) return place.error();
#if HOCKET_HAS_COUNT_FUNCTIONS
  if (const auto pack = next_pmpi().Pack_c; pack != nullptr) {
    MPI_Count position = 0;
    const auto bytes = static_cast<MPI_Count>(from.facts->size);
    const int error = pack(place.base(), 1, place.type(), to, bytes, &position, comm);
    return checked_packing(error, static_cast<size_t>(position), from.facts->size, comm);
  }
#endif
  const LongBytes bytes(from.facts->size);
  if (bytes.error() != MPI_SUCCESS) return bytes.error();
  return send_to_self(place.base(), place.type(), to, bytes.type(), comm);
}

int unpack_long_element(const unsigned char* from, const Elements& to, MPI_Comm comm) {
  const Located place(to.buffer, 1, to.type);
  if (place.error() != MPI_SUCCESS) return place.error();
#if HOCKET_HAS_COUNT_FUNCTIONS
  if (const auto unpack = next_pmpi().Unpack_c; unpack != nullptr) {
    MPI_Count position = 0;
    const auto bytes = static_cast<MPI_Count>(to.facts->size);
    const int error = unpack(from, bytes, &position, const_cast<void*>(place.base()), 1, place.type(), comm);
    return checked_packing(error, static_cast<size_t>(position), to.facts->size, comm);
  }
#endif
  const LongBytes bytes(to.facts->size);
  if (bytes.error() != MPI_SUCCESS) return bytes.error();
  return send_to_self(from, bytes.type(), const_cast<void*>(place.base()), place.type(), comm);
}

}  // namespace hocket::interposer
