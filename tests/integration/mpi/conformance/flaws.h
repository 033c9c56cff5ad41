// SPDX-License-Identifier: BSD-3-Clause
// Where an MPI that is the law here is wrong by itself: each entry has been seen in a program without hocket.
#pragma once

#include "cases.h"
#include "communicators.h"

namespace conformance {

// Whether this MPI may crash, hang or write where it must not in such a case. Then it is not asked, and this program's
// own reckoning is the law.
bool is_host_dangerous(const Case& which, const Communicator& communicator);
// The same where buffers of several calls lie side by side, so that what is written beyond one is seen more often.
bool is_host_dangerous_to_others(const Case& which, const Communicator& communicator);

// Of a started call that is the MPI's: leaves out what it can't do. False: it can't be made at all.
bool spare_host(Case& which);
// The same of one that is under way among others, ended by any function.
bool spare_host_among_others(Case& which);

// Whether a predefined operation means to this MPI on this type what only it knows.
bool is_operation_the_hosts(const Case& which);

// Whether it breaks down when many types exist at the same time.
bool must_types_be_few();
// Its own persistent calls of one rank may be faster than hocket's, which leaves them to it then.
bool leaves_persistent_of_one_rank(const Case& which);

// Whether it gets such a case wrong and does no other harm.
bool is_host_wrong(const Case& which);

}  // namespace conformance
