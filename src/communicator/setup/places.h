// SPDX-License-Identifier: BSD-3-Clause
// Where on one node its ranks are, by what each has said, and which of them are together there.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "schedule/nodes.h"

namespace hocket::communicator {

// Where a rank is bound; -1: to none in particular.
struct RankPlace {
  int32_t domain = -1;  // NUMA, of its machine
  int32_t cache = -1;   // of the last level
  int32_t socket = -1;
  uint8_t names_domain = 0;  // HOCKET_DOMAIN said which domain
};

// nullptr: all ranks are together, or one is bound to none.
struct Places {
  std::unique_ptr<const schedule::Nodes> domains;  // what compositions go over
  std::unique_ptr<const schedule::Nodes> caches;
  std::unique_ptr<const schedule::Nodes> sockets;
};

// Of a memory with several caches, compositions go over these, unless a rank has been told its domain: who says that
// all ranks are in one is obeyed.
Places places_of(std::span<const RankPlace> ranks);

}  // namespace hocket::communicator
