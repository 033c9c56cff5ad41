// SPDX-License-Identifier: BSD-3-Clause
// The policy of a waiting rank, as a pure state machine: times, cores and events are passed in, and it returns what to
// do before the next look. The Waiter (waiting.h) carries it out in hocket's own waits, the shim (core/mpi_wait.h) in
// those of the MPI; tests/unit/platform/waiting/model_test.cc tests it on a modelled scheduler.
//
// During one wait for peers:
//
//   state    | entered                                    | between two looks        | left
//   ---------|--------------------------------------------|--------------------------|-------------------------------
//   eager    | a wait begins, and the rank has a core     | nothing                  | after 64 looks
//   spinning | after eager                                | pauses the processor;    | after 50 us, but no sooner than
//            |                                            | observes clock and cores | 200 us after it woke a peer; at
//            |                                            | every 128 looks          | once if a peer is on its core
//   yielding | a wait begins, and ranks share cores;      | yields the core          | after 1 ms that no rank of the
//            | after spinning                             |                          | job used, and not while wanted
//   sleeping | after yielding; at once while costly       | sleeps 0.5 ms, then      | what it waits for comes
//            |                                            | twice as long, to 10 ms  |
//
// During one wait in another library (WaitPolicy::library). A look is a poll of that library and takes as long as a
// pause:
//
//   state    | entered                                    | between two looks        | left
//   ---------|--------------------------------------------|--------------------------|-------------------------------
//   eager    | a wait begins, and the rank has a core or  | nothing; observes every  | after spin_ns without an event
//            | the library yields                         | 64 looks                 | (3 ms), not while wanted; at
//            |                                            |                          | once if a peer is on its core
//   yielding | a wait begins, and ranks share cores or    | yields the core; the     | the same; when sharing is left
//            | this one is sharing                        | same                     |
//   sleeping | after either                               | sleeps for a part of the | a look moves something, or the
//            |                                            | time without an event    | rank is wanted: a peer has rung
//
// From one wait to the next:
//
//   state    | entered                                    | effect                   | left
//   ---------|--------------------------------------------|--------------------------|-------------------------------
//   sharing  | a peer was last on this rank's core, and   | yields at once           | at the next observation, which
//            | no other allowed core is without ranks     |                          | each yield makes
//   moved    | the rank has moved away from a peer, or    | does not move again      | after 1 ms
//            | could not                                  |                          |
//   costly   | ranks share cores, time slices can't be    | sleeps at once           | after as long as the first of
//            | shortened, and two yields, 1 ms apart at   |                          | these yields took, 4 ms at most
//            | most, took 1 ms and more and went to a     |                          |
//            | foreign program                            |                          |
//
// Thread safety: one thread at a time.
#pragma once

#include <algorithm>
#include <cstdint>

namespace hocket::platform {

class Turns;

// kSpin and kYield never sleep: for measurements, and for users who would rather burn a core.
enum class WaitMode : uint8_t { kAutomatic, kSpin, kYield, kSleep };

// The length of a sleep: the time without an event over a divisor, within bounds.
struct SleepTimes {
  int64_t divisor, shortest_ns, longest_ns;
  constexpr int64_t after(int64_t idle_ns) const { return std::clamp(idle_ns / divisor, shortest_ns, longest_ns); }
};
// Waits in another library sleep after this time without an event,
inline constexpr int64_t kAwakeInLibraryNs = 3'000'000;
// poll this often after each sleep,
inline constexpr uint32_t kLibraryPollsBetweenSleeps = 8;
// and sleep for these times if every event comes with a ring.
inline constexpr SleepTimes kSleepsWithRings{32, 50'000, 4'000'000};

struct WaitPolicy {
  WaitMode mode = WaitMode::kAutomatic;  // HOCKET_WAIT=auto|spin|yield|sleep
  bool oversubscribed = false;           // more ranks than cores on this node; in the shim: on any of the job
  int64_t spin_ns = 50'000;              // how long to spin, where spinning is right, before yielding
  int64_t yield_ns = 1'000'000;          // how long to yield, for nothing, before sleeping
  int64_t slice_ns = 0;                  // a rank that may have to yield asks for time slices this short; 0: it doesn't
  const Turns* turns = nullptr;          // of the ranks waited with; outlive the waiter. nullptr: unknown
  // Ranks whose turns can't be seen share these cores: nodes that are parts of one machine. As far as this rank knows,
  // one of them had a core that was taken from it.
  bool has_hidden_peers = false;
  // Waits in another library. spin_ns is the time without an event after which they sleep.
  struct Library {
    bool is_polled = false;
    bool yields = false;  // the library does, where ranks share cores
    uint32_t looks_before_yield = 0;
    uint32_t looks_between_sleeps = 1;
  };
  Library library{};

  // Whether a thread is to yield between looks that another library makes.
  constexpr bool yields_in_library() const {
    return !library.yields && (mode == WaitMode::kYield || (oversubscribed && mode != WaitMode::kSpin));
  }
};

// The action before the next look.
enum class WaitStep : uint8_t {
  kLook,     // nothing
  kRelax,    // pause the processor
  kObserve,  // call observe(), which returns what else
  kYield,    // yield, then call yielded(), but not in a library
  kMove,     // move to a core without ranks, if there is one
  kSleep,    // sleep for sleep_ns() at most, then call woken(); in a library by idle_ns(), without woken()
};

class WaitState {
 public:
  struct View {
    int64_t now_ns = 0;
    bool has_peer_here =
        false;                // a peer was last on this rank's core; in a library: has come there since this rank did
    bool has_worked = false;  // the rank has made progress since it last got its core; in a library: in these looks
    int64_t woke_ns = 0;      // when the rank last woke a peer
    bool is_wanted = false;   // peers may need its polls of the library underneath, or the caller may not sleep
  };

  static constexpr int64_t kFirstSleepNs = 500'000;
  static constexpr int64_t kLongestSleepNs = 10'000'000;
  // The first looks of a wait follow each other at once: what a running peer answers comes within them, and the pause
  // that spares a sibling thread on the same core would be most of the time it takes.
  static constexpr uint32_t kEagerLooks = 64;
  // A look costs some ten nanoseconds, reading the clock several times that.
  static constexpr uint32_t kLooksPerObservation = 128;
  static constexpr uint32_t kLibraryPollsPerObservation = 64;

  // `policy` outlives the state.
  explicit constexpr WaitState(const WaitPolicy& policy) : policy_(&policy) {}

  // A wait begins.
  void start() {
    looks_ = 0;
    started_ns_ = last_ns_ = idle_ns_ = 0;
    sleep_ns_ = kFirstSleepNs;
    sleeps_ = false;
    if (policy_->library.is_polled) {
      spins_ = !yields_in_library();
      eager_looks_ = UINT32_MAX;
      period_mask_ = kLibraryPollsPerObservation - 1;
    } else {
      spins_ = has_core();
    }
  }
  // A look found nothing. `at_work`: it found the peer just writing what is waited for.
  WaitStep step(bool at_work) {
    const uint32_t look = looks_++;
    if (spins_ && (look & period_mask_) != period_mask_)
      return look < eager_looks_ ? WaitStep::kLook : WaitStep::kRelax;
    return step_slowly(look, at_work);
  }
  // Returns the action after kObserve: any other one.
  WaitStep observe(const View& view);
  // A yield that ended at `now_ns` took `took_ns`. `foreign_ns`: of this one or the one before, what is now known to
  // have gone to others than the job's ranks.
  void yielded(int64_t now_ns, int64_t took_ns, int64_t foreign_ns, bool has_peer_here);
  void woken(int64_t now_ns, bool by_peer, bool has_peer_here);
  // Whether time slices could be shortened, so that yields stay cheap beside other load.
  void set_slices(bool are_short) { slices_are_short_ = are_short; }

  bool spins() const { return spins_; }
  bool sleeps() const { return sleeps_; }  // in a library: the last decision was to sleep
  int64_t sleep_ns() const { return sleep_ns_; }
  int64_t started_ns() const { return started_ns_; }  // 0: this wait has read no clock
  int64_t last_ns() const { return last_ns_; }
  // How long nothing has come: in a library since the last event, otherwise on yields that let no rank of the job work.
  int64_t idle_ns() const { return idle_ns_; }
  bool yields_are_costly(int64_t now_ns) const { return now_ns < costly_until_ns_; }

 private:
  bool has_core() const {
    return policy_->mode == WaitMode::kSpin ||
           (policy_->mode == WaitMode::kAutomatic && !policy_->oversubscribed && !shares_core_);
  }
  bool yields_in_library() const { return policy_->yields_in_library() || shares_core_; }
  bool is_to_move();
  WaitStep step_slowly(uint32_t look, bool at_work);
  WaitStep step_in_library(uint32_t look) const;
  WaitStep observe_in_library(const View& view);
  void note(int64_t now_ns, bool has_peer_here);

  const WaitPolicy* policy_;
  // State of this wait.
  uint32_t looks_ = 0;
  bool spins_ = false;  // eager or spinning
  bool sleeps_ = false;
  uint32_t eager_looks_ = kEagerLooks;
  uint32_t period_mask_ = kLooksPerObservation - 1;  // the last look of a period reads the clock
  int64_t started_ns_ = 0;
  int64_t last_ns_ = 0;
  int64_t idle_ns_ = 0;
  int64_t sleep_ns_ = kFirstSleepNs;
  // From one wait to the next.
  bool shares_core_ = false;
  bool slices_are_short_ = false;
  int64_t moved_ns_ = INT64_MIN / 2;
  int64_t costly_until_ns_ = 0;
};

}  // namespace hocket::platform
