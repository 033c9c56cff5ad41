// SPDX-License-Identifier: BSD-3-Clause
#include "shim/collectives.h"

#include <cstring>

#include "base/log.h"
#include "shim/handles.h"
#include "shim/packing.h"

namespace hocket::interposer {
namespace {

// hocket failed: the user hears of it by the communicator's error handler, as of any other failure.
__attribute__((cold)) int raise(const Decision& decision, Collective collective, MPI_Comm comm,
                                hocket_status_t status) {
  Communicator& communicator = *decision.communicator;
  if (!communicator.failure_told) {
    communicator.failure_told = true;
    HOCKET_LOG_ERROR("%s on rank %d of %d: %s: %s", mpi_name(collective), communicator.rank, communicator.size,
                     hocket_status_name(status), hocket_error_text());
  }
  return raise_failure(decision, collective, comm);
}

int answer(const Decision& decision, Collective collective, MPI_Comm comm, hocket_status_t status) {
  if (status != HOCKET_OK) [[unlikely]]
    return raise(decision, collective, comm, status);
  decision.communicator->counters.add(collective, decision.why);
  return MPI_SUCCESS;
}

// MPI has raised an error in packing or in the user's operation already; peers are served first.
int answer(const Decision& decision, Collective collective, MPI_Comm comm, hocket_status_t status, int mpi_error) {
  const int result = answer(decision, collective, comm, status);
  return result != MPI_SUCCESS ? result : mpi_error;
}

hocket_status_t run(const Decision& decision, const ReduceCall& call, const void* input, void* output,
                    hocket_type_t type) {
  const void* from = decision.in_place ? HOCKET_IN_PLACE : input;
  const auto count = static_cast<size_t>(call.count);
  hocket_comm_t* comm = decision.communicator->comm;
  if (!call.is_rooted()) return hocket_allreduce(comm, from, output, count, type, decision.operation.op);
  return hocket_reduce(comm, from, output, count, type, decision.operation.op, call.root);
}

const unsigned char* first_byte(const void* buffer, const TypeFacts& facts) {
  return static_cast<const unsigned char*>(buffer) + facts.true_lb;
}
unsigned char* first_byte(void* buffer, const TypeFacts& facts) {
  return static_cast<unsigned char*>(buffer) + facts.true_lb;
}

// What a collective works on in place of a buffer whose elements don't lie densely. Peers wait for this rank in the
// same collective, so whatever fails here, it takes part.
class PackedOperand {
 public:
  PackedOperand(Packed::Use use, size_t count, MPI_Datatype type, const TypeFacts& facts, MPI_Comm comm)
      : packed_(use), count_(count), type_(type), facts_(facts), comm_(comm) {}

  void make_room() {
    if (!packed_.make_room(count_, facts_)) end_without_memory(comm_, count_ * facts_.size, "to pack data");
  }

  // On an error zeroes go in the place of the data: what the room held before is nobody's business.
  int pack(const void* buffer) {
    make_room();
    const int error = packed_.pack(buffer, count_, type_, facts_, comm_);
    if (error != MPI_SUCCESS) std::memset(packed_.bytes(), 0, count_ * facts_.size);
    return error;
  }

  int unpack(void* buffer) const { return packed_.unpack(buffer, count_, type_, facts_, comm_); }
  unsigned char* bytes() const { return packed_.bytes(); }

 private:
  Packed packed_;
  const size_t count_;
  const MPI_Datatype type_;
  const TypeFacts& facts_;
  const MPI_Comm comm_;
};

// The elements as opaque bytes, packed where they don't lie densely; the gaps of the user's buffers stay untouched.
int reduce_by_mpi(const Decision& decision, const ReduceCall& call) {
  const TypeFacts& facts = *decision.facts;
  const auto count = static_cast<size_t>(call.count);
  if (facts.size == 0) return answer(decision, call.collective, call.comm, HOCKET_OK);
  const hocket_type_t type = HOCKET_TYPE_OPAQUE(facts.size);
  const bool gets_result = !call.is_rooted() || call.root == decision.communicator->rank;
  if (facts.is_dense_array(count)) {
    const void* input = decision.in_place ? nullptr : first_byte(call.input, facts);
    void* output = gets_result ? first_byte(call.output, facts) : nullptr;
    const hocket_status_t status = run(decision, call, input, output, type);
    return answer(decision, call.collective, call.comm, status, last_operation_error());
  }
  PackedOperand input(Packed::Use::kInput, count, call.type, facts, call.comm);
  PackedOperand output(Packed::Use::kOutput, count, call.type, facts, call.comm);
  int error = decision.in_place ? output.pack(call.output) : input.pack(call.input);
  if (gets_result && !decision.in_place) output.make_room();
  const hocket_status_t status = run(decision, call, input.bytes(), output.bytes(), type);
  if (status == HOCKET_OK && error == MPI_SUCCESS) error = last_operation_error();
  if (status == HOCKET_OK && error == MPI_SUCCESS && gets_result) error = output.unpack(call.output);
  return answer(decision, call.collective, call.comm, status, error);
}

int copy_alone(const Decision& decision, const ReduceCall& call) {
  const TypeFacts& facts = *decision.facts;
  const auto count = static_cast<size_t>(call.count);
  decision.communicator->counters.add(call.collective, Outcome::kSingleRank);
  if (decision.in_place || count == 0) return MPI_SUCCESS;
  if (facts.is_dense_array(count)) {
    std::memmove(first_byte(call.output, facts), first_byte(call.input, facts), count * facts.size);
    return MPI_SUCCESS;
  }
  Packed copy(Packed::Use::kInput);
  if (!copy.make_room(count, facts)) {  // nobody waits
    const NestedCall nested;
    next_pmpi().Comm_call_errhandler(call.comm, MPI_ERR_NO_MEM);
    return MPI_ERR_NO_MEM;
  }
  const int error = copy.pack(call.input, count, call.type, facts, call.comm);
  return error != MPI_SUCCESS ? error : copy.unpack(call.output, count, call.type, facts, call.comm);
}

}  // namespace

int raise_failure(const Decision& decision, Collective collective, MPI_Comm comm) {
  decision.communicator->counters.add(collective, Outcome::kFailed);
  const NestedCall nested;
  next_pmpi().Comm_call_errhandler(comm, MPI_ERR_OTHER);
  return MPI_ERR_OTHER;
}

int carry_out_barrier(const Decision& decision, MPI_Comm comm) {
  if (decision.why == Outcome::kSingleRank) return answer(decision, Collective::kBarrier, comm, HOCKET_OK);
  return answer(decision, Collective::kBarrier, comm, hocket_barrier(decision.communicator->comm));
}

int carry_out_broadcast(const Decision& decision, void* buffer, MPI_Count count, MPI_Datatype type, int root,
                        MPI_Comm comm) {
  constexpr Collective kThis = Collective::kBroadcast;
  if (decision.why == Outcome::kSingleRank) return answer(decision, kThis, comm, HOCKET_OK);
  const TypeFacts& facts = *decision.facts;
  const auto elements = static_cast<size_t>(count);
  hocket_comm_t* const hocket_comm = decision.communicator->comm;
  if (facts.is_dense_array(elements)) [[likely]] {
    return answer(decision, kThis, comm,
                  hocket_broadcast(hocket_comm, first_byte(buffer, facts), elements * facts.size, HOCKET_BYTE, root));
  }
  PackedOperand data(Packed::Use::kInput, elements, type, facts, comm);
  int error = MPI_SUCCESS;
  if (decision.communicator->rank == root) {
    error = data.pack(buffer);
  } else {
    data.make_room();
  }
  const hocket_status_t status = hocket_broadcast(hocket_comm, data.bytes(), elements * facts.size, HOCKET_BYTE, root);
  if (status == HOCKET_OK && decision.communicator->rank != root) error = data.unpack(buffer);
  return answer(decision, kThis, comm, status, error);
}

int carry_out_reduce(const Decision& decision, const ReduceCall& call) {
  if (decision.why == Outcome::kSingleRank) return copy_alone(decision, call);
  if (decision.operation.by == Operation::By::kMpi) return reduce_by_mpi(decision, call);
  return answer(decision, call.collective, call.comm,
                run(decision, call, call.input, call.output, decision.facts->hocket_type));
}

}  // namespace hocket::interposer
