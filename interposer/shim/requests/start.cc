// SPDX-License-Identifier: BSD-3-Clause
#include "shim/requests/start.h"

#include <algorithm>
#include <mutex>

#include "c_api/internal/call.h"
#include "shim/buffers/packing.h"
#include "shim/collectives/misfit.h"
#include "shim/communicators/nodes.h"
#include "shim/job/errors.h"
#include "shim/underneath/handles.h"

namespace hocket::interposer {
namespace {

bool is_by_engines(const Decision& decision) { return decision.communicator->begins == Begins::kByEngines; }

// --- reductions ------------------------------------------------------------------------------------------------------

struct Operands {
  const void* input;
  void* output;
};

// Copies of what only a driver reaches, as it lies: hocket's kernels know the layouts of types with gaps.
void stage(const ReduceCall& call, const ReduceCall::Findings& findings, StartedCall& started, Operands& operands) {
  if (!device::may_be_there()) [[likely]]
    return;
  const size_t stride = static_cast<size_t>(findings.facts->extent), bytes = findings.operand * stride;
  if (!findings.is_in_place && device::needs_staging(call.input, bytes)) {
    unsigned char* const room = started.get_copies().make_input(bytes);
    started.get_copies().copy_from(call.input, bytes, room);
    operands.input = room;
  }
  if (!device::needs_staging(call.output, findings.result * stride)) return;
  unsigned char* const room = started.get_copies().make_output(bytes);
  if (findings.is_in_place) started.get_copies().copy_from(call.output, bytes, room);
  started.get_copies().copy_to(call.output, findings.result * stride, room);
  operands.output = room;
}

// --- movements -------------------------------------------------------------------------------------------------------

// In the room instead of the program's memory.
void put_in_room(Blocks& blocks, unsigned char* room) {
  blocks.first = room;
  blocks.displacements = nullptr;
}

void copy_sides(const MoveCall& call, const Decision& decision, const MoveCall::Findings& findings, Blocks& send,
                Blocks& receive, StartedCall& started) {
  if (send.is_packed) {
    const size_t bytes = total_bytes(call.send, send);
    unsigned char* const room = started.get_copies().make_input(bytes);
    started.get_copies().pack_side(call.send, send, room);
    put_in_room(send, room);
  }
  if (!receive.is_packed) return;
  const size_t bytes = total_bytes(call.receive, receive);
  Copies& copies = started.get_copies();
  unsigned char* const room = copies.make_output(bytes);
  // What the room holds already is input.
  if (findings.is_in_place && is_exchange(call.collective))
    copies.pack_side(call.receive, receive, room);
  else if (findings.is_in_place)
    copies.pack_block(call.receive, receive, decision.communicator->rank, room);
  copies.unpack_side(call.receive, receive, room);
  put_in_room(receive, room);
}

// Blocks of the length that this rank sends, to all ranks alike; of each as many elements as fit are unpacked.
void receive_as_sent(const MoveCall& call, size_t bytes, Blocks& receive, StartedCall& started) {
  const size_t all_bytes = bytes * static_cast<size_t>(receive.number);
  Copies& copies = started.get_copies();
  unsigned char* const room = copies.make_output(all_bytes);
  for (int i = 0; i < receive.number; ++i) {
    const Elements to = block(call.receive, receive, i);
    const size_t fitting = to.facts->size == 0 ? 0 : std::min(bytes, to.bytes()) / to.facts->size;
    copies.unpack_to(to.part(0, fitting), room + bytes * static_cast<size_t>(i));
  }
  receive.first = room;
  receive.bytes = receive.own_bytes = bytes;
  receive.is_packed = false;
}

// As misfit.h has it for blocking calls.
hocket_status_t fit_together(const MoveCall& call, const Decision& decision, MoveCall::Findings& findings,
                             StartedCall& started, Start& start) {
  const bool is_truncated = findings.send.own_bytes > findings.receive.own_bytes;
  if (call.collective == Collective::kAllgatherv || (start.is_persistent && is_truncated)) {
    start.mpi_error = raise_error(call.comm, MPI_ERR_TRUNCATE);
    return HOCKET_ERR_BROKEN;
  }
  started.mpi_error = is_truncated ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
  if (call.collective == Collective::kAllgather || call.collective == Collective::kAlltoall) {
    receive_as_sent(call, findings.send.bytes, findings.receive, started);
    return HOCKET_OK;
  }
  const WithoutOwn without = leave_own_out(call, decision.communicator->rank, findings);
  start.mpi_error = copy_own(call, findings, without);
  findings = without.findings;
  return start.mpi_error == MPI_SUCCESS ? HOCKET_OK : HOCKET_ERR_BROKEN;
}

// --- persistent calls ------------------------------------------------------------------------------------------------

// Engines have a few hundred groups for all jobs, of which each takes four.
uint32_t most_homes(const Communicator& communicator) {
  constexpr uint32_t kMostByEngines = 4;
  return communicator.begins == Begins::kByEngines ? kMostByEngines : kMostHomes;
}

// The next one, of all ranks alike. nullptr: the status says why, or there is no room where it is HOCKET_OK. Engines
// that are full are no error of the program's, even where they are demanded.
PersistentHome* make_home(Communicator& communicator, hocket_status_t& status) {
  auto home = std::make_unique<PersistentHome>();
  const bool is_by_engines = communicator.begins == Begins::kByEngines;
  status = hocket_comm_dup(communicator.comm, &home->comm);
  if (is_by_engines && status == HOCKET_ERR_INVALID_ARGUMENT) status = HOCKET_OK;
  if (is_by_engines && home->comm != nullptr && !c_api::may_run_by_engines(home->comm)) {
    status = hocket_comm_destroy(home->comm);
    home->comm = nullptr;
  }
  if (home->comm == nullptr) return nullptr;
  home->free_tracks = (uint64_t{1} << c_api::own_tracks()) - 1;
  const auto place = std::find_if(communicator.persistent.homes.begin(), communicator.persistent.homes.end(),
                                  [](const auto& one) { return one.load(std::memory_order_relaxed) == nullptr; });
  place->store(home.get(), std::memory_order_release);
  return home.release();
}

// A track that no rank uses, the same on all of them, in one more communicator if there is none. False: not to be had.
bool find_track(Communicator& communicator, StartedCall& started, hocket_status_t& status) {
  const uint32_t tracks = c_api::own_tracks();
  uint64_t mine = 0, common = 0;
  uint32_t homes = 0;
  for_each_home(communicator, [&](const PersistentHome& home) { mine |= home.free_tracks << (homes++ * tracks); });
  status = hocket_allreduce(communicator.comm, &mine, &common, 1, HOCKET_UINT64, HOCKET_BAND);
  if (status != HOCKET_OK) return false;
  if (common == 0) {
    PersistentHome* const made = homes < most_homes(communicator) ? make_home(communicator, status) : nullptr;
    if (made == nullptr) return false;
    common = made->free_tracks << (homes * tracks);
  }
  const auto bit = static_cast<uint32_t>(__builtin_ctzll(common));
  started.home = communicator.persistent.homes[bit / tracks].load(std::memory_order_relaxed);
  started.track = bit % tracks + 1;
  started.home->free_tracks &= ~(uint64_t{1} << (bit % tracks));
  return true;
}

void become_persistent(StartedCall& started) {
  started.is_persistent = true;
  started.set(StartedCall::State::kInactive);
  started.communicator->persistent.calls.fetch_add(1, std::memory_order_relaxed);
}

// Of one rank.
int copy_again(StartedCall& call) {
  int error = call.copies != nullptr ? call.copies->pack(call.comm) : MPI_SUCCESS;
  if (error == MPI_SUCCESS && call.copies != nullptr) error = call.copies->unpack(call.comm);
  if (error != MPI_SUCCESS) return error;
  count_outcome(call, Outcome::kSingleRank);
  call.set(StartedCall::State::kSettled);
  return MPI_SUCCESS;
}

bool is_worth_a_thread(const Arguments& arguments) {
  constexpr uint64_t kLongBytes = 16 << 10;
  return schedule::is_vector(arguments.collective) || arguments.count * arguments.combiner.element_bytes >= kLongBytes;
}

}  // namespace

hocket_status_t pack_first(const Decision& decision, MPI_Comm comm, StartedCall& started, Start& start) {
  if (started.copies == nullptr) return HOCKET_OK;
  const NotesStaged notes(decision.communicator->trial);
  if (!start.is_persistent) start.mpi_error = started.copies->pack(comm);
  if (start.mpi_error == MPI_SUCCESS) start.mpi_error = started.copies->keep(start.is_persistent);
  return start.mpi_error == MPI_SUCCESS ? HOCKET_OK : HOCKET_ERR_BROKEN;
}

hocket_status_t prepare_start(const BarrierCall&, const Decision&, const BarrierCall::Findings&, StartedCall&,
                              Start& start) {
  start.arguments = arguments_of_bytes(Collective::kBarrier, 0);
  return HOCKET_OK;
}

hocket_status_t prepare_start(const BroadcastCall& call, const Decision& decision,
                              const BroadcastCall::Findings& findings, StartedCall& started, Start& start) {
  if (is_by_engines(decision) && (findings.bytes == 0 || findings.bytes > c_api::most_bytes_by_engines()))
    return HOCKET_ERR_NOT_SUPPORTED;
  const Elements elements{call.buffer, static_cast<size_t>(call.count), call.type, findings.facts};
  unsigned char* bytes = elements.first_byte();
  if (findings.bytes != 0 && !elements.lie_ready()) {
    bytes = started.get_copies().make_output(findings.bytes);
    if (decision.communicator->rank == call.root)
      started.copies->pack_from(elements, bytes);
    else
      started.copies->unpack_to(elements, bytes);
  }
  start.arguments = arguments_of(call, bytes, findings.bytes);
  return pack_first(decision, call.comm, started, start);
}

hocket_status_t prepare_start(const ReduceCall& call, const Decision& decision, const ReduceCall::Findings& findings,
                              StartedCall& started, Start& start) {
  Operands operands{call.input, call.output};
  stage(call, findings, started, operands);
  if (const hocket_status_t status = pack_first(decision, call.comm, started, start); status != HOCKET_OK)
    return status;
  return fill(call, decision, findings, operands.input, operands.output, start.arguments);
}

hocket_status_t prepare_start(const MoveCall& call, const Decision& decision, const MoveCall::Findings& findings,
                              StartedCall& started, Start& start) {
  if (is_by_engines(decision)) return HOCKET_ERR_NOT_SUPPORTED;
  MoveCall::Findings fitting = findings;
  if (findings.is_misfit) [[unlikely]] {
    const hocket_status_t status = fit_together(call, decision, fitting, started, start);
    if (status != HOCKET_OK) return status;
  }
  Blocks send = fitting.send, receive = fitting.receive;
  copy_sides(call, decision, fitting, send, receive, started);
  if (const hocket_status_t status = pack_first(decision, call.comm, started, start); status != HOCKET_OK)
    return status;
  start.arguments = arguments_of_bytes(call.collective, call.root);
  return fill(call, decision, send, receive, fitting, start.arguments);
}

Decision find_starter(MPI_Comm comm, Begin begin) {
  const bool may_wait = begin.may_wait, may_go_by_engines = begin.may_go_by_engines;
  Decision decision;
  decision.communicator = find_communicator(comm);
  if (decision.communicator == nullptr) return decision;
  Communicator& communicator = *decision.communicator;
  if (communicator.phase == Phase::kAlone) {
    decision.why = Outcome::kSingleRank;
    return decision;
  }
  if (communicator.phase == Phase::kCounting && !may_wait &&
      count_on_the_way(communicator, setup_calls_of(communicator), calls_before_takeover())) {
    decision.why = Outcome::kNotSetUp;
    return decision;
  }
  if (communicator.phase == Phase::kCounting && may_wait) {
    // Between nodes nothing would come of it, mostly: only a blocking call finds out whether there are engines. Ranks
    // of several jobs learn in the set-up where they are.
    if (!communicator.counting.is_of_several_jobs && spans_nodes(comm)) {
      decision.why = Outcome::kNotByEngines;
      return decision;
    }
    prepare_communicator(communicator, comm, Waiting::kAll);
  }
  if (communicator.phase == Phase::kCounting)
    decision.why = may_wait || communicator.counting.is_takeover_ruled_out ? Outcome::kNotSetUp : Outcome::kCarriedOut;
  else if (communicator.phase == Phase::kRefused && communicator.refusal != Outcome::kFailed)
    decision.why = communicator.refusal;
  else if (communicator.begins == Begins::kByRanks || (communicator.begins == Begins::kByEngines && may_go_by_engines))
    decision.why = Outcome::kCarriedOut;
  else
    decision.why = Outcome::kNotByEngines;
  return decision;
}

StartedCall* take_for(const Decision& decision, Collective form, MPI_Comm comm, int& error) {
  StartedCall* const started = take_started();
  if (started == nullptr) {
    error = raise_error(comm, MPI_ERR_NO_MEM);
    return nullptr;
  }
  started->collective = form;
  started->communicator = decision.communicator;
  started->comm = comm;
  return started;
}

Outcome start_now(Decision& decision, Start& start, StartedCall& started, int& error) {
  Communicator& communicator = *decision.communicator;
  start.arguments.only_by_engines = is_by_engines(decision);
  start.arguments.is_unchecked = !start.is_blocking;
  const hocket_status_t status = launch(started, is_worth_a_thread(start.arguments), [&] {
    return c_api::start(communicator.comm, start.arguments, &started.request);
  });
  if (status == HOCKET_OK) return Outcome::kCarriedOut;
  if (status == HOCKET_ERR_NOT_SUPPORTED) return Outcome::kNotByEngines;
  error = raise_status(decision, started.collective, started.comm, status);
  return Outcome::kFailed;
}

Outcome plan_now(Decision& decision, Start& start, StartedCall& started, int& error,
                 const std::function<void(PersistentHome&)>& prepare) {
  Communicator& communicator = *decision.communicator;
  hocket_status_t status = HOCKET_OK;
  start.arguments.only_by_engines = is_by_engines(decision);
  start.arguments.is_unchecked = true;
  {
    const std::lock_guard lock(communicator.lock);
    if (start.arguments.only_by_engines && !c_api::may_go_by_engines(communicator.comm, start.arguments)) {
      status = HOCKET_ERR_NOT_SUPPORTED;
    } else if (find_track(communicator, started, status)) {
      const std::lock_guard of_home(started.home->lock);
      if (prepare) prepare(*started.home);
      status = c_api::plan(started.home->comm, start.arguments, started.track, &started.request);
      if (status == HOCKET_ERR_NOT_SUPPORTED) give_back_track(started);
    } else if (status == HOCKET_OK) {
      status = HOCKET_ERR_NOT_SUPPORTED;
    }
  }
  if (status == HOCKET_ERR_NOT_SUPPORTED) return Outcome::kNotByEngines;
  if (status != HOCKET_OK) {
    error = raise_status(decision, started.collective, started.comm, status);
    return Outcome::kFailed;
  }
  started.is_long = is_worth_a_thread(start.arguments);
  become_persistent(started);
  return Outcome::kCarriedOut;
}

bool is_quick_in_mpi(Collective collective, const std::optional<OwnCopy>& copy) {
  // It may know nothing of a device's memory.
  if (!is_quick_alone() || device::may_be_there()) return false;
  // Open MPI 4 and 5 multiply the former's displacements by an extent, and read from the latter's MPI_IN_PLACE, in
  // their blocking forms at least.
  if (collective == Collective::kAlltoallw || collective == Collective::kExscan) return false;
  if (!copy) return true;
  // Reductions may go wrong where elements begin elsewhere than at their address, and gathers of two types.
  const bool only_moves = collective >= Collective::kGather && collective <= Collective::kAlltoallw;
  const bool have_gaps = !copy->from.lie_ready() && !copy->to.lie_ready();
  return only_moves && have_gaps && copy->from.type == copy->to.type;
}

int settle_alone(const Decision& decision, MPI_Comm comm, MPI_Request* request) {
  int error = MPI_SUCCESS;
  StartedCall* const started = take_for(decision, decision.form, comm, error);
  if (started == nullptr) return error;
  started->set(StartedCall::State::kSettled);
  *request = started->handle;
  return MPI_SUCCESS;
}

int plan_alone(const Decision& decision, MPI_Comm comm, std::span<const OwnCopy> copies, MPI_Request* request) {
  int error = MPI_SUCCESS;
  StartedCall* const started = take_for(decision, decision.form, comm, error);
  if (started == nullptr) return error;
  for (const OwnCopy& one : copies)
    if (error == MPI_SUCCESS && !started->get_copies().copy_within(one)) error = raise_error(comm, MPI_ERR_NO_MEM);
  if (error == MPI_SUCCESS && started->copies != nullptr) error = started->copies->keep(true);
  if (error != MPI_SUCCESS) {
    give_back(*started);
    return error;
  }
  become_persistent(*started);
  *request = started->handle;
  return MPI_SUCCESS;
}

int start_again(StartedCall& call) {
  const TimedCall timed(call.collective);
  Decision decision;
  decision.form = call.collective;
  decision.communicator = call.communicator;
  if (call.communicator->is_closed.load(std::memory_order_relaxed)) call.comm = world_comm();
  if (call.request == nullptr) return copy_again(call);
  if (call.copies != nullptr) [[unlikely]] {
    const int error = call.copies->pack(call.comm);
    if (error != MPI_SUCCESS) return give_up(decision, call.collective, error, kPackingFailed);
  }
  const hocket_status_t status = launch(call, call.is_long, [&] { return c_api::start_planned(call.request); });
  return status == HOCKET_OK ? MPI_SUCCESS : raise_status(decision, call.collective, call.comm, status);
}

}  // namespace hocket::interposer
