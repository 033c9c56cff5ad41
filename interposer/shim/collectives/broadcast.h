// SPDX-License-Identifier: BSD-3-Clause
// The barrier and the broadcast: calls for serve() of decision.h, which tells of errors, too.
//
// Thread safety: as decision.h.
#pragma once

#include <optional>

#include "shim/buffers/own_copy.h"
#include "shim/collectives/arguments.h"
#include "shim/collectives/decision.h"

namespace hocket::interposer {

struct BarrierCall {
  MPI_Comm comm;

  static constexpr Collective collective = Collective::kBarrier;
  struct Findings {};
};

struct BroadcastCall {
  void* buffer;
  MPI_Count count;
  MPI_Datatype type;
  int root;
  MPI_Comm comm;

  static constexpr Collective collective = Collective::kBroadcast;
  struct Findings {
    const TypeFacts* facts;
    size_t bytes;
  };
};

Decision decide(const BarrierCall& call, BarrierCall::Findings&, CallForm form);
inline RuleKey rule_key_of(const BarrierCall&, const Communicator&, const BarrierCall::Findings&) {
  return {schedule::Collective::kBarrier, 0};
}
// Of one rank, which has what it would get.
inline std::optional<OwnCopy> own_copy(const BarrierCall&, const BarrierCall::Findings&) { return std::nullopt; }
inline std::optional<OwnCopy> own_copy(const BroadcastCall&, const BroadcastCall::Findings&) { return std::nullopt; }
int carry_out(const BarrierCall& call, const Decision& decision, const BarrierCall::Findings&);

Decision decide(const BroadcastCall& call, BroadcastCall::Findings& findings, CallForm form);
// As hocket's call, of a piece of what is broadcast or of a copy of it.
Arguments arguments_of(const BroadcastCall& call, const void* bytes, size_t length);
inline RuleKey rule_key_of(const BroadcastCall&, const Communicator&, const BroadcastCall::Findings& findings) {
  return {schedule::Collective::kBroadcast, findings.bytes};
}
int carry_out(const BroadcastCall& call, const Decision& decision, const BroadcastCall::Findings& findings);

}  // namespace hocket::interposer
