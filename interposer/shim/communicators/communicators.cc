// SPDX-License-Identifier: BSD-3-Clause
#include "shim/communicators/communicators.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "c_api/internal/vocabulary.h"
#include "core/mpi_wait.h"
#include "platform/whereabouts/own_record.h"
#include "shim/communicators/asking.h"
#include "shim/communicators/exchange.h"
#include "shim/communicators/lineage.h"
#include "shim/communicators/neighbour_graph.h"
#include "shim/job/job.h"
#include "shim/job/whereabouts.h"
#include "shim/underneath/attributes.h"
#include "shim/underneath/handles.h"

namespace hocket::interposer {
namespace {

int keyval = MPI_KEYVAL_INVALID;
MPI_Group world_group;

// Also for communicators that go by ways that we don't see.
int on_delete(MPI_Comm, int, void* value, void*) {
  // Relaxed: see internal::epoch.
  internal::epoch.fetch_add(1, std::memory_order_relaxed);
  forget_communicator(static_cast<Communicator*>(value));
  return MPI_SUCCESS;
}

// Whether all its ranks are of this MPI_COMM_WORLD: others (spawned, connected) may not have hocket loaded. All ranks
// of a communicator find the same: either it lies within one world or each rank sees a foreign one.
bool is_within_world(MPI_Comm handle) {
  std::vector<int> in_world;
  return find_in_world(handle, in_world) &&
         std::find(in_world.begin(), in_world.end(), MPI_UNDEFINED) == in_world.end();
}

std::string name_of(MPI_Comm handle) {
  char name[MPI_MAX_OBJECT_NAME + 1] = {};
  int length = 0;
  return next_pmpi().Comm_get_name(handle, name, &length) == MPI_SUCCESS ? name : "";
}

Communicator* take_into_books(MPI_Comm handle) {
  int is_inter = 0, rank = 0, size = 1;
  if (next_pmpi().Comm_test_inter(handle, &is_inter) != MPI_SUCCESS) return nullptr;
  next_pmpi().Comm_rank(handle, &rank);
  next_pmpi().Comm_size(handle, &size);
  Communicator* communicator = open_communicator(rank, size);
  communicator->noted = platform::note_communicator(number_of(handle), rank, size, name_of(handle));
  if (is_inter != 0) {
    refuse(*communicator, Outcome::kIntercommunicator);
  } else if (size > 1 && !is_within_world(handle)) {
    communicator->counting.is_of_several_jobs = true;
    if (settings().with_other_jobs == 0) refuse(*communicator, Outcome::kOtherJob);
  } else if (size > 1 && may_be_younger_job() && !is_younger_than_job(handle)) {
    // Of its calls before the job began each rank has seen as many as it had called by then.
    refuse(*communicator, Outcome::kOlder);
  } else if (has_wrong_settings()) {
    communicator->failure_reported = true;
    refuse(*communicator, Outcome::kFailed);
  }
  const bool is_kept = next_pmpi().Comm_set_attr(handle, keyval, communicator) == MPI_SUCCESS;
  // Passed through by one rank alone, the call would never meet those of its peers, who wait for it in hocket.
  if (!is_kept && communicator->phase == Phase::kCounting) {
    end_without_memory(sizeof *communicator, "to keep a communicator's state");
  }
  return communicator;
}

}  // namespace

Communicator* known_communicator(MPI_Comm handle) {
  void* value = nullptr;
  int found = 0;
  if (next_pmpi().Comm_get_attr(handle, keyval, &value, &found) != MPI_SUCCESS || found == 0) return nullptr;
  return static_cast<Communicator*>(value);
}

Communicator* internal::look_up_communicator(MPI_Comm handle, RememberedCommunicator& place) {
  if (handle == handles.comm_null) return nullptr;
  // Before the look-up, so that a communicator that goes meanwhile isn't remembered.
  const uint64_t now = epoch.load(std::memory_order_relaxed);
  Communicator* communicator = known_communicator(handle);
  if (communicator == nullptr) communicator = take_into_books(handle);
  if (communicator != nullptr) place = {handle, now, communicator};
  return communicator;
}

void rename_communicator(MPI_Comm handle, const char* name) {
  const Communicator* const communicator = known_communicator(handle);
  if (communicator == nullptr) return;
  platform::rename_communicator(communicator->noted, name);
  if (communicator->comm != nullptr) c_api::name_communicator(communicator->comm, name);
}

uint64_t calls_before_takeover() {
  const int64_t calls = settings().takeover_calls != 0 ? settings().takeover_calls : usual_takeover_calls();
  return static_cast<uint64_t>(calls - 1);
}

Outcome prepare_communicator(Communicator& communicator, MPI_Comm handle, Waiting waiting) {
  bool all_wait = waiting == Waiting::kAll;
  const bool is_question = waiting == Waiting::kThisRank || waiting == Waiting::kNotThisRank;
  // A rank that waits for the answer may wait for ranks that have gone on: so it is asked a few times only.
  constexpr int kQuestions = 4;
  if (is_question && may_set_up_now(communicator, setup_calls_of(communicator)) &&
      communicator.counting.questions < kQuestions) {
    ++communicator.counting.questions;
    all_wait = do_all_wait(handle, waiting == Waiting::kThisRank);
  }
  SetUpExchange over(handle);
  if (all_wait) note_left_to_mpi(&communicator, collective_now(), handle);
  const Exchange exchange{SetUpExchange::allgather, &over, SetUpExchange::begin_takeover, calls_before_takeover(),
                          settings_digest()};
  const Outcome outcome = prepare(communicator, setup_calls_of(communicator), all_wait, exchange);
  if (communicator.phase == Phase::kReady) {
    c_api::name_communicator(communicator.comm, name_of(handle));
    meet_in(handle, communicator.comm);
    if (has_neighbours_to_tell(communicator, handle)) communicator.phase = Phase::kOwing;
  }
  if (communicator.phase == Phase::kOwing && all_wait) make_neighbourhood(communicator, handle);
  return outcome;
}

bool find_in_world(MPI_Comm handle, std::vector<int>& in_world) {
  int size = 0;
  MPI_Group group;
  if (next_pmpi().Comm_size(handle, &size) != MPI_SUCCESS) return false;
  if (next_pmpi().Comm_group(handle, &group) != MPI_SUCCESS) return false;
  std::vector<int> ranks(size);
  std::iota(ranks.begin(), ranks.end(), 0);
  in_world.assign(size, MPI_UNDEFINED);
  const int error = next_pmpi().Group_translate_ranks(group, size, ranks.data(), world_group, in_world.data());
  next_pmpi().Group_free(&group);
  return error == MPI_SUCCESS;
}

namespace {

// Frees the group.
int world_rank_in_group(MPI_Group group, int rank) {
  int size = 0, in_world = -1;
  const bool is_in = rank >= 0 && next_pmpi().Group_size(group, &size) == MPI_SUCCESS && rank < size;
  const bool is_known =
      is_in && next_pmpi().Group_translate_ranks(group, 1, &rank, world_group, &in_world) == MPI_SUCCESS;
  next_pmpi().Group_free(&group);
  return is_known && in_world != MPI_UNDEFINED ? in_world : -1;
}

}  // namespace

int world_rank_in(MPI_Win window, int rank) {
  MPI_Group group;
  if (window == handles.win_null || next_pmpi().Win_get_group(window, &group) != MPI_SUCCESS) return -1;
  return world_rank_in_group(group, rank);
}

int world_rank_of(MPI_Comm handle, int rank) {
  if (handle == handles.comm_null || rank < 0) return -1;
  if (handle == handles.comm_world) return rank;
  int is_inter = 0;
  if (next_pmpi().Comm_test_inter(handle, &is_inter) != MPI_SUCCESS || is_inter != 0) return -1;
  MPI_Group group;
  if (next_pmpi().Comm_group(handle, &group) != MPI_SUCCESS) return -1;
  return world_rank_in_group(group, rank);
}

bool watch_communicators() {
  if (next_pmpi().Comm_group(world_comm(), &world_group) != MPI_SUCCESS) return false;
  return next_pmpi().Comm_create_keyval(do_not_copy<MPI_Comm>, on_delete, &keyval, nullptr) == MPI_SUCCESS;
}

void unwatch_communicators() {
  next_pmpi().Group_free(&world_group);
  next_pmpi().Comm_free_keyval(&keyval);
}

}  // namespace hocket::interposer
