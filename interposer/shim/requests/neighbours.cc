// SPDX-License-Identifier: BSD-3-Clause
#include "shim/requests/neighbours.h"

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "c_api/internal/call.h"
#include "c_api/internal/neighbourhood.h"
#include "shim/communicators/neighbour_graph.h"
#include "shim/job/errors.h"
#include "shim/requests/completion.h"

namespace hocket::interposer {
namespace {

struct Sides {
  Blocks send, receive;
};

bool is_allgather(Collective collective) {
  return collective == Collective::kNeighborAllgather || collective == Collective::kNeighborAllgatherv;
}

schedule::Collective own_collective(Collective collective) {
  switch (collective) {
    case Collective::kNeighborAllgather:
      return schedule::Collective::kNeighborAllgather;
    case Collective::kNeighborAllgatherv:
      return schedule::Collective::kNeighborAllgatherv;
    case Collective::kNeighborAlltoall:
      return schedule::Collective::kNeighborAlltoall;
    default:
      return schedule::Collective::kNeighborAlltoallv;  // MPI_Neighbor_alltoallw too, in bytes
  }
}

// Blocks of nobody are neither read nor written.
void leave_out_nobody(const std::vector<uint8_t>& is_there, Blocks& blocks) {
  if (blocks.counts == nullptr) return;
  for (size_t i = 0; i < is_there.size(); ++i)
    if (is_there[i] == 0) blocks.counts[i] = 0;
}

// False: the arguments look wrong.
bool measure_both(const NeighbourCall& call, Neighbourhood& neighbourhood, Sides& sides) {
  const auto destinations = static_cast<int>(neighbourhood.has_destination.size());
  const auto sources = static_cast<int>(neighbourhood.has_source.size());
  const int sent = !is_allgather(call.collective) ? destinations : destinations != 0 ? 1 : 0;
  size_t* const numbers = neighbourhood.numbers.data();
  if (sent != 0 && !measure(call.send, sent, 0, numbers, sides.send)) return false;
  if (sources != 0 && !measure(call.receive, sources, 0, numbers + 2 * static_cast<size_t>(sent), sides.receive))
    return false;
  if (!is_allgather(call.collective)) leave_out_nobody(neighbourhood.has_destination, sides.send);
  leave_out_nobody(neighbourhood.has_source, sides.receive);
  return true;
}

bool has_nobody(const std::vector<uint8_t>& neighbours) {
  return std::find(neighbours.begin(), neighbours.end(), 1) == neighbours.end();
}

size_t bytes_of(const Blocks& blocks, int index) {
  return blocks.counts == nullptr ? blocks.bytes : blocks.counts[index];
}

bool is_there(const std::vector<uint8_t>& all, int index, bool is_only) {
  return is_only || all[static_cast<size_t>(index)] != 0;
}

// Copies of a side whose bytes don't lie as they are sent; blocks of nobody have their place there, too.
void copy_side(const Side& side, Blocks& blocks, const std::vector<uint8_t>& neighbours, bool is_input,
               StartedCall& started) {
  if (!blocks.is_packed) return;
  Copies& copies = started.get_copies();
  const bool is_only = static_cast<size_t>(blocks.number) != neighbours.size();
  size_t bytes = 0;
  for (int i = 0; i < blocks.number; ++i) bytes += bytes_of(blocks, i);
  unsigned char* room = is_input ? copies.make_input(bytes) : copies.make_output(bytes);
  blocks.first = room;
  blocks.displacements = nullptr;
  for (int i = 0; i < blocks.number; ++i) {
    if (is_there(neighbours, i, is_only))
      is_input ? copies.pack_from(block(side, blocks, i), room) : copies.unpack_to(block(side, blocks, i), room);
    room += bytes_of(blocks, i);
  }
}

// HOCKET_ERR_BROKEN: with an MPI error that has been raised.
hocket_status_t fill_start(const NeighbourCall& call, const Decision& decision, const Sides& measured,
                           StartedCall& started, Start& start) {
  const Neighbourhood& neighbourhood = *decision.communicator->neighbourhood;
  Blocks send = measured.send, receive = measured.receive;
  const bool is_uniform = send.counts == nullptr && receive.counts == nullptr;
  if (is_uniform && send.number != 0 && receive.number != 0 && send.bytes != receive.bytes) {
    start.mpi_error = raise_error(call.comm, MPI_ERR_TRUNCATE);
    return HOCKET_ERR_BROKEN;
  }
  copy_side(call.send, send, neighbourhood.has_destination, true, started);
  copy_side(call.receive, receive, neighbourhood.has_source, false, started);
  if (const hocket_status_t status = pack_first(decision, call.comm, started, start); status != HOCKET_OK)
    return status;
  Arguments& arguments = start.arguments;
  arguments.collective = own_collective(call.collective);
  arguments.combiner.type = HOCKET_BYTE;
  arguments.input = reinterpret_cast<const std::byte*>(send.first);
  arguments.output = reinterpret_cast<std::byte*>(receive.first);
  arguments.input_blocks = {send.counts, send.displacements};
  arguments.output_blocks = {receive.counts, receive.displacements};
  if (is_uniform)
    arguments.count = (receive.number != 0 ? receive : send).bytes;
  else if (is_allgather(call.collective))
    arguments.count = send.bytes;
  return HOCKET_OK;
}

// Of a neighbourhood where the persistent call has its track.
Outcome plan_among_neighbours(Decision& decision, Start& start, StartedCall& started, int& error) {
  Communicator& communicator = *decision.communicator;
  return plan_now(decision, start, started, error, [&](PersistentHome& home) {
    if (home.neighbourhood == nullptr)
      home.neighbourhood = c_api::make_like(communicator.neighbourhood->handle, home.comm);
    start.arguments.root = c_api::number_of(home.neighbourhood);
  });
}

int wait_for_end(StartedCall& started) {
  MPI_Request request = started.handle;
  return OneRequest{&request, MPI_STATUS_IGNORE}.wait(started);
}

Outcome get_ready(const NeighbourCall& call, NeighbourForm form, Decision& decision) {
  const Collective counted = decision.form;
  const bool may_wait = form != NeighbourForm::kStarted;
  decision = find_starter(call.comm, {.may_wait = may_wait, .may_go_by_engines = false});
  decision.form = counted;
  if (!is_carried_out(decision.why)) return decision.why;
  Communicator& communicator = *decision.communicator;
  const bool is_alone = decision.why == Outcome::kSingleRank;
  if (communicator.phase == Phase::kCounting) {
    const Outcome outcome = prepare_communicator(communicator, call.comm, Waiting::kNotAll);
    if (outcome != Outcome::kCarriedOut) return outcome;
  }
  if (communicator.begins != Begins::kByRanks && !is_alone) return Outcome::kNotByEngines;
  if (is_revoked(call.comm)) return Outcome::kFreed;
  if (communicator.phase == Phase::kOwing && !may_wait) return Outcome::kNotSetUp;
  // By force only: no table has a rule for it.
  const c_api::ByMpi* const by_mpi = communicator.by_mpi.started.get();
  if (by_mpi != nullptr && by_mpi->chosen(own_collective(call.collective), 0)) return Outcome::kMpisOwn;
  if (communicator.neighbourhood == nullptr) make_neighbourhood(communicator, call.comm);
  const Neighbourhood& neighbourhood = *communicator.neighbourhood;
  if (neighbourhood.handle == nullptr && neighbourhood.alone == nullptr) return Outcome::kNotByEngines;
  if (is_alone && is_quick_alone() && form == NeighbourForm::kPersistent && has_nobody(neighbourhood.has_source))
    return Outcome::kMpisOwn;
  return decision.why;
}

// --- one rank --------------------------------------------------------------------------------------------------------

// `visit(block that it gives, block as which it comes)` for each, until it says false.
template <typename Visit>
bool visit_own_blocks(const NeighbourCall& call, const schedule::Neighbours& alone, const Visit& visit) {
  const std::span<const uint32_t> sources = alone.sources(0), origins = alone.origins(0);
  for (size_t i = 0; i < sources.size(); ++i) {
    if (sources[i] == schedule::kNoRank) continue;
    if (!visit(is_allgather(call.collective) ? 0 : static_cast<int>(origins[i]), static_cast<int>(i))) return false;
  }
  return true;
}

OwnCopy own_block(const NeighbourCall& call, const Sides& sides, int from, int to) {
  return {block(call.send, sides.send, from), block(call.receive, sides.receive, to),
          !sides.send.is_packed && !sides.receive.is_packed};
}

int copy_own_blocks(const NeighbourCall& call, const schedule::Neighbours& alone, const Sides& sides) {
  int error = MPI_SUCCESS;
  (void)visit_own_blocks(call, alone, [&](int from, int to) {
    if (bytes_of(sides.send, from) != 0) error = carry_out(own_block(call, sides, from, to), call.comm);
    return error == MPI_SUCCESS;
  });
  return error;
}

int plan_own_blocks(const NeighbourCall& call, const Decision& decision, const schedule::Neighbours& alone,
                    const Sides& sides, MPI_Request* request) {
  std::vector<OwnCopy> copies;
  (void)visit_own_blocks(call, alone, [&](int from, int to) {
    if (bytes_of(sides.send, from) != 0) copies.push_back(own_block(call, sides, from, to));
    return true;
  });
  return plan_alone(decision, call.comm, copies, request);
}

// As serve_among_neighbours(). Where a block is longer or shorter than what it comes as, the MPI tells of it.
bool serve_own_blocks(const NeighbourCall& call, NeighbourForm form, Decision& decision, const Sides& sides,
                      MPI_Request* request, int& error) {
  const schedule::Neighbours& alone = *decision.communicator->neighbourhood->alone;
  if (!visit_own_blocks(call, alone,
                        [&](int from, int to) { return bytes_of(sides.send, from) == bytes_of(sides.receive, to); })) {
    decision.why = Outcome::kArguments;
    return false;
  }
  if (form == NeighbourForm::kPersistent) {
    error = plan_own_blocks(call, decision, alone, sides, request);
    return true;
  }
  error = answer(decision, call.collective, call.comm, HOCKET_OK, copy_own_blocks(call, alone, sides));
  if (form == NeighbourForm::kStarted && error == MPI_SUCCESS) error = settle_alone(decision, call.comm, request);
  return true;
}

}  // namespace

bool serve_among_neighbours(const NeighbourCall& call, NeighbourForm form, Decision& decision, MPI_Request* request,
                            int& error) {
  decision.why = get_ready(call, form, decision);
  if (!is_carried_out(decision.why)) return false;
  Sides sides;
  const bool wants_request = form != NeighbourForm::kBlocking;
  if ((wants_request && request == nullptr) || !measure_both(call, *decision.communicator->neighbourhood, sides)) {
    decision.why = Outcome::kArguments;
    return false;
  }
  if (decision.why == Outcome::kSingleRank) return serve_own_blocks(call, form, decision, sides, request, error);
  StartedCall* const started = take_for(decision, decision.form, call.comm, error);
  if (started == nullptr) return true;
  Start start;
  start.is_persistent = form == NeighbourForm::kPersistent;
  start.is_blocking = form == NeighbourForm::kBlocking;
  start.arguments.root = c_api::number_of(decision.communicator->neighbourhood->handle);
  const hocket_status_t status = fill_start(call, decision, sides, *started, start);
  if (status != HOCKET_OK) {
    error = give_up(decision, decision.form, start.mpi_error, kPackingFailed);
    give_back(*started);
    return true;
  }
  decision.why = start.is_persistent ? plan_among_neighbours(decision, start, *started, error)
                                     : start_now(decision, start, *started, error);
  if (decision.why != Outcome::kCarriedOut) {
    give_back(*started);
    return decision.why == Outcome::kFailed;
  }
  if (wants_request) *request = started->handle;
  error = wants_request ? MPI_SUCCESS : wait_for_end(*started);
  return true;
}

}  // namespace hocket::interposer
