// SPDX-License-Identifier: BSD-3-Clause
// What is called together: collectives in all their forms, several at a time and on several communicators, among
// messages.
#pragma once

#include <string>
#include <vector>

#include "calls.h"
#include "cases.h"

namespace conformance {

// The same on all ranks, and from (seed, number) alone. Each turn calls all items with other data.
struct Batch {
  uint64_t seed = 0;
  uint64_t number = 0;
  uint64_t salt = 0;
  std::vector<Case> items;  // each in its form
  uint64_t turns = 1;
  int messages = 0;                     // to the next rank, and one from the one before
  bool has_persistent_message = false;  // one more
  bool starts_in_own_order = false;     // persistent calls, among others and on each rank otherwise
};

class Batches {
 public:
  Batches(uint64_t seed, const Cases& cases) : seed_(seed), cases_(cases) {}
  Batch make(uint64_t number) const;

 private:
  void add_items(Batch& batch, class Random& random) const;

  uint64_t seed_;
  const Cases& cases_;
};

// How it is called again.
std::string description(const Batch& batch);

}  // namespace conformance
