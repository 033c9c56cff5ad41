// SPDX-License-Identifier: BSD-3-Clause
// Ends requests of all kinds by every function that MPI has for it, and looks at what it tells about them.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "random.h"

namespace conformance {

struct Pending {
  enum class Sort {
    kCollective,
    kPersistentCollective,
    kMessage,            // received: `source` and `tag` are known
    kSentMessage,        // nothing is told about it
    kPersistentMessage,  // likewise
    kInactive,
    kNull,
  };
  MPI_Request request = MPI_REQUEST_NULL;
  Sort sort = Sort::kNull;
  int source = 0;
  int tag = 0;

  bool is_active() const { return sort != Sort::kInactive && sort != Sort::kNull; }
  bool is_persistent() const {
    return sort == Sort::kPersistentCollective || sort == Sort::kPersistentMessage || sort == Sort::kInactive;
  }
};

struct Ended {
  std::string wrong;
  // What some MPIs do with collectives of their own: leave in the status what was in the request's memory before, and
  // return some of it as an error.
  std::string doubt;
};

// Ends all of them, by functions and in an order that this rank picks. Those that aren't persistent are
// MPI_REQUEST_NULL afterwards.
Ended complete(std::vector<Pending>& all, Random& own);

}  // namespace conformance
