// SPDX-License-Identifier: BSD-3-Clause
#include "shim/collectives/movement.h"

#include <algorithm>
#include <optional>

#include "shim/buffers/packed_blocks.h"
#include "shim/collectives/arguments.h"
#include "shim/collectives/misfit.h"

namespace hocket::interposer {
namespace {

using MoveFindings = MoveCall::Findings;

// Whose blocks a side holds.
enum class Holds : uint8_t { kOwn, kAll, kAllAtRoot };

struct Movement {
  Holds send, receive;

  bool is_rooted() const { return send == Holds::kAllAtRoot || receive == Holds::kAllAtRoot; }
  bool is_exchange() const { return send == receive; }
};

constexpr Movement movement_of(Collective collective) {
  constexpr Movement kGathers{Holds::kOwn, Holds::kAllAtRoot}, kScatters{Holds::kAllAtRoot, Holds::kOwn};
  constexpr Movement kCollects{Holds::kOwn, Holds::kAll}, kExchanges{Holds::kAll, Holds::kAll};
  constexpr Movement kFromGather[] = {kGathers,  kGathers,   kScatters,  kScatters, kCollects,
                                      kCollects, kExchanges, kExchanges, kExchanges};
  static_assert(static_cast<int>(Collective::kAlltoallw) - static_cast<int>(Collective::kGather) == 8);
  return kFromGather[static_cast<int>(collective) - static_cast<int>(Collective::kGather)];
}

// Finds out what the sides hold on this rank. False: the arguments look wrong.
bool measure_sides(const MoveCall& call, const Movement& movement, Communicator& communicator, MoveFindings& findings) {
  const bool is_root = !movement.is_rooted() || call.root == communicator.rank;
  const bool is_scatter = movement.send == Holds::kAllAtRoot;
  findings.is_in_place = is_root && (is_scatter ? call.receive : call.send).buffer == MPI_IN_PLACE;
  size_t* const numbers = numbers_of(communicator);
  if (numbers == nullptr) end_without_memory(communicator.size * 4 * sizeof *numbers, "for counts");
  const auto look = [&](Holds holds, const Side& side, size_t* room, Blocks& blocks) {
    if (holds == Holds::kAllAtRoot && !is_root) return true;
    const bool is_own = holds == Holds::kOwn;
    return measure(side, is_own ? 1 : communicator.size, is_own ? 0 : communicator.rank, room, blocks);
  };
  const bool sends = is_scatter || !findings.is_in_place, receives = !is_scatter || !findings.is_in_place;
  if (sends && !look(movement.send, call.send, numbers, findings.send)) return false;
  return !receives || look(movement.receive, call.receive, numbers + 2 * communicator.size, findings.receive);
}

bool have_one_type(const MoveCall& call) {
  return call.send.type == call.receive.type && call.send.types == call.receive.types;
}

// The same memory as input and output.
bool is_aliased(const MoveCall& call, const Movement& movement, int rank, const MoveFindings& findings) {
  if (movement.is_exchange()) {
    return call.send.buffer == call.receive.buffer && call.send.count == call.receive.count && have_one_type(call) &&
           call.send.counts.address() == call.receive.counts.address() &&
           call.send.displacements.address() == call.receive.displacements.address();
  }
  const bool sends_own = movement.send == Holds::kOwn;
  return address_of(call.send, findings.send, sends_own ? 0 : rank) ==
         address_of(call.receive, findings.receive, sends_own ? rank : 0);
}

// Where a rank sees both ends of its own block, they should fit together. False: the arguments look wrong.
bool fits(const MoveCall& call, const Movement& movement, int rank, MoveFindings& findings) {
  if (findings.send.number == 0 || findings.receive.number == 0) return true;
  findings.is_misfit = findings.send.own_bytes != findings.receive.own_bytes;
  if (findings.is_misfit) return true;
  if (findings.send.own_bytes == 0 || call.send.buffer == nullptr) return true;
  if (!is_aliased(call, movement, rank, findings)) [[likely]]
    return true;
  if (same_buffer_is_refused() && have_one_type(call)) return false;
  findings.is_in_place = true;
  (movement.send == Holds::kAllAtRoot ? findings.receive : findings.send) = Blocks{};
  return true;
}

// Bytes of a block, the same on every rank.
size_t block_bytes(const MoveFindings& findings) {
  return findings.receive.number != 0 ? findings.receive.bytes : findings.send.bytes;
}

Waiting waiting(const MoveCall& call, const Communicator& communicator, const MoveFindings& findings) {
  const auto all_if = [](bool all_wait) { return all_wait ? Waiting::kAll : Waiting::kNotAll; };
  switch (call.collective) {
    case Collective::kAllgather:
    case Collective::kAlltoall:
      return all_if(block_bytes(findings) != 0);
    case Collective::kAllgatherv:
      return all_if(have_all(findings.receive.counts, communicator.size));
    case Collective::kAlltoallv:
    case Collective::kAlltoallw: {
      // A block of its own it need not wait for.
      const size_t* const counts = findings.receive.counts;
      return have_all(counts, communicator.rank) &&
                     have_all(counts + communicator.rank + 1, communicator.size - communicator.rank - 1)
                 ? Waiting::kThisRank
                 : Waiting::kNotThisRank;
    }
    default:
      return Waiting::kNotAll;
  }
}

hocket_status_t run(const MoveCall& call, const Decision& decision, const Blocks& send, const Blocks& receive,
                    const MoveFindings& findings, OnDemand* on_demand = nullptr) {
  Arguments arguments = arguments_of_bytes(call.collective, call.root);
  const hocket_status_t status = fill(call, decision, send, receive, findings, arguments);
  if (status != HOCKET_OK) [[unlikely]]
    return status;
  arguments.on_demand = on_demand;
  return c_api::run(decision.communicator->comm, arguments);
}

// In the room instead of the program's memory.
void replace(Blocks& blocks, const Packed& packed) {
  blocks.first = packed.bytes();
  blocks.displacements = nullptr;
}

// The room of a side that is packed; long ones are in parts.
struct PackedSide {
  Packed room;
  std::optional<PackedBlocks> parts;

  PackedSide(Packed::Use use, MPI_Comm comm) : room(use, comm) {}
  PackedBlocks* get_parts() { return parts ? &*parts : nullptr; }
};

void make_room(const Side& side, const Blocks& blocks, const Decision& decision, PackedSide& packed) {
  const size_t bytes = total_bytes(side, blocks);
  packed.room.make_room(bytes);
  if (PackedOnDemand::is_worth_while(decision.communicator->comm, bytes)) {
    packed.parts.emplace(packed.room, side, blocks);
  }
}

void prepare_input(const MoveCall& call, const Decision& decision, const Blocks& blocks, PackedSide& input) {
  make_room(call.send, blocks, decision, input);
  if (!input.parts) pack_all(call.send, blocks, input.room);
}

void prepare_output(const MoveCall& call, const Decision& decision, const MoveFindings& findings, PackedSide& output) {
  make_room(call.receive, findings.receive, decision, output);
  if (!findings.is_in_place) return;
  // What the room holds already is input.
  if (movement_of(call.collective).is_exchange()) {
    pack_all(call.receive, findings.receive, output.room);
  } else {
    pack_one(call.receive, findings.receive, decision.communicator->rank, output.room);
  }
}

hocket_status_t run_packed(const MoveCall& call, const Decision& decision, const Blocks& send, const Blocks& receive,
                           const MoveFindings& findings, PackedSide& input, PackedSide& output) {
  if (!input.parts && !output.parts) return run(call, decision, send, receive, findings);
  PackedOnDemand on_demand(input.get_parts(), output.get_parts());
  return run(call, decision, send, receive, findings, &on_demand);
}

int move_packed(const MoveCall& call, const Decision& decision, const MoveFindings& findings) {
  const NotesStaged notes(decision.communicator->trial);
  Blocks send = findings.send, receive = findings.receive;
  PackedSide input(Packed::Use::kInput, call.comm), output(Packed::Use::kOutput, call.comm);
  if (send.is_packed) {
    prepare_input(call, decision, send, input);
    replace(send, input.room);
  }
  if (receive.is_packed) {
    prepare_output(call, decision, findings, output);
    replace(receive, output.room);
  }
  hocket_status_t status = HOCKET_OK;
  int packing_error = input.room.error() != MPI_SUCCESS ? input.room.error() : output.room.error();
  if (packing_error == MPI_SUCCESS) {
    status = run_packed(call, decision, send, receive, findings, input, output);
    packing_error = input.room.error();
  }
  if (packing_error != MPI_SUCCESS) return give_up(decision, call.collective, packing_error, kPackingFailed);
  if (status == HOCKET_OK && output.parts) {
    output.parts->unpack_rest();
  } else if (status == HOCKET_OK && receive.is_packed) {
    unpack_all(call.receive, findings.receive, output.room);
  }
  return answer(decision, call.collective, call.comm, status, output.room.error());
}

// Inline: by a call of its own a blocking one of one rank takes 2 ns longer.
inline std::optional<OwnCopy> find_own_copy(const MoveCall& call, const MoveFindings& findings) {
  if (findings.is_in_place || findings.receive.own_bytes == 0) return std::nullopt;
  return OwnCopy{block(call.send, findings.send, 0), block(call.receive, findings.receive, 0),
                 !findings.send.is_packed && !findings.receive.is_packed};
}

}  // namespace

bool is_exchange(Collective collective) { return movement_of(collective).is_exchange(); }

std::optional<OwnCopy> own_copy(const MoveCall& call, const MoveFindings& findings) {
  return find_own_copy(call, findings);
}

hocket_status_t fill(const MoveCall& call, const Decision& decision, const Blocks& send, const Blocks& receive,
                     const MoveFindings& findings, Arguments& arguments) {
  arguments.input = reinterpret_cast<const std::byte*>(send.first);
  arguments.output = reinterpret_cast<std::byte*>(receive.first);
  arguments.input_blocks = {send.counts, send.displacements};
  arguments.output_blocks = {receive.counts, receive.displacements};
  const bool differ = send.counts != nullptr || receive.counts != nullptr;
  if (!differ || !movement_of(call.collective).is_exchange())
    arguments.count = (receive.number != 0 ? receive : send).own_bytes;
  if (findings.is_in_place) {
    set_in_place(arguments, static_cast<uint32_t>(decision.communicator->rank));
  } else if (!differ) {
    return c_api::check_apart(arguments, send.bytes * static_cast<size_t>(send.number),
                              receive.bytes * static_cast<size_t>(receive.number));
  } else {
    // One buffer, with sides that the program describes for themselves.
    arguments.in_place =
        movement_of(call.collective).is_exchange() && send.first != nullptr && send.first == receive.first;
  }
  return HOCKET_OK;
}

Decision decide(const MoveCall& call, MoveFindings& findings, CallForm form) {
  Decision decision;
  if (!find_open_communicator(call.comm, decision)) return decision;
  Communicator& communicator = *decision.communicator;
  const Movement movement = movement_of(call.collective);
  if (movement.is_rooted() && (call.root < 0 || call.root >= communicator.size)) return decision;
  if (!measure_sides(call, movement, communicator, findings)) return decision;
  if (!fits(call, movement, communicator.rank, findings)) return decision;
  if (findings.is_misfit && communicator.size == 1) return decision;
  decision.why = readiness(communicator, call.comm, form, [&] { return waiting(call, communicator, findings); });
  return decision;
}

RuleKey rule_key_of(const MoveCall& call, const Communicator& communicator, const MoveFindings& findings) {
  const schedule::Collective collective = hocket_collective(call.collective);
  if (!schedule::lengths_are_agreed(collective)) return {collective, 0};
  // A root that expects more than ranks send is served all the same.
  if (call.collective == Collective::kGather && findings.send.number != 0) return {collective, findings.send.bytes};
  const size_t* const counts = findings.receive.counts;
  const bool differ = schedule::is_vector(collective) && counts != nullptr;
  return {collective, differ ? *std::max_element(counts, counts + communicator.size) : block_bytes(findings)};
}

int carry_out(const MoveCall& call, const Decision& decision, const MoveFindings& findings) {
  if (decision.why == Outcome::kSingleRank) return copy_alone(call, decision, find_own_copy(call, findings));
  if (findings.is_misfit) [[unlikely]]
    return carry_out_misfit(call, decision, findings);
  if (findings.send.is_packed || findings.receive.is_packed) [[unlikely]]
    return move_packed(call, decision, findings);
  return answer(decision, call.collective, call.comm, run(call, decision, findings.send, findings.receive, findings));
}

}  // namespace hocket::interposer
