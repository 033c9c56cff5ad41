// SPDX-License-Identifier: BSD-3-Clause
#include "shim/lifetime/sessions.h"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "shim/communicators/asking.h"
#include "shim/communicators/lineage.h"
#include "shim/job/job.h"
#include "shim/lifetime/lifetime.h"
#include "shim/underneath/handles.h"

namespace hocket::interposer {
namespace {

struct Sessions {
  std::mutex mutex;
  std::vector<Session> open;  // the program's
  bool has_own = false;
  Session own{};
  bool is_with_init = false;  // MPI_Init has come in the job of sessions, and MPI_Finalize hasn't
};

// Never destroyed: threads of the program may outlive static destruction.
Sessions& sessions() {
  static auto* const sessions = new Sessions;
  return *sessions;
}

// All processes that were started together. Freed by the caller.
bool find_all_processes(Session session, MPI_Group& group) {
  return next_pmpi().Group_from_session_pset(session, "mpi://WORLD", &group) == MPI_SUCCESS;
}

bool has_all_processes(Session session, MPI_Group group) {
  MPI_Group all;
  if (!find_all_processes(session, all)) return false;
  int result = MPI_UNEQUAL;
  const int error = next_pmpi().Group_compare(group, all, &result);
  next_pmpi().Group_free(&all);
  return error == MPI_SUCCESS && result != MPI_UNEQUAL;
}

bool make_world(Session session, MPI_Comm& world) {
  MPI_Group all;
  if (!find_all_processes(session, all)) return false;
  const int error =
      next_pmpi().Comm_create_from_group(all, "hocket.world", handles.info_null, handles.errors_return, &world);
  next_pmpi().Group_free(&all);
  return error == MPI_SUCCESS;
}

void end_own(Sessions& self, MPI_Comm world) {
  if (world != handles.comm_null) next_pmpi().Comm_free(&world);
  if (self.has_own) next_pmpi().Session_finalize(&self.own);
  self.has_own = false;
}

// All processes come here: each with the first communicator of all of them that it has got, whichever that is. Where
// one can't open a session it comes by one of the program's, and tells the others.
void begin(Sessions& self) {
  MPI_Comm world = handles.comm_null;
  self.has_own = next_pmpi().Session_init(handles.info_null, handles.errors_return, &self.own) == MPI_SUCCESS;
  if (!make_world(self.has_own ? self.own : self.open.front(), world) || !do_all_say(world, self.has_own))
    return end_own(self, world);
  begin_job_of(world);
}

void end_job_of_sessions(Sessions& self) {
  const NestedCall nested;
  const MPI_Comm world = world_comm();
  if (mode() != Mode::kAsleep) end_job();
  end_own(self, world);
}

}  // namespace

void prepare_sessions() {
  Sessions& self = sessions();
  const std::lock_guard lock(self.mutex);
  if (!self.open.empty() || has_started_job()) return;
  prepare_job();
}

void session_begins(Session session) {
  Sessions& self = sessions();
  const std::lock_guard lock(self.mutex);
  if (self.open.empty() && !has_started_job()) handles = native_handles();
  self.open.push_back(session);
}

void made_of_group(MPI_Group group, MPI_Comm made) {
  if (made == handles.comm_null) return;
  const NestedCall nested;
  Sessions& self = sessions();
  {
    const std::lock_guard lock(self.mutex);
    if (!has_started_job() && !self.open.empty() && has_all_processes(self.open.front(), group)) begin(self);
  }
  // Other threads may make communicators of fewer while the job begins. The program hasn't got this one yet.
  if (do_all_say(made, mode() == Mode::kServing)) note_founder(made);
}

void session_ends(Session session) {
  Sessions& self = sessions();
  const std::lock_guard lock(self.mutex);
  const auto found = std::find(self.open.begin(), self.open.end(), session);
  if (found == self.open.end()) return;
  self.open.erase(found);
  if (self.has_own && self.open.empty() && !self.is_with_init) end_job_of_sessions(self);
}

bool are_sessions_open() {
  Sessions& self = sessions();
  const std::lock_guard lock(self.mutex);
  return !self.open.empty();
}

void init_joins() {
  Sessions& self = sessions();
  const std::lock_guard lock(self.mutex);
  self.is_with_init = self.has_own;
}

void init_leaves() {
  Sessions& self = sessions();
  const std::lock_guard lock(self.mutex);
  if (std::exchange(self.is_with_init, false)) end_job_of_sessions(self);
}

}  // namespace hocket::interposer
