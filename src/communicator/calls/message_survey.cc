// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/calls/message_survey.h"

#include <algorithm>

namespace hocket::communicator {
namespace {

constexpr uint32_t kMostBetween = 64;

}  // namespace

void MessageSurvey::count(const schedule::Plan& plan, const schedule::Extents& extents, uint64_t longest_short) {
  own_ = 0;
  for (uint32_t rank = 0; rank < plan.shape.size; ++rank) {
    const uint64_t length = extents.input->counts[rank];
    if (length != 0 && length <= longest_short && !plan.shape.nodes->together(rank, plan.shape.rank)) ++own_;
  }
}

const engines::Combiner& MessageSurvey::combiner() {
  static const engines::Combiner sum = [] {
    engines::Combiner combiner;
    combiner.kernel = reduction::find_combine(reduction::Operation::kSum, reduction::Type::kInt64);
    combiner.type = static_cast<uint32_t>(reduction::Type::kInt64);
    combiner.operation = reduction::Operation::kSum;
    combiner.element_bytes = sizeof(int64_t);
    return combiner;
  }();
  return sum;
}

void MessageSurvey::learn(uint64_t most_few) {
  const bool are_many = static_cast<uint64_t>(all_) > most_few;
  calls_between_ = are_many == are_many_ ? std::clamp(2 * calls_between_, 1u, kMostBetween) : 1;
  are_many_ = are_many;
  calls_left_ = calls_between_;
}

}  // namespace hocket::communicator
