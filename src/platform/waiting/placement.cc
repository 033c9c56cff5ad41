// SPDX-License-Identifier: BSD-3-Clause
#include "platform/waiting/placement.h"

#include <sched.h>

#include <algorithm>
#include <cstring>

namespace hocket::platform {
namespace {

// Fails where there are more processors than a cpu_set_t has room for.
bool read_mask(cpu_set_t& allowed) { return sched_getaffinity(0, sizeof allowed, &allowed) == 0; }

cpu_set_t only(int core) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(core, &one);
  return one;
}

bool restore(const cpu_set_t& allowed) {
  if (sched_setaffinity(0, sizeof allowed, &allowed) == 0) return true;
  // None of the cores that were allowed is any more: all that are now.
  cpu_set_t every;
  std::memset(&every, 0xff, sizeof every);
  return sched_setaffinity(0, sizeof every, &every) == 0;
}

}  // namespace

bool move_away(const Turns& turns, int preferred) {
  cpu_set_t allowed;
  if (!read_mask(allowed)) return false;
  const auto is_free = [&](int core) { return CPU_ISSET(core, &allowed) && !turns.has_peer_on(core); };
  // The nearest above, so that ranks of different communicators do not all choose the same.
  const int here = std::max(sched_getcpu(), 0);
  int target = preferred;
  if (preferred < 0 || preferred >= CPU_SETSIZE || !is_free(preferred)) {
    int further = 1;
    while (further < CPU_SETSIZE && !is_free((here + further) % CPU_SETSIZE)) ++further;
    if (further == CPU_SETSIZE) return false;
    target = (here + further) % CPU_SETSIZE;
  }
  // Announced first, so that no peer follows.
  turns.come_to(target);
  const cpu_set_t one = only(target);
  return sched_setaffinity(0, sizeof one, &one) == 0 && restore(allowed);
}

bool leave_core() {
  cpu_set_t allowed;
  const int here = sched_getcpu();
  if (here < 0 || !read_mask(allowed)) return false;
  int further = 1;
  while (further < CPU_SETSIZE && !CPU_ISSET((here + further) % CPU_SETSIZE, &allowed)) ++further;
  if (further == CPU_SETSIZE) return false;
  const cpu_set_t one = only((here + further) % CPU_SETSIZE);
  return sched_setaffinity(0, sizeof one, &one) == 0 && restore(allowed);
}

AvoidPeers::AvoidPeers(const Turns* turns) {
  const int here = sched_getcpu();
  if (turns == nullptr || here < 0 || !read_mask(allowed_)) return;
  narrowed_ = allowed_;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (core != here && CPU_ISSET(core, &allowed_) && turns->has_peer_on(core)) CPU_CLR(core, &narrowed_);
  narrow();
}

AvoidPeers::AvoidPeers(AllCoresButOwn) {
  const int here = sched_getcpu();
  if (here < 0 || here >= CPU_SETSIZE || !read_mask(allowed_)) return;
  narrowed_ = only(here);
  narrow();
}

void AvoidPeers::narrow() {
  is_narrowed_ = !CPU_EQUAL(&narrowed_, &allowed_) && sched_setaffinity(0, sizeof narrowed_, &narrowed_) == 0;
}

AvoidPeers::~AvoidPeers() {
  cpu_set_t now;
  if (is_narrowed_ && read_mask(now) && CPU_EQUAL(&now, &narrowed_)) restore(allowed_);
}

}  // namespace hocket::platform
