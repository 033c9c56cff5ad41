// SPDX-License-Identifier: BSD-3-Clause
#include "shim/wrappers/narrow.h"

#include <array>
#include <climits>
#include <vector>

namespace hocket::interposer {
namespace {

bool is_int(int64_t value) { return value >= INT_MIN && value <= INT_MAX; }

// The numbers of one call as int.
class Narrowed {
 public:
  explicit Narrowed(MPI_Comm comm) {
    int is_inter = 0;
    if (next_pmpi().Comm_test_inter(comm, &is_inter) != MPI_SUCCESS) return;
    next_pmpi().Comm_rank(comm, &rank_);
    (is_inter != 0 ? next_pmpi().Comm_remote_size : next_pmpi().Comm_size)(comm, &size_);
    if (is_inter != 0) rank_ = MPI_ROOT;
  }

  int number(int64_t value) {
    if (!is_int(value)) fit_ = false;
    return static_cast<int>(value);
  }

  const int* array(const Numbers& values) {
    if (!values.is_there()) return nullptr;
    std::vector<int>& room = rooms_[used_++];
    room.resize(static_cast<size_t>(size_) + 1);
    for (int i = 0; i < size_; ++i) room[static_cast<size_t>(i)] = number(values[i]);
    return room.data();
  }

  // Of an array that only the root passes.
  const int* array_at(int root, const Numbers& values) { return root == rank_ ? array(values) : nullptr; }

  bool fit() const { return fit_; }

 private:
  int rank_ = 0;
  int size_ = 0;
  bool fit_ = true;
  size_t used_ = 0;
  std::array<std::vector<int>, 4> rooms_;
};

// Counts and displacements of both sides.
struct BothSides {
  const int *counts, *places, *output_counts, *output_places;
};
BothSides narrow(const MoveCall& call, Narrowed& narrowed) {
  const Side &send = call.send, &receive = call.receive;
  const Numbers none;
  const bool sends = send.buffer != MPI_IN_PLACE;
  const int* const counts = narrowed.array(sends ? send.counts : none);
  const int* const places = narrowed.array(sends ? send.displacements : none);
  return {counts, places, narrowed.array(receive.counts), narrowed.array(receive.displacements)};
}

void* output_of(const MoveCall& call) { return const_cast<void*>(call.receive.buffer); }

}  // namespace

int pass_through_narrowed(decltype(&PMPI_Bcast) next, const BroadcastCall& call) {
  if (call.count > INT_MAX) return MPI_ERR_COUNT;
  return next(call.buffer, static_cast<int>(call.count), call.type, call.root, call.comm);
}

int pass_through_narrowed(decltype(&PMPI_Gather) next, const MoveCall& call) {
  Narrowed narrowed(call.comm);
  const Side &send = call.send, &receive = call.receive;
  const int count = narrowed.number(send.count), output_count = narrowed.number(receive.count);
  if (!narrowed.fit()) return MPI_ERR_COUNT;
  return next(send.buffer, count, send.type, output_of(call), output_count, receive.type, call.root, call.comm);
}

int pass_through_narrowed(decltype(&PMPI_Gatherv) next, const MoveCall& call) {
  Narrowed narrowed(call.comm);
  const Side &send = call.send, &receive = call.receive;
  const int count = narrowed.number(send.count);
  const int* const counts = narrowed.array_at(call.root, receive.counts);
  const int* const places = narrowed.array_at(call.root, receive.displacements);
  if (!narrowed.fit()) return MPI_ERR_COUNT;
  return next(send.buffer, count, send.type, output_of(call), counts, places, receive.type, call.root, call.comm);
}

int pass_through_narrowed(decltype(&PMPI_Scatterv) next, const MoveCall& call) {
  Narrowed narrowed(call.comm);
  const Side &send = call.send, &receive = call.receive;
  const int output_count = narrowed.number(receive.count);
  const int* const counts = narrowed.array_at(call.root, send.counts);
  const int* const places = narrowed.array_at(call.root, send.displacements);
  if (!narrowed.fit()) return MPI_ERR_COUNT;
  return next(send.buffer, counts, places, send.type, output_of(call), output_count, receive.type, call.root,
              call.comm);
}

int pass_through_narrowed(decltype(&PMPI_Allgather) next, const MoveCall& call) {
  Narrowed narrowed(call.comm);
  const Side &send = call.send, &receive = call.receive;
  const int count = narrowed.number(send.count), output_count = narrowed.number(receive.count);
  if (!narrowed.fit()) return MPI_ERR_COUNT;
  return next(send.buffer, count, send.type, output_of(call), output_count, receive.type, call.comm);
}

int pass_through_narrowed(decltype(&PMPI_Allgatherv) next, const MoveCall& call) {
  Narrowed narrowed(call.comm);
  const Side &send = call.send, &receive = call.receive;
  const int count = narrowed.number(send.count);
  const int* const counts = narrowed.array(receive.counts);
  const int* const places = narrowed.array(receive.displacements);
  if (!narrowed.fit()) return MPI_ERR_COUNT;
  return next(send.buffer, count, send.type, output_of(call), counts, places, receive.type, call.comm);
}

int pass_through_narrowed(decltype(&PMPI_Alltoallv) next, const MoveCall& call) {
  Narrowed narrowed(call.comm);
  const BothSides of = narrow(call, narrowed);
  if (!narrowed.fit()) return MPI_ERR_COUNT;
  return next(call.send.buffer, of.counts, of.places, call.send.type, output_of(call), of.output_counts,
              of.output_places, call.receive.type, call.comm);
}

int pass_through_narrowed(decltype(&PMPI_Alltoallw) next, const MoveCall& call) {
  Narrowed narrowed(call.comm);
  const BothSides of = narrow(call, narrowed);
  if (!narrowed.fit()) return MPI_ERR_COUNT;
  return next(call.send.buffer, of.counts, of.places, call.send.types, output_of(call), of.output_counts,
              of.output_places, call.receive.types, call.comm);
}

int pass_through_narrowed(decltype(&PMPI_Reduce) next, const ReduceCall& call) {
  if (!is_int(call.count)) return MPI_ERR_COUNT;
  return next(call.input, call.output, static_cast<int>(call.count), call.type, call.op, call.root, call.comm);
}

int pass_through_narrowed(decltype(&PMPI_Allreduce) next, const ReduceCall& call) {
  if (!is_int(call.count)) return MPI_ERR_COUNT;
  return next(call.input, call.output, static_cast<int>(call.count), call.type, call.op, call.comm);
}

int pass_through_narrowed(decltype(&PMPI_Reduce_scatter) next, const ReduceCall& call) {
  Narrowed narrowed(call.comm);
  const int* const counts = narrowed.array(call.counts);
  if (!narrowed.fit()) return MPI_ERR_COUNT;
  return next(call.input, call.output, counts, call.type, call.op, call.comm);
}

}  // namespace hocket::interposer
