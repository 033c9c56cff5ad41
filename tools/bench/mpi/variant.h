// SPDX-License-Identifier: BSD-3-Clause
// An MPI's own collectives, or hocket through the same MPI_* functions, as variants of a benchmark.
//
// Thread safety: none.
#pragma once

#include <mpi.h>

#include <string>

#include "bench/mpi/halo.h"
#include "bench/mpi/shim.h"
#include "bench/vector_blocks.h"

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
  switch (operation) {
    case Operation::kSum:
      return MPI_SUM;
    case Operation::kMin:
      return MPI_MIN;
    case Operation::kMax:
      return MPI_MAX;
    case Operation::kBitAnd:
      return MPI_BAND;
    case Operation::kBitOr:
      return MPI_BOR;
    case Operation::kBitXor:
      return MPI_BXOR;
    default:
      return MPI_OP_NULL;  // measured nowhere
  }
}

// Calls a function of MPI with what a benchmark passes: one operator for each form that collectives have. By arity and
// constness alone, because in some MPIs all handles are numbers.
struct MpiCaller {
  using Type = MPI_Datatype;
  using Comm = MPI_Comm;
  using Counts = const int*;

  const Call& call;
  Comm comm;
  Type type;
  MPI_Op op;
  Counts counts, sent, received, at;

  int count() const { return static_cast<int>(call.count); }

  int operator()(int (*barrier)(Comm)) const { return barrier(comm); }
  int operator()(int (*broadcast)(void*, int, Type, int, Comm)) const {
    return broadcast(call.output, count(), MPI_BYTE, call.root, comm);
  }
  int operator()(int (*gather)(const void*, int, Type, void*, int, Type, int, Comm)) const {
    return gather(call.input, count(), MPI_BYTE, call.output, count(), MPI_BYTE, call.root, comm);
  }
  int operator()(int (*gatherv)(const void*, int, Type, void*, Counts, Counts, Type, int, Comm)) const {
    return gatherv(call.input, count(), MPI_BYTE, call.output, counts, at, MPI_BYTE, call.root, comm);
  }
  int operator()(int (*scatterv)(const void*, Counts, Counts, Type, void*, int, Type, int, Comm)) const {
    return scatterv(call.input, counts, at, MPI_BYTE, call.output, count(), MPI_BYTE, call.root, comm);
  }
  int operator()(int (*allgather)(const void*, int, Type, void*, int, Type, Comm)) const {
    return allgather(call.input, count(), MPI_BYTE, call.output, count(), MPI_BYTE, comm);
  }
  int operator()(int (*allgatherv)(const void*, int, Type, void*, Counts, Counts, Type, Comm)) const {
    return allgatherv(call.input, count(), MPI_BYTE, call.output, counts, at, MPI_BYTE, comm);
  }
  int operator()(int (*alltoallv)(const void*, Counts, Counts, Type, void*, Counts, Counts, Type, Comm)) const {
    return alltoallv(call.input, sent, at, MPI_BYTE, call.output, received, at, MPI_BYTE, comm);
  }
  int operator()(int (*reduce)(const void*, void*, int, Type, MPI_Op, int, Comm)) const {
    return reduce(call.input, call.output, count(), type, op, call.root, comm);
  }
  int operator()(int (*allreduce)(const void*, void*, int, Type, MPI_Op, Comm)) const {
    return allreduce(call.input, call.output, count(), type, op, comm);
  }
  int operator()(int (*reduce_scatter)(const void*, void*, Counts, Type, MPI_Op, Comm)) const {
    return reduce_scatter(call.input, call.output, counts, type, op, comm);
  }
};

class MpiVariant : public Variant {
 public:
  MpiVariant(MPI_Comm comm, Shim& shim, const Options& options, bool hocket, int rank, int ranks)
      : comm_(comm),
        shim_(shim),
        type_(mpi_type_of(options.element)),
        op_(mpi_op_of(options.operation)),
        hocket_(hocket),
        blocks_(options.lengths, rank, ranks),
        halo_(options.halo),
        rank_(rank) {}

  std::string name() const override { return hocket_ ? "hocket" : "mpi"; }

  std::string activate(Collective collective) override {
    shim_.set_enabled(hocket_);
    const bool has_topology = schedule::is_among_neighbors(collective);
    if (has_topology && !topology_.is_there()) topology_.make(comm_, halo_, rank_);
    // Sets the communicator up, as calls of which the root need not wait for others don't.
    if (hocket_) MPI_Barrier(has_topology ? topology_.comm() : comm_);
    carried_out_before_ = shim_.carried_out();
    return {};
  }

  std::string doubt() override {
    const bool carried_out = shim_.carried_out() != carried_out_before_;
    if (carried_out == hocket_) return {};
    return hocket_ ? "hocket passed the call through to the MPI; HOCKET_STATS=1 tells why"
                   : "hocket could not be switched off";
  }

  int run(const Call& call) override {
    if (schedule::is_among_neighbors(call.collective)) return topology_.run(call);
    if (schedule::is_vector(call.collective)) blocks_.set(call.count);
    const MpiCaller caller{
        call, comm_, type_, op_, blocks_.counts(), blocks_.sent(), blocks_.received(), blocks_.displacements()};
    switch (call.collective) {
#define HOCKET_COLLECTIVE(constant, name, setting, function, ...) \
  case Collective::k##constant:                                   \
    return caller(function);
#include "base/collectives.def"
      default:
        break;
    }
    return MPI_ERR_ARG;
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
  MPI_Comm comm_;
  Shim& shim_;
  MPI_Datatype type_;
  MPI_Op op_;
  bool hocket_;
  MPI_Request request_ = MPI_REQUEST_NULL;
  VectorBlocks<int> blocks_;
  Halo halo_;
  int rank_;
  MpiTopology topology_;
  unsigned long long carried_out_before_ = 0;
};

}  // namespace hocket::bench
