// SPDX-License-Identifier: BSD-3-Clause
#include "shim/requests/start.h"

#include <mutex>

#include "c_api/internal/call.h"
#include "shim/buffers/device_transfer.h"
#include "shim/buffers/packing.h"

namespace hocket::interposer {
namespace {

// As the one that uses the communicator.
hocket_status_t start_only_by_engines(const Decision& decision, Arguments arguments, PendingCall& pending) {
  Communicator& communicator = *decision.communicator;
  arguments.only_by_engines = true;
  const std::lock_guard lock(communicator.lock);
  return c_api::start(communicator.comm, arguments, &pending.request);
}

// The program may free the type before the call is over; a new one made of it doesn't run its attributes' callbacks,
// as a duplicate would.
int keep_type(const BroadcastCall& call, const TypeFacts& facts, Unpacking& packed) {
  const int error = next_pmpi().Type_contiguous(static_cast<int>(call.count), call.type, &packed.type);
  if (error != MPI_SUCCESS) return error;
  packed.has_type = true;
  packed.buffer = call.buffer;
  packed.true_lb = facts.true_lb;
  return next_pmpi().Type_commit(&packed.type);
}

hocket_status_t start_packed(const BroadcastCall& call, const Decision& decision, const Elements& elements,
                             PendingCall& pending) {
  pending.packed = std::make_unique<Unpacking>();
  Unpacking& packed = *pending.packed;
  packed.bytes.resize(elements.bytes());
  const bool is_root = decision.communicator->rank == call.root;
  pending.mpi_error =
      is_root ? pack(elements, packed.bytes.data(), call.comm) : keep_type(call, *elements.facts, packed);
  if (pending.mpi_error != MPI_SUCCESS) return HOCKET_ERR_BROKEN;
  return start_only_by_engines(decision, arguments_of(call, packed.bytes.data(), packed.bytes.size()), pending);
}

// What engines are given of a reduction.
struct Operands {
  const void* input;
  void* output;
};

// Copies of what only a driver reaches. An MPI error, or MPI_SUCCESS.
int stage(const ReduceCall& call, const ReduceCall::Findings& findings, PendingCall& pending, Operands& operands) {
  if (!device::may_be_there()) [[likely]]
    return MPI_SUCCESS;
  const size_t stride = static_cast<size_t>(findings.facts->extent), bytes = findings.operand * stride;
  const bool is_input_staged = !findings.is_in_place && device::needs_staging(call.input, bytes);
  const bool is_output_staged = device::needs_staging(call.output, findings.result * stride);
  if (!is_input_staged && !is_output_staged) return MPI_SUCCESS;
  pending.packed = std::make_unique<Unpacking>();
  Unpacking& copies = *pending.packed;
  int error = MPI_SUCCESS;
  if (is_input_staged) {
    copies.input.resize(bytes);
    operands.input = copies.input.data();
    error = copy_from_device(call.input, copies.input.data(), bytes, call.comm);
  }
  if (!is_output_staged || error != MPI_SUCCESS) return error;
  copies.bytes.resize(bytes);
  copies.buffer = operands.output;
  copies.goes_as_it_is = true;
  operands.output = copies.bytes.data();
  return findings.is_in_place ? copy_from_device(call.output, copies.bytes.data(), bytes, call.comm) : error;
}

}  // namespace

hocket_status_t start(const BarrierCall&, const Decision& decision, const BarrierCall::Findings&,
                      PendingCall& pending) {
  return start_only_by_engines(decision, arguments_of_bytes(Collective::kBarrier, 0), pending);
}

hocket_status_t start(const BroadcastCall& call, const Decision& decision, const BroadcastCall::Findings& findings,
                      PendingCall& pending) {
  if (findings.bytes == 0 || findings.bytes > c_api::most_bytes_by_engines()) return HOCKET_ERR_NOT_SUPPORTED;
  const Elements elements{call.buffer, static_cast<size_t>(call.count), call.type, findings.facts};
  if (!elements.lie_ready()) return start_packed(call, decision, elements, pending);
  return start_only_by_engines(decision, arguments_of(call, elements.first_byte(), findings.bytes), pending);
}

hocket_status_t start(const ReduceCall& call, const Decision& decision, const ReduceCall::Findings& findings,
                      PendingCall& pending) {
  if (findings.operation.by != Operation::By::kHocket) return HOCKET_ERR_NOT_SUPPORTED;
  Operands operands{call.input, call.output};
  pending.mpi_error = stage(call, findings, pending, operands);
  if (pending.mpi_error != MPI_SUCCESS) return HOCKET_ERR_BROKEN;
  Arguments arguments;
  const hocket_status_t status = fill(call, decision, findings, operands.input, operands.output, arguments);
  return status == HOCKET_OK ? start_only_by_engines(decision, arguments, pending) : status;
}

Decision find_starter(MPI_Comm comm) {
  Decision decision;
  decision.communicator = find_communicator(comm);
  if (decision.communicator == nullptr) return decision;
  const Communicator& communicator = *decision.communicator;
  if (communicator.phase == Phase::kCounting)
    decision.why = Outcome::kNotSetUp;
  else if (communicator.phase == Phase::kRefused && communicator.refusal != Outcome::kFailed)
    decision.why = communicator.refusal;
  else
    decision.why = communicator.may_begin ? Outcome::kCarriedOut : Outcome::kNotByEngines;
  return decision;
}

bool has_started(const Decision& decision, hocket_status_t status, std::list<PendingCall>& one, MPI_Request* request,
                 int& error) {
  const PendingCall& pending = one.front();
  const Collective collective = pending.collective;
  const MPI_Comm comm = pending.comm;
  const int mpi_error = pending.mpi_error;
  if (status == HOCKET_OK) {
    error = take_into_list(one, request);
    // Peers hear of it; what has been started goes on.
    if (error != MPI_SUCCESS) give_up(decision, collective, error, "the MPI has no request for it");
    advance_pending();
    return true;
  }
  // Release: as in HeldLock (pending.cc).
  decision.communicator->pending.fetch_sub(1, std::memory_order_release);
  if (status == HOCKET_ERR_NOT_SUPPORTED) return false;
  error = mpi_error != MPI_SUCCESS ? give_up(decision, collective, mpi_error, kPackingFailed)
                                   : raise_status(decision, collective, comm, status);
  return true;
}

}  // namespace hocket::interposer
