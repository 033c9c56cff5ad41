// SPDX-License-Identifier: BSD-3-Clause
// The four collectives: whether hocket carries a call out, and how. Each takes `hand_on`, which passes the call
// unchanged to the MPI underneath, and returns an MPI error code.
//
// What decides is the same on every rank: the communicator and its history, the bytes of the signature, the operation
// and its type. Only a call whose arguments look wrong is handed on by one rank alone, for the MPI to raise its error.
//
// Thread safety: different communicators by different threads at the same time, one by one thread, as MPI demands.
#pragma once

#include "core/communicator.h"
#include "shim/communicators.h"
#include "shim/job.h"
#include "shim/operations.h"
#include "shim/types.h"

namespace hocket::interposer {

struct ReduceCall {
  Collective collective;
  const void* input;
  void* output;
  MPI_Count count;
  MPI_Datatype type;
  MPI_Op op;
  int root;  // of a kReduce
  MPI_Comm comm;

  bool is_rooted() const { return collective == Collective::kReduce; }
};

// The plan for a call: carried out here, or handed on because of `why`.
struct Decision {
  Outcome why = Outcome::kArguments;
  Communicator* communicator = nullptr;
  const TypeFacts* facts = nullptr;
  Operation operation;
  bool in_place = false;
};

Decision decide_barrier(MPI_Comm comm);
Decision decide_broadcast(const void* buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm);
Decision decide_reduce(const ReduceCall& call);

// hocket has failed, and told why: the call ends as one in which the MPI finds an error.
int raise_failure(const Decision& decision, Collective collective, MPI_Comm comm);

int carry_out_barrier(const Decision& decision, MPI_Comm comm);
int carry_out_broadcast(const Decision& decision, void* buffer, MPI_Count count, MPI_Datatype type, int root,
                        MPI_Comm comm);
int carry_out_reduce(const Decision& decision, const ReduceCall& call);

inline bool is_carried_out(Outcome outcome) {
  return outcome == Outcome::kCarriedOut || outcome == Outcome::kSingleRank;
}

inline void count(const Decision& decision, Collective collective, Outcome outcome) {
  if (decision.communicator != nullptr) {
    decision.communicator->counters.add(collective, outcome);
  } else {
    common_counters.add(collective, outcome);
  }
}

template <typename CarryOut, typename HandOn>
int conclude(const Decision& decision, Collective collective, MPI_Comm comm, const CarryOut& carry_out,
             const HandOn& hand_on) {
  if (is_carried_out(decision.why)) [[likely]]
    return carry_out();
  if (decision.why == Outcome::kFailed) return raise_failure(decision, collective, comm);
  count(decision, collective, decision.why);
  const NestedCall nested;
  return hand_on();
}

template <typename HandOn>
int barrier(MPI_Comm comm, const HandOn& hand_on) {
  if (!is_ours(Collective::kBarrier)) [[unlikely]]
    return hand_on();
  const Decision decision = decide_barrier(comm);
  return conclude(decision, Collective::kBarrier, comm, [&] { return carry_out_barrier(decision, comm); }, hand_on);
}

template <typename HandOn>
int broadcast(void* buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm, const HandOn& hand_on) {
  if (!is_ours(Collective::kBroadcast)) [[unlikely]]
    return hand_on();
  const Decision decision = decide_broadcast(buffer, count, type, root, comm);
  return conclude(
      decision, Collective::kBroadcast, comm,
      [&] { return carry_out_broadcast(decision, buffer, count, type, root, comm); }, hand_on);
}

template <typename HandOn>
int reduce(const ReduceCall& call, const HandOn& hand_on) {
  if (!is_ours(call.collective)) [[unlikely]]
    return hand_on();
  const Decision decision = decide_reduce(call);
  return conclude(decision, call.collective, call.comm, [&] { return carry_out_reduce(decision, call); }, hand_on);
}

}  // namespace hocket::interposer
