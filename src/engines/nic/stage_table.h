// SPDX-License-Identifier: BSD-3-Clause
// Schedules as tables of triggered messages, which a NIC engine carries out (protocol/table.h).
//
// Thread safety: pure.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/status.h"
#include "protocol/table.h"
#include "schedule/plan.h"

namespace hocket::engines::nic {

// How messages are made sure of: the schemes of Yu, Buntinas, Graham, Panda, Efficient and Scalable Barrier over
// Quadrics and Myrinet with a New NIC-Based Collective Message Passing Protocol (2004).
enum class Mode : uint8_t {
  kCollective,  // a member that misses one asks for it (Myrinet's way there)
  kChain,       // nothing is: the wire loses none (Quadrics' way there)
  kDirect,      // each is acknowledged and repeated by itself, as between any two (the direct scheme there)
};

// How a schedule becomes a table.
struct Form {
  Mode mode = Mode::kCollective;
  // Of a reduction or a broadcast: a member that has completed it knows that all hosts have started it
  // (NIC_SYNCHRONIZES). The schedule is carried out backwards as well, by messages without content: of a reduction
  // afterwards, of a broadcast before.
  bool synchronizes = false;
  // Operands are combined in the order in which they come (as in Buntinas, Panda, NIC-Based Reduction in Myrinet
  // Clusters: Is It Beneficial?), so that results depend on it where an operation isn't associative and commutative to
  // the last bit. Otherwise in the schedule's order, when the last has come. Refused if a rank sends on what it has
  // combined before all that it combines have come.
  bool on_arrival = false;
};

// Whether a table has room for it. Reasons to refuse (kNotSupported): it is not made of messages between ranks and of
// copies, it cuts operands into parts, or has more messages than a table has room for.
Status can_hold(const schedule::Plan& plan, const Form& form = {});

// The part of `rank`, as member of the same number, in the schedule whose plan of rank r is plan_of(r). Plans of ranks
// that it exchanges messages with are asked for too, each time anew. Refused as above.
//
// Barriers, and for one root, 0, collectives that have one: their tables serve any root.
Result<nic_program> stage_table(uint32_t rank, const Form& form,
                                const std::function<schedule::Plan(uint32_t)>& plan_of);

// The same of all ranks: each plan is asked for a few times, and not once for each other rank.
Result<std::vector<nic_program>> stage_tables(uint32_t size, const Form& form,
                                              const std::function<schedule::Plan(uint32_t)>& plan_of);

// A barrier by broadcast among `size` ranks, as Elanlib's hgsync over Quadrics: rank 0 asks all by one packet, each
// answers whether its host has started, and if all have, another packet lets them go. If not, `plan_of`'s schedule is
// carried out instead, as gsync is there. Refused as above; rank 0 hears from all others, which limits their number.
Result<nic_program> broadcast_table(uint32_t rank, uint32_t size,
                                    const std::function<schedule::Plan(uint32_t)>& plan_of);

}  // namespace hocket::engines::nic
