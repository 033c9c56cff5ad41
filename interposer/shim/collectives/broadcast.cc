// SPDX-License-Identifier: BSD-3-Clause
#include "shim/collectives/broadcast.h"

#include <algorithm>

#include "shim/buffers/packed_blocks.h"
#include "shim/buffers/pieces.h"
#include "shim/buffers/stream.h"

namespace hocket::interposer {

Decision decide(const BarrierCall& call, BarrierCall::Findings&, CallForm form) {
  Decision decision;
  if (!find_open_communicator(call.comm, decision)) return decision;
  decision.why = readiness(*decision.communicator, call.comm, form, [] { return Waiting::kAll; });
  return decision;
}

int carry_out(const BarrierCall& call, const Decision& decision, const BarrierCall::Findings&) {
  const bool is_alone = decision.why == Outcome::kSingleRank;
  return answer(
      decision, call.collective, call.comm,
      is_alone ? HOCKET_OK : c_api::run(decision.communicator->comm, arguments_of_bytes(Collective::kBarrier, 0)));
}

Decision decide(const BroadcastCall& call, BroadcastCall::Findings& findings, CallForm form) {
  Decision decision;
  if (!find_open_communicator(call.comm, decision)) return decision;
  if (call.count < 0 || call.root < 0 || call.root >= decision.communicator->size) return decision;
  findings.facts = find_type(call.type);
  if (findings.facts == nullptr || !is_buffer(call.buffer, call.count == 0, *findings.facts)) return decision;
  // What no memory can hold must be a mistake.
  ptrdiff_t bytes = 0;
  if (__builtin_mul_overflow(static_cast<size_t>(call.count), findings.facts->size, &bytes)) return decision;
  findings.bytes = static_cast<size_t>(bytes);
  decision.why = readiness(*decision.communicator, call.comm, form, [] { return Waiting::kNotAll; });
  return decision;
}

Arguments arguments_of(const BroadcastCall& call, const void* bytes, size_t length) {
  Arguments arguments = arguments_of_bytes(Collective::kBroadcast, call.root);
  arguments.output = static_cast<std::byte*>(const_cast<void*>(bytes));
  arguments.count = length;
  return arguments;
}

namespace {

// `broadcast(where it begins, its bytes)` for one piece after the other, until one fails.
template <typename Broadcast>
hocket_status_t in_pieces(size_t bytes, const Broadcast& broadcast) {
  hocket_status_t status = HOCKET_OK;
  for (size_t at = 0; at < bytes && status == HOCKET_OK; at += piece_of(bytes)) {
    status = broadcast(at, std::min(piece_of(bytes), bytes - at));
  }
  return status;
}

int broadcast_on_demand(const BroadcastCall& call, const Decision& decision, const Elements& elements) {
  hocket_comm_t* const comm = decision.communicator->comm;
  const bool is_root = decision.communicator->rank == call.root;
  Packed room(Packed::Use::kInput, call.comm);
  room.make_room(elements.bytes());
  PackedBlocks block(room, elements);
  PackedOnDemand on_demand(is_root ? &block : nullptr, is_root ? nullptr : &block);
  Arguments arguments = arguments_of(call, room.bytes(), elements.bytes());
  arguments.on_demand = &on_demand;
  const hocket_status_t status = c_api::run(comm, arguments);
  if (is_root && room.error() != MPI_SUCCESS) return give_up(decision, call.collective, room.error(), kPackingFailed);
  if (!is_root && status == HOCKET_OK) block.unpack_rest();
  return answer(decision, call.collective, call.comm, status, room.error());
}

int broadcast_packed(const BroadcastCall& call, const Decision& decision, const Elements& elements) {
  const NotesStaged notes(decision.communicator->trial);
  hocket_comm_t* const comm = decision.communicator->comm;
  const size_t bytes = elements.bytes();
  if (bytes <= kLongestWhole && PackedOnDemand::is_worth_while(comm, bytes)) {
    return broadcast_on_demand(call, decision, elements);
  }
  const bool is_root = decision.communicator->rank == call.root;
  Stream stream(elements, piece_of(bytes), call.comm);
  bool has_failed = false;
  const hocket_status_t status = in_pieces(bytes, [&](size_t, size_t length) {
    if (!is_root) {
      const hocket_status_t arrived = c_api::run(comm, arguments_of(call, stream.place_for_next(), length));
      if (arrived == HOCKET_OK) stream.unpack_next(length);
      return arrived;
    }
    const unsigned char* piece = stream.pack_next(length);
    has_failed = stream.error() != MPI_SUCCESS;
    if (has_failed) return HOCKET_ERR_BROKEN;
    return c_api::run(comm, arguments_of(call, piece, length));
  });
  if (has_failed) return give_up(decision, call.collective, stream.error(), kPackingFailed);
  return answer(decision, call.collective, call.comm, status, stream.error());
}

}  // namespace

int carry_out(const BroadcastCall& call, const Decision& decision, const BroadcastCall::Findings& findings) {
  if (decision.why == Outcome::kSingleRank) return answer(decision, call.collective, call.comm, HOCKET_OK);
  const Elements elements{call.buffer, static_cast<size_t>(call.count), call.type, findings.facts};
  if (findings.bytes != 0 && !elements.lie_ready()) [[unlikely]]
    return broadcast_packed(call, decision, elements);
  const auto broadcast = [&](size_t at, size_t length) {
    return c_api::run(decision.communicator->comm, arguments_of(call, elements.first_byte() + at, length));
  };
  const bool is_whole = findings.bytes <= kLongestWhole;
  const hocket_status_t status = is_whole ? broadcast(0, findings.bytes) : in_pieces(findings.bytes, broadcast);
  return answer(decision, call.collective, call.comm, status);
}

}  // namespace hocket::interposer
