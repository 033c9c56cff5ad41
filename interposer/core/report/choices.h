// SPDX-License-Identifier: BSD-3-Clause
// Which algorithms have carried out this process's blocking calls, how long they took, and the best of all that was
// measured of such calls before, by the tuning table: part of what HOCKET_STATS=1 prints.
//
// Thread safety: any thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/statistics.h"

namespace hocket::interposer {

struct ChoiceKey {
  Collective collective = Collective::kBarrier;
  std::string_view algorithm;  // lives as long as the process
  uint64_t bytes = 0;
  uint32_t ranks = 1;  // of the communicator

  bool operator==(const ChoiceKey&) const = default;
};

struct ChoiceTimes {
  ChoiceKey key;
  uint64_t calls = 0;
  uint64_t ns = 0;   // without waiting for late ranks
  std::string best;  // "": nothing was measured
  double best_us = 0;
  uint64_t best_bytes = 0;       // of the message that was measured
  bool best_is_shipped = false;  // by the table that hocket was built with, on another machine
};

class Choices {
 public:
  static constexpr size_t kMost = 64;
  // One call. `find_best(choice)` fills in what was measured, once. Those for which there is no room are left out.
  template <typename FindBest>
  void add(const ChoiceKey& key, uint64_t ns, const FindBest& find_best) {
    const std::lock_guard guard(lock_);
    if (choices_ == nullptr) choices_ = new std::vector<ChoiceTimes>;
    auto found =
        std::find_if(choices_->begin(), choices_->end(), [&](const ChoiceTimes& one) { return one.key == key; });
    if (found == choices_->end()) {
      if (choices_->size() == kMost) return;
      choices_->push_back({});
      found = choices_->end() - 1;
      found->key = key;
      find_best(*found);
    }
    ++found->calls;
    found->ns += ns;
  }
  // Longest first.
  std::vector<ChoiceTimes> read() const;

 private:
  mutable std::mutex lock_;
  std::vector<ChoiceTimes>* choices_ = nullptr;  // there is none yet. Never freed: calls may come until the end
};

}  // namespace hocket::interposer
