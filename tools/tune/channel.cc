// SPDX-License-Identifier: BSD-3-Clause
#include "tune/channel.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <sstream>

namespace hocket::command {

Channel::Channel() : file_(memfd_create("hocket-tune", MFD_CLOEXEC)) {}

Channel::~Channel() {
  if (file_ >= 0) close(file_);
}

void Channel::report(const Measurement& one) {
  dprintf(file_, "%d %u %d %llu %s %.6g %.6g %llu %.4g\n", static_cast<int>(one.collective), one.ranks,
          one.oversubscribed ? 1 : 0, static_cast<unsigned long long>(one.bytes), one.variant.c_str(), one.isolated_us,
          one.back_to_back_us, static_cast<unsigned long long>(one.calls), one.wobble);
}

std::vector<Measurement> Channel::read() const {
  std::string text;
  char buffer[4096];
  off_t at = 0;
  for (ssize_t bytes; (bytes = pread(file_, buffer, sizeof(buffer), at)) > 0; at += bytes)
    text.append(buffer, static_cast<size_t>(bytes));
  std::vector<Measurement> measurements;
  std::istringstream stream(text);
  Measurement one;
  for (int collective = 0, oversubscribed = 0; stream >> collective >> one.ranks >> oversubscribed >> one.bytes >>
                                               one.variant >> one.isolated_us >> one.back_to_back_us >> one.calls >>
                                               one.wobble;) {
    one.collective = static_cast<schedule::Collective>(collective);
    one.oversubscribed = oversubscribed != 0;
    measurements.push_back(one);
  }
  return measurements;
}

}  // namespace hocket::command
