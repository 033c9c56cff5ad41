// SPDX-License-Identifier: BSD-3-Clause
#include "core/report/choices.h"

#include <algorithm>

namespace hocket::interposer {

std::vector<ChoiceTimes> Choices::read() const {
  const std::lock_guard guard(lock_);
  std::vector<ChoiceTimes> choices = choices_ == nullptr ? std::vector<ChoiceTimes>() : *choices_;
  std::sort(choices.begin(), choices.end(), [](const ChoiceTimes& a, const ChoiceTimes& b) { return a.ns > b.ns; });
  return choices;
}

}  // namespace hocket::interposer
