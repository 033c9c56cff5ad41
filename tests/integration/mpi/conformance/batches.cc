// SPDX-License-Identifier: BSD-3-Clause
#include "batches.h"

#include <algorithm>

#include "random.h"

namespace conformance {
namespace {

constexpr uint64_t kMostItems = 12;

// What is there once on each rank is for the first item only.
Memory memory_for(Memory memory, size_t item) {
  const bool is_common = memory != Memory::kHeap && memory != Memory::kAllocated;
  return is_common && item > 0 ? Memory::kHeap : memory;
}

// Of many, none is long.
void shorten(Case& which) {
  constexpr int64_t kMostBytes = 100 << 10;
  int64_t bytes = 1;
  for (const Element* element : which.family) bytes += static_cast<int64_t>(element->size);
  which.sequences = std::min(which.sequences, std::max<int64_t>(1, kMostBytes / bytes));
}

}  // namespace

void Batches::add_items(Batch& batch, Random& random) const {
  static const uint64_t numbers[] = {1, 2, 2, 3, 4, 6, kMostItems};
  const uint64_t count = random.any(numbers);
  // Others are drawn from all communicators.
  const bool is_on_one_communicator = random.chance(40);
  const bool may_block = random.chance(50);
  const unsigned persistent = HOCKET_TEST_HAS_PERSISTENT != 0 ? static_cast<unsigned>(random.below(3) * 40) : 0;
  for (uint64_t i = 0; i < count; ++i) {
    Case which = cases_.make(cases_.core() + batch.number * kMostItems + i);
    if (is_on_one_communicator && i > 0) which.communicator = batch.items[0].communicator;
    if (count > 4) shorten(which);
    Form form = random.chance(persistent) ? Form::kPersistent : Form::kStarted;
    if (may_block && count > 1 && random.chance(25)) form = Form::kBlocking;
    batch.items.push_back(in_form(which, form));
  }
}

Batch Batches::make(uint64_t number) const {
  Batch batch;
  batch.seed = seed_;
  batch.number = number;
  batch.salt = hash(seed_, number, 2);
  Random random(batch.salt);
  add_items(batch, random);
  batch.messages = random.chance(50) ? static_cast<int>(random.below(4)) : 0;
  batch.has_persistent_message = random.chance(30);
  batch.starts_in_own_order = random.chance(50);
  for (size_t i = 0; i < batch.items.size(); ++i) {
    Case& item = batch.items[i];
    item.input = memory_for(item.input, i);
    item.output = memory_for(item.output, i);
    if (item.form == Form::kPersistent) batch.turns = 3;
  }
  return batch;
}

std::string description(const Batch& batch) {
  return "--batches --seed " + std::to_string(batch.seed) + " --first " + std::to_string(batch.number) + " --cases 1";
}

}  // namespace conformance
