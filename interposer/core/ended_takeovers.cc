// SPDX-License-Identifier: BSD-3-Clause
#include "core/ended_takeovers.h"

#include <algorithm>
#include <deque>
#include <mutex>
#include <new>
#include <utility>

namespace hocket::interposer {
namespace {

struct Ended {
  std::mutex mutex;
  std::deque<std::unique_ptr<c_api::Takeover>> all;
};

// Never destroyed: threads of the program may outlive static destruction.
Ended& ended() {
  static auto* const ended = new Ended;
  return *ended;
}

// Beyond that the oldest goes: what peers may still want to know of it only costs them room.
constexpr size_t kMostKept = 1024;

}  // namespace

void keep_takeover(std::unique_ptr<c_api::Takeover> takeover) {
  if (takeover->may_go()) return;
  Ended& self = ended();
  const std::lock_guard lock(self.mutex);
  try {
    self.all.push_back(std::move(takeover));
  } catch (const std::bad_alloc&) {
    return;  // as beyond those that are kept
  }
  if (self.all.size() > kMostKept) self.all.pop_front();
}

void collect_takeovers(size_t looks) {
  Ended& self = ended();
  const std::lock_guard lock(self.mutex);
  for (looks = std::min(looks, self.all.size()); looks != 0; --looks) {
    std::unique_ptr<c_api::Takeover> one = std::move(self.all.front());
    self.all.pop_front();
    if (!one->may_go()) self.all.push_back(std::move(one));
  }
}

void drop_takeovers() {
  Ended& self = ended();
  const std::lock_guard lock(self.mutex);
  self.all.clear();
}

}  // namespace hocket::interposer
