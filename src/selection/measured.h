// SPDX-License-Identifier: BSD-3-Clause
// What a table's lines say that was measured: where, how long the chosen algorithm took there, and the runner-up.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "selection/choice.h"

namespace hocket::selection {

// Where a rule's times were measured, or of what call times are predicted.
struct Place {
  std::optional<uint64_t> bytes;  // none: of a barrier, or of any length
  uint64_t nodes = 1;
  uint64_t ranks = 0;  // of a node

  bool operator==(const Place&) const = default;
};

Place place_of(const Query& query);
// From the note that `hocket tune` puts behind a rule: "at 4K, 8 ranks", "at 8 ranks", "at 4K, 2x8 ranks" (two nodes).
// Anybody else's is no place.
std::optional<Place> place_of(std::string_view note);
std::string to_text(const Place& place);

struct Measured {
  std::string algorithm;  // as a Spec's text
  double us = 0;
  uint64_t bytes = 0;       // of the message, or 0
  bool is_shipped = false;  // on another machine than this, as a rule
};
// The best of all that were measured of such a call: on as many nodes and ranks, crowded or not, with a message of
// about its length: at most twice or half, or both up to 1 KiB, where bytes hardly count. By the line that holds,
// which a forced algorithm doesn't change.
std::optional<Measured> best_measured(const Query& query, const Table& table);

}  // namespace hocket::selection
