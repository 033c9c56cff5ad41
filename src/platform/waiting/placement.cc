// SPDX-License-Identifier: BSD-3-Clause
#include "platform/waiting/placement.h"

#include <sched.h>

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

// To an allowed core that is free: to `preferred` if that is one, otherwise to the nearest above, so that ranks of
// different communicators do not all choose the same. It is announced first, so that no peer follows.
template <typename IsFree, typename Announce>
bool move(const IsFree& is_free, const Announce& announce, int preferred = -1) {
  cpu_set_t allowed;
  const int here = sched_getcpu();
  if (here < 0 || !read_mask(allowed)) return false;
  const auto fits = [&](int core) { return CPU_ISSET(core, &allowed) && is_free(core); };
  int target = preferred;
  if (preferred < 0 || preferred >= CPU_SETSIZE || !fits(preferred)) {
    int further = 1;
    while (further < CPU_SETSIZE && !fits((here + further) % CPU_SETSIZE)) ++further;
    if (further == CPU_SETSIZE) return false;
    target = (here + further) % CPU_SETSIZE;
  }
  announce(target);
  const cpu_set_t one = only(target);
  return sched_setaffinity(0, sizeof one, &one) == 0 && restore(allowed);
}

}  // namespace

bool move_away(const Turns& turns, int preferred) {
  return move([&](int core) { return !turns.has_peer_on(core); }, [&](int core) { turns.come_to(core); }, preferred);
}

bool move_away(CoreMarks& marks) {
  return move([&](int core) { return !marks.has_peer_on(core); }, [&](int core) { marks.mark(core); });
}

bool leave_core() {
  return move([](int) { return true; }, [](int) {});
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
