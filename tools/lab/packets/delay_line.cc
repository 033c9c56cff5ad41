// SPDX-License-Identifier: BSD-3-Clause
#include "lab/packets/delay_line.h"

#include <algorithm>
#include <utility>

namespace hocket::lab {

std::optional<uint64_t> DelayLine::add(std::vector<uint8_t> frame, uint32_t link, bool is_held,
                                       const lab_settings& settings, uint64_t came_ns) {
  if (bytes_ + frame.size() > most_bytes_) return std::nullopt;
  uint64_t release_ns = came_ns + settings.delay_ns;
  if (settings.jitter_ns != 0)
    release_ns += lab_random(settings.seed, link, LAB_JITTER, number_[link]++) % (settings.jitter_ns + 1);
  release_ns = std::max(release_ns, last_release_ns_[link]);
  if (is_held)
    release_ns += settings.hold_ns;
  else
    last_release_ns_[link] = release_ns;
  bytes_ += frame.size();
  waiting_.push({release_ns, serial_++, std::move(frame)});
  return release_ns;
}

std::optional<std::vector<uint8_t>> DelayLine::take_due(uint64_t now_ns) {
  if (next_ns() > now_ns) return std::nullopt;
  std::vector<uint8_t> frame = std::move(waiting_.top().frame);
  waiting_.pop();
  bytes_ -= frame.size();
  return frame;
}

}  // namespace hocket::lab
