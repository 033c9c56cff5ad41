// SPDX-License-Identifier: BSD-3-Clause
#include "shim/collectives/misfit.h"

#include <algorithm>
#include <memory>
#include <new>

#include "shim/buffers/packing.h"
#include "shim/job/errors.h"
#include "shim/job/job.h"
#include "shim/underneath/handles.h"

namespace hocket::interposer {
namespace {

using MoveFindings = MoveCall::Findings;

// As many whole elements as `bytes` packed ones are enough for.
int unpack_some(const unsigned char* from, size_t bytes, const Elements& to, MPI_Comm comm) {
  if (to.facts->size == 0) return MPI_SUCCESS;
  return unpack(from, to.part(0, std::min(bytes, to.bytes()) / to.facts->size), comm);
}

int copy_block(const Elements& from, const Elements& to, MPI_Comm comm) {
  Packed copy(Packed::Use::kInput, comm);
  copy.make_room(from.bytes());
  const int error = pack(from, copy.bytes(), comm);
  return error != MPI_SUCCESS ? error : unpack_some(copy.bytes(), from.bytes(), to, comm);
}

int truncated(const MoveCall& call, const MoveFindings& findings) {
  const bool is_truncated = findings.send.own_bytes > findings.receive.own_bytes;
  return is_truncated ? raise_error(call.comm, MPI_ERR_TRUNCATE) : MPI_SUCCESS;
}

// The peers' blocks without this rank's, which it then copies itself.
int carry_out_without_own(const MoveCall& call, const Decision& decision, const MoveFindings& findings) {
  const WithoutOwn without = leave_own_out(call, decision.communicator->rank, findings);
  const int error = carry_out(call, decision, without.findings);
  if (error != MPI_SUCCESS) return error;
  const int copied = copy_own(call, findings, without);
  return copied != MPI_SUCCESS ? copied : truncated(call, findings);
}

// Blocks of the length that this rank sends, to all ranks alike.
int carry_out_as_sent(const MoveCall& call, const Decision& decision, const MoveFindings& findings) {
  const size_t bytes = findings.send.bytes;
  const size_t all_bytes = bytes * static_cast<size_t>(findings.receive.number);
  // Not the thread's room for packed data, which the call itself may need.
  const std::unique_ptr<unsigned char[]> room(new (std::nothrow) unsigned char[all_bytes + 1]);
  if (room == nullptr) end_without_memory(all_bytes, "for blocks that don't fit");
  MoveCall sent = call;
  sent.receive = uniform_side(room.get(), static_cast<MPI_Count>(bytes), handles.byte);
  MoveFindings as_sent = findings;
  as_sent.is_misfit = false;
  as_sent.receive.is_packed = false;
  as_sent.receive.first = room.get();
  as_sent.receive.bytes = as_sent.receive.own_bytes = bytes;
  as_sent.receive.facts = find_type(handles.byte);
  int error = carry_out(sent, decision, as_sent);
  for (int i = 0; i < findings.receive.number && error == MPI_SUCCESS; ++i)
    error = unpack_some(room.get() + bytes * static_cast<size_t>(i), bytes, block(call.receive, findings.receive, i),
                        call.comm);
  return error != MPI_SUCCESS ? error : truncated(call, findings);
}

void leave_out(Blocks& blocks, int own) {
  blocks.bytes -= blocks.own_bytes;
  blocks.own_bytes = blocks.counts[own] = 0;
}

}  // namespace

WithoutOwn leave_own_out(const MoveCall& call, int rank, const MoveFindings& findings) {
  WithoutOwn without{findings, rank, rank};
  MoveFindings& rest = without.findings;
  rest.is_misfit = false;
  switch (call.collective) {
    case Collective::kGather:
    case Collective::kGatherv:
      rest.is_in_place = true;
      rest.send = Blocks{};
      without.sent = 0;
      break;
    case Collective::kScatter:
    case Collective::kScatterv:
      rest.is_in_place = true;
      rest.receive = Blocks{};
      without.received = 0;
      break;
    default:
      leave_out(rest.send, rank);
      leave_out(rest.receive, rank);
      break;
  }
  return without;
}

int copy_own(const MoveCall& call, const MoveFindings& findings, const WithoutOwn& without) {
  return copy_block(block(call.send, findings.send, without.sent),
                    block(call.receive, findings.receive, without.received), call.comm);
}

int carry_out_misfit(const MoveCall& call, const Decision& decision, const MoveFindings& findings) {
  switch (call.collective) {
    case Collective::kAllgather:
    case Collective::kAlltoall:
      return carry_out_as_sent(call, decision, findings);
    case Collective::kAllgatherv:
      return give_up(decision, call.collective, raise_error(call.comm, MPI_ERR_TRUNCATE),
                     "MPI_Allgatherv sends another length than it receives from itself");
    default:
      return carry_out_without_own(call, decision, findings);
  }
}

}  // namespace hocket::interposer
