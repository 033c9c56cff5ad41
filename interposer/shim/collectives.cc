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
  Packed input(Packed::Use::kInput), output(Packed::Use::kOutput);
  Packed& from = decision.in_place ? output : input;
  int error = from.pack(decision.in_place ? call.output : call.input, count, call.type, facts, call.comm);
  if (error != MPI_SUCCESS) return error;
  if (gets_result && !decision.in_place) error = output.make_room(count, facts);
  if (error != MPI_SUCCESS) return error;
  const hocket_status_t status = run(decision, call, input.bytes(), output.bytes(), type);
  if (status == HOCKET_OK) error = last_operation_error();
  if (status == HOCKET_OK && error == MPI_SUCCESS && gets_result) {
    error = output.unpack(call.output, count, call.type, facts, call.comm);
  }
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
  Packed data(Packed::Use::kInput);
  const bool is_root = decision.communicator->rank == root;
  int error = is_root ? data.pack(buffer, elements, type, facts, comm) : data.make_room(elements, facts);
  if (error != MPI_SUCCESS) return error;
  const hocket_status_t status = hocket_broadcast(hocket_comm, data.bytes(), elements * facts.size, HOCKET_BYTE, root);
  if (status == HOCKET_OK && !is_root) error = data.unpack(buffer, elements, type, facts, comm);
  return answer(decision, kThis, comm, status, error);
}

int carry_out_reduce(const Decision& decision, const ReduceCall& call) {
  if (decision.why == Outcome::kSingleRank) return copy_alone(decision, call);
  if (decision.operation.by == Operation::By::kMpi) return reduce_by_mpi(decision, call);
  return answer(decision, call.collective, call.comm,
                run(decision, call, call.input, call.output, decision.facts->hocket_type));
}

}  // namespace hocket::interposer
