// SPDX-License-Identifier: BSD-3-Clause
// Programs that begin by MPI_Session_init and not by MPI_Init. There may be no MPI_COMM_WORLD, and no call that all
// processes make first: the job begins with the first communicator that is made of a group of all of them, and ends
// with the last session. It lives on a communicator of hocket's own, by a session of hocket's own, so that none of the
// program's has to outlast the others.
//
// Thread safety: any thread.
#pragma once

#include "shim/underneath/next.h"

namespace hocket::interposer {

// Before the MPI opens the process's first session.
void prepare_sessions();
void session_begins(Session session);
// Before the MPI ends it. Of the last one: waits until peers are done with what this process shares with them, at the
// latest when they have come to theirs.
void session_ends(Session session);

// A communicator that the MPI has just made of `group`. Collective: its ranks agree whether the job is there on all of
// them; with the first one of all processes it begins.
void made_of_group(MPI_Group group, MPI_Comm made);

// Whether communicators may be older than a job that begins now.
bool are_sessions_open();
// MPI_Init comes in a job of sessions, which ends in MPI_Finalize then: all processes come there in one order.
void init_joins();
void init_leaves();

}  // namespace hocket::interposer
