// SPDX-License-Identifier: BSD-3-Clause
// Who carries a call out. Nothing is communicated here except when a communicator is set up.
#include <climits>

#include "shim/collectives.h"

namespace hocket::interposer {
namespace {

// Packing counts in int, and any rank may have to pack.
constexpr size_t kLargestPacked = INT_MAX;

// A revoked communicator is the MPI's, which raises the error. MPICH can't be asked.
bool is_revoked(MPI_Comm comm) {
  const IsRevoked ask = next_pmpi().Comm_is_revoked;
  int revoked = 0;
  return ask != nullptr && ask(comm, &revoked) == MPI_SUCCESS && revoked != 0;
}

// The last step: everything about the call is in order, so it counts.
Outcome readiness(Communicator& communicator, MPI_Comm comm) {
  if (is_revoked(comm)) [[unlikely]]
    return Outcome::kFreed;
  if (communicator.phase == Phase::kReady) [[likely]]
    return Outcome::kCarriedOut;
  return prepare_communicator(communicator, comm);
}

bool is_refused(const Decision& decision) { return decision.communicator->phase == Phase::kRefused; }

bool is_packable(MPI_Count count, size_t size) {
  size_t bytes = 0;
  return !__builtin_mul_overflow(static_cast<size_t>(count), size, &bytes) && bytes <= kLargestPacked;
}

// The ranks of a reduction have the same type, so all of them find the same.
Outcome judge_size(const ReduceCall& call, const Decision& decision) {
  const bool by_mpi = decision.operation.by == Operation::By::kMpi;
  const bool is_alone = decision.communicator->phase == Phase::kAlone;
  // Hocket's kernels take types with gaps, such as MPI_DOUBLE_INT, as they are; the copy on a single rank packs them.
  const bool may_pack = by_mpi || (is_alone && !decision.facts->is_dense_array(static_cast<size_t>(call.count)));
  if (may_pack && !is_packable(call.count, decision.facts->size)) return Outcome::kTooLarge;
  if (by_mpi && !is_alone && decision.facts->size > HOCKET_MAX_COMBINED_BYTES) return Outcome::kLongElements;
  return readiness(*decision.communicator, call.comm);
}

// Absolute addresses in derived types are relative to MPI_BOTTOM, which is NULL; predefined ones can't be there.
bool is_buffer(const void* buffer, MPI_Count count, const TypeFacts& facts) {
  if (buffer == MPI_IN_PLACE) return false;
  return buffer != nullptr || count == 0 || !facts.is_named;
}

bool are_buffers(const ReduceCall& call, Decision& decision) {
  const Communicator& communicator = *decision.communicator;
  const bool gets_result = !call.is_rooted() || call.root == communicator.rank;
  decision.in_place = call.input == MPI_IN_PLACE;
  if (decision.in_place && !gets_result) return false;
  if (!decision.in_place && !is_buffer(call.input, call.count, *decision.facts)) return false;
  if (!gets_result) return true;
  if (!is_buffer(call.output, call.count, *decision.facts)) return false;
  if (call.input == call.output && call.count > 0 && call.input != nullptr) {
    if (same_buffer_is_refused()) return false;
    decision.in_place = true;
  }
  return true;
}

}  // namespace

Decision decide_barrier(MPI_Comm comm) {
  Decision decision;
  decision.communicator = find_communicator(comm);
  if (decision.communicator != nullptr) decision.why = readiness(*decision.communicator, comm);
  return decision;
}

Decision decide_broadcast(const void* buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm) {
  Decision decision;
  decision.communicator = find_communicator(comm);
  if (decision.communicator == nullptr) return decision;
  if (is_refused(decision)) {
    decision.why = decision.communicator->refusal;
    return decision;
  }
  if (count < 0 || root < 0 || root >= decision.communicator->size) return decision;
  decision.facts = find_type(type, comm);
  if (decision.facts == nullptr || !is_buffer(buffer, count, *decision.facts)) return decision;
  decision.why =
      is_packable(count, decision.facts->size) ? readiness(*decision.communicator, comm) : Outcome::kTooLarge;
  return decision;
}

Decision decide_reduce(const ReduceCall& call) {
  Decision decision;
  decision.communicator = find_communicator(call.comm);
  if (decision.communicator == nullptr) return decision;
  if (is_refused(decision)) {
    decision.why = decision.communicator->refusal;
    return decision;
  }
  if (call.count < 0 || call.root < 0 || call.root >= decision.communicator->size) return decision;
  decision.facts = find_type(call.type, call.comm);
  if (decision.facts == nullptr || !are_buffers(call, decision)) return decision;
  decision.operation = find_operation(call.op, call.type, *decision.facts, call.comm, static_cast<size_t>(call.count));
  switch (decision.operation.by) {
    case Operation::By::kHocket:
    case Operation::By::kMpi:
      decision.why = judge_size(call, decision);
      break;
    case Operation::By::kUndefined:
      decision.why = Outcome::kUnsupported;
      break;
    case Operation::By::kInvalid:
      break;
  }
  return decision;
}

}  // namespace hocket::interposer
