// SPDX-License-Identifier: BSD-3-Clause
#include "shim/broadcast.h"

#include "shim/packing.h"

namespace hocket::interposer {

Decision decide(const BarrierCall& call, BarrierCall::Findings&) {
  Decision decision;
  if (find_open_communicator(call.comm, decision)) decision.why = readiness(*decision.communicator, call.comm);
  return decision;
}

int carry_out(const BarrierCall& call, const Decision& decision, const BarrierCall::Findings&) {
  const bool is_alone = decision.why == Outcome::kSingleRank;
  return answer(decision, call.collective, call.comm,
                is_alone ? HOCKET_OK : hocket_barrier(decision.communicator->comm));
}

Decision decide(const BroadcastCall& call, BroadcastCall::Findings& findings) {
  Decision decision;
  if (!find_open_communicator(call.comm, decision)) return decision;
  if (call.count < 0 || call.root < 0 || call.root >= decision.communicator->size) return decision;
  findings.facts = find_type(call.type, call.comm);
  if (findings.facts == nullptr || !is_buffer(call.buffer, call.count == 0, *findings.facts)) return decision;
  // What no memory can hold must be a mistake.
  if (__builtin_mul_overflow(static_cast<size_t>(call.count), findings.facts->size, &findings.bytes)) return decision;
  decision.why = readiness(*decision.communicator, call.comm);
  return decision;
}

int carry_out(const BroadcastCall& call, const Decision& decision, const BroadcastCall::Findings& findings) {
  if (decision.why == Outcome::kSingleRank) return answer(decision, call.collective, call.comm, HOCKET_OK);
  const Elements elements{call.buffer, static_cast<size_t>(call.count), call.type, findings.facts};
  hocket_comm_t* const comm = decision.communicator->comm;
  if (elements.is_dense()) [[likely]] {
    return answer(decision, call.collective, call.comm,
                  hocket_broadcast(comm, elements.first_byte(), findings.bytes, HOCKET_BYTE, call.root));
  }
  Packed data(Packed::Use::kInput, call.comm);
  data.make_room(findings.bytes);
  const bool is_root = decision.communicator->rank == call.root;
  if (is_root) data.pack_at(0, elements);
  if (data.error() != MPI_SUCCESS) return give_up(decision, call.collective, data.error(), kPackingFailed);
  const hocket_status_t status = hocket_broadcast(comm, data.bytes(), findings.bytes, HOCKET_BYTE, call.root);
  if (status == HOCKET_OK && !is_root) data.unpack_at(0, elements);
  return answer(decision, call.collective, call.comm, status, data.error());
}

}  // namespace hocket::interposer
