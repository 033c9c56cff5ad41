// SPDX-License-Identifier: BSD-3-Clause
// Sessions, and the communicators that are made of their groups.
#include "shim/lifetime/sessions.h"

#include "shim/lifetime/lifetime.h"
#include "shim/requests/waits.h"
#include "shim/wrappers/wrappers.h"

namespace interposer = hocket::interposer;
using interposer::Session;

namespace {

template <typename PassThrough>
int open_session(const Session* session, const PassThrough& pass_through) {
  if (interposer::is_nested()) return pass_through();
  interposer::prepare_sessions();
  const int error = [&] {
    const interposer::NestedCall nested;
    return pass_through();
  }();
  interposer::withdraw_settings();
  if (error == MPI_SUCCESS) interposer::session_begins(*session);
  return error;
}

template <typename PassThrough>
int close_session(const Session* session, const PassThrough& pass_through) {
  if (!interposer::is_nested() && session != nullptr) interposer::session_ends(*session);
  const interposer::NestedCall nested;
  return pass_through();
}

template <typename PassThrough>
int create_from_group(MPI_Group group, const MPI_Comm* made, const PassThrough& pass_through) {
  if (interposer::is_nested()) return pass_through();
  const int error = interposer::wait_in_mpi(pass_through);
  if (error == MPI_SUCCESS) interposer::made_of_group(group, *made);
  return error;
}

}  // namespace

HOCKET_WRAP(Session_init, (MPI_Info info, MPI_Errhandler handler, Session* session), (info, handler, session),
            open_session(session, pass_through))
HOCKET_WRAP(Session_finalize, (Session * session), (session), close_session(session, pass_through))
HOCKET_WRAP(Comm_create_from_group,
            (MPI_Group group, const char* tag, MPI_Info info, MPI_Errhandler handler, MPI_Comm* made),
            (group, tag, info, handler, made), create_from_group(group, made, pass_through))
