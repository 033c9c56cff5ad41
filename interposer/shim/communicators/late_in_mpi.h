// SPDX-License-Identifier: BSD-3-Clause
// Who is late where the MPI waits: in a collective that it carries out itself, or until all ranks have come to one that
// hocket sets the communicator up for. Ranks find out by each other's records, of which each has how many of a
// communicator's calls its process has come to; the one that has waited longest says so.
//
// Ranks of other nodes, and those whose records can't be read, are not told of.
//
// Thread safety: any thread.
#pragma once

namespace hocket::interposer {

// This thread has waited for a tenth of a second and more in the MPI: notes in its record for whom, and tells who is
// late when it is time.
void note_long_wait();

}  // namespace hocket::interposer
