// SPDX-License-Identifier: BSD-3-Clause
// An MPI's own collectives, or hocket through the same MPI_* functions, as variants of a benchmark.
//
// Thread safety: none.
#pragma once

#include <mpi.h>

#include <string>

#include "bench/equal_blocks.h"
#include "bench/mpi/shim.h"

namespace hocket::bench {

inline MPI_Datatype mpi_type_of(Element element) {
  switch (element) {
    case Element::kInt32:
      return MPI_INT32_T;
    case Element::kInt64:
      return MPI_INT64_T;
    case Element::kFloat:
      return MPI_FLOAT;
    case Element::kDouble:
      break;
  }
  return MPI_DOUBLE;
}

inline MPI_Op mpi_op_of(Operation operation) {
  if (operation == Operation::kMin) return MPI_MIN;
  if (operation == Operation::kMax) return MPI_MAX;
  return MPI_SUM;
}

class MpiVariant : public Variant {
 public:
  MpiVariant(MPI_Comm comm, Shim& shim, const Options& options, bool hocket, int ranks)
      : comm_(comm),
        shim_(shim),
        type_(mpi_type_of(options.element)),
        op_(mpi_op_of(options.operation)),
        hocket_(hocket),
        blocks_(ranks) {}

  std::string name() const override { return hocket_ ? "hocket" : "mpi"; }

  std::string activate(Collective) override {
    shim_.set_enabled(hocket_);
    // Sets the communicator up, as calls of which the root need not wait for others don't.
    if (hocket_) MPI_Barrier(comm_);
    carried_out_before_ = shim_.carried_out();
    return {};
  }

  std::string doubt() override {
    const bool carried_out = shim_.carried_out() != carried_out_before_;
    if (carried_out == hocket_) return {};
    return hocket_ ? "hocket handed the call on to the MPI; HOCKET_STATS=1 tells why"
                   : "hocket could not be switched off";
  }

  int run(const Call& call) override {
    if (call.collective == Collective::kBarrier) return MPI_Barrier(comm_);
    if (schedule::is_vector(call.collective)) blocks_.set(call.count);
    return schedule::combines(call.collective) ? run_combining(call) : run_moving(call);
  }

  // Those that engines know.
  int begin(const Call& call) override {
    const int count = static_cast<int>(call.count);
    switch (call.collective) {
      case Collective::kBarrier:
        return MPI_Ibarrier(comm_, &request_);
      case Collective::kBroadcast:
        return MPI_Ibcast(call.output, count, MPI_BYTE, call.root, comm_, &request_);
      case Collective::kReduce:
        return MPI_Ireduce(call.input, call.output, count, type_, op_, call.root, comm_, &request_);
      case Collective::kAllreduce:
        return MPI_Iallreduce(call.input, call.output, count, type_, op_, comm_, &request_);
      default:
        return run(call);
    }
  }
  int complete() override { return MPI_Wait(&request_, MPI_STATUS_IGNORE); }

  std::string error(int code) const override {
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(code, text, &length);
    return text;
  }

 private:
  int run_moving(const Call& call) const {
    const auto& [collective, input, output, all, root] = call;
    const int count = static_cast<int>(all);
    const int* const counts = blocks_.counts();
    const int* const at = blocks_.displacements();
    switch (collective) {
      case Collective::kGather:
        return MPI_Gather(input, count, MPI_BYTE, output, count, MPI_BYTE, root, comm_);
      case Collective::kGatherv:
        return MPI_Gatherv(input, count, MPI_BYTE, output, counts, at, MPI_BYTE, root, comm_);
      case Collective::kScatter:
        return MPI_Scatter(input, count, MPI_BYTE, output, count, MPI_BYTE, root, comm_);
      case Collective::kScatterv:
        return MPI_Scatterv(input, counts, at, MPI_BYTE, output, count, MPI_BYTE, root, comm_);
      case Collective::kAllgather:
        return MPI_Allgather(input, count, MPI_BYTE, output, count, MPI_BYTE, comm_);
      case Collective::kAllgatherv:
        return MPI_Allgatherv(input, count, MPI_BYTE, output, counts, at, MPI_BYTE, comm_);
      case Collective::kAlltoall:
        return MPI_Alltoall(input, count, MPI_BYTE, output, count, MPI_BYTE, comm_);
      case Collective::kAlltoallv:
        return MPI_Alltoallv(input, counts, at, MPI_BYTE, output, counts, at, MPI_BYTE, comm_);
      default:
        return MPI_Bcast(output, count, MPI_BYTE, root, comm_);
    }
  }

  int run_combining(const Call& call) const {
    const int count = static_cast<int>(call.count);
    switch (call.collective) {
      case Collective::kReduce:
        return MPI_Reduce(call.input, call.output, count, type_, op_, call.root, comm_);
      case Collective::kReduceScatterBlock:
        return MPI_Reduce_scatter_block(call.input, call.output, count, type_, op_, comm_);
      case Collective::kReduceScatter:
        return MPI_Reduce_scatter(call.input, call.output, blocks_.counts(), type_, op_, comm_);
      case Collective::kScan:
        return MPI_Scan(call.input, call.output, count, type_, op_, comm_);
      case Collective::kExscan:
        return MPI_Exscan(call.input, call.output, count, type_, op_, comm_);
      default:
        return MPI_Allreduce(call.input, call.output, count, type_, op_, comm_);
    }
  }

  MPI_Comm comm_;
  Shim& shim_;
  MPI_Datatype type_;
  MPI_Op op_;
  bool hocket_;
  MPI_Request request_ = MPI_REQUEST_NULL;
  EqualBlocks<int> blocks_;
  unsigned long long carried_out_before_ = 0;
};

}  // namespace hocket::bench
