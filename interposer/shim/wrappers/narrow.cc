// SPDX-License-Identifier: BSD-3-Clause
#include "shim/wrappers/narrow.h"

#include <array>
#include <climits>
#include <vector>

namespace hocket::interposer {
namespace {

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
    if (value < INT_MIN || value > INT_MAX) fit_ = false;
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

int call_uniform(const CaughtFunctions& next, const MoveCall& call, int send_count, int receive_count) {
  const Side &send = call.send, &receive = call.receive;
  void* const output = const_cast<void*>(receive.buffer);
  switch (call.collective) {
    case Collective::kGather:
      return next.Gather(send.buffer, send_count, send.type, output, receive_count, receive.type, call.root, call.comm);
    case Collective::kScatter:
      return next.Scatter(send.buffer, send_count, send.type, output, receive_count, receive.type, call.root,
                          call.comm);
    case Collective::kAllgather:
      return next.Allgather(send.buffer, send_count, send.type, output, receive_count, receive.type, call.comm);
    default:
      return next.Alltoall(send.buffer, send_count, send.type, output, receive_count, receive.type, call.comm);
  }
}

int hand_on_exchange(const CaughtFunctions& next, const MoveCall& call, Narrowed& narrowed) {
  const Side &send = call.send, &receive = call.receive;
  void* const output = const_cast<void*>(receive.buffer);
  const Numbers none;
  const bool sends = send.buffer != MPI_IN_PLACE;
  const int* const counts = narrowed.array(sends ? send.counts : none);
  const int* const places = narrowed.array(sends ? send.displacements : none);
  const int* const output_counts = narrowed.array(receive.counts);
  const int* const output_places = narrowed.array(receive.displacements);
  if (!narrowed.fit()) return MPI_ERR_COUNT;
  if (call.collective == Collective::kAlltoallw) {
    return next.Alltoallw(send.buffer, counts, places, send.types, output, output_counts, output_places, receive.types,
                          call.comm);
  }
  return next.Alltoallv(send.buffer, counts, places, send.type, output, output_counts, output_places, receive.type,
                        call.comm);
}

}  // namespace

int hand_on_narrowed(const CaughtFunctions& next, const BroadcastCall& call) {
  if (call.count > INT_MAX) return MPI_ERR_COUNT;
  return next.Bcast(call.buffer, static_cast<int>(call.count), call.type, call.root, call.comm);
}

int hand_on_narrowed(const CaughtFunctions& next, const MoveCall& call) {
  Narrowed narrowed(call.comm);
  const Side &send = call.send, &receive = call.receive;
  void* const output = const_cast<void*>(receive.buffer);
  const int count = narrowed.number(send.count), output_count = narrowed.number(receive.count);
  const int *counts = nullptr, *places = nullptr;
  switch (call.collective) {
    case Collective::kGatherv:
      counts = narrowed.array_at(call.root, receive.counts);
      places = narrowed.array_at(call.root, receive.displacements);
      if (!narrowed.fit()) return MPI_ERR_COUNT;
      return next.Gatherv(send.buffer, count, send.type, output, counts, places, receive.type, call.root, call.comm);
    case Collective::kScatterv:
      counts = narrowed.array_at(call.root, send.counts);
      places = narrowed.array_at(call.root, send.displacements);
      if (!narrowed.fit()) return MPI_ERR_COUNT;
      return next.Scatterv(send.buffer, counts, places, send.type, output, output_count, receive.type, call.root,
                           call.comm);
    case Collective::kAllgatherv:
      counts = narrowed.array(receive.counts);
      places = narrowed.array(receive.displacements);
      if (!narrowed.fit()) return MPI_ERR_COUNT;
      return next.Allgatherv(send.buffer, count, send.type, output, counts, places, receive.type, call.comm);
    case Collective::kAlltoallv:
    case Collective::kAlltoallw:
      return hand_on_exchange(next, call, narrowed);
    default:
      if (!narrowed.fit()) return MPI_ERR_COUNT;
      return call_uniform(next, call, count, output_count);
  }
}

int hand_on_narrowed(const CaughtFunctions& next, const ReduceCall& call) {
  Narrowed narrowed(call.comm);
  const int count = narrowed.number(call.count);
  const int* const counts = narrowed.array(call.counts);
  if (!narrowed.fit()) return MPI_ERR_COUNT;
  switch (call.collective) {
    case Collective::kReduce:
      return next.Reduce(call.input, call.output, count, call.type, call.op, call.root, call.comm);
    case Collective::kReduceScatterBlock:
      return next.Reduce_scatter_block(call.input, call.output, count, call.type, call.op, call.comm);
    case Collective::kReduceScatter:
      return next.Reduce_scatter(call.input, call.output, counts, call.type, call.op, call.comm);
    case Collective::kScan:
      return next.Scan(call.input, call.output, count, call.type, call.op, call.comm);
    case Collective::kExscan:
      return next.Exscan(call.input, call.output, count, call.type, call.op, call.comm);
    default:
      return next.Allreduce(call.input, call.output, count, call.type, call.op, call.comm);
  }
}

}  // namespace hocket::interposer
