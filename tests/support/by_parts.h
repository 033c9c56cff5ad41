// SPDX-License-Identifier: BSD-3-Clause
// A caller who lays the input down part by part, as hocket asks for it, and takes what is told to have come away at
// once.
#pragma once

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "c_api/internal/call.h"
#include "schedule/step.h"

namespace hocket::test {

class ByParts final : public c_api::OnDemand {
 public:
  // `input`: what shall lie from `input_at` on, where there is something else until it is asked for. `output`: where
  // the call may write to, or leave alone what is there.
  ByParts(std::span<const std::byte> input, std::byte* input_at, std::span<const std::byte> output)
      : input_(input),
        input_at_(input_at),
        is_there_(input.size()),
        output_(output),
        taken_(output.begin(), output.end()) {
    std::fill_n(input_at, input.size(), std::byte{0x55});
  }
  void need(const std::byte* first, uint64_t length) override {
    if (!lies_in({input_at_, input_.size()}, first, length)) return;
    const auto place = static_cast<size_t>(first - input_at_);
    for (size_t i = place; i < place + length; ++i) {
      if (!is_there_[i]) input_at_[i] = input_[i];
      is_there_[i] = 1;
    }
  }
  void arrived(const std::byte* first, uint64_t length) override {
    if (!lies_in(output_, first, length)) return;
    const auto place = static_cast<size_t>(first - output_.data());
    std::copy(first, first + length, taken_.begin() + static_cast<std::ptrdiff_t>(place));
    parts_.push_back({place, length});
  }
  // Nothing has changed after it was taken away.
  bool has_taken_results() const {
    return std::all_of(parts_.begin(), parts_.end(), [this](const schedule::Range& part) {
      return std::memcmp(&output_[part.offset], &taken_[part.offset], part.length) == 0;
    });
  }

 private:
  static bool lies_in(std::span<const std::byte> memory, const std::byte* first, uint64_t length) {
    return first >= memory.data() && first < memory.data() + memory.size() &&
           length <= static_cast<uint64_t>(memory.data() + memory.size() - first);
  }

  std::span<const std::byte> input_;
  std::byte* input_at_;
  std::vector<unsigned char> is_there_;
  std::span<const std::byte> output_;
  std::vector<std::byte> taken_;
  std::vector<schedule::Range> parts_;
};

}  // namespace hocket::test
