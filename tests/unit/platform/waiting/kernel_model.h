// SPDX-License-Identifier: BSD-3-Clause
// A model of a kernel's scheduler: cores, run queues, time slices, wake-ups and foreign load, as discrete events, all
// chances drawn from a seed.
//
//   - A woken thread is put on its waker's core or on its own, after a delay; it may interrupt a foreign process.
//   - A core that falls idle may take a thread that another has queued for long enough; besides, a balancer moves one
//     every tenth of a second.
//   - Threads of one core take turns by slices. One that yields goes to the end of the queue.
//
// Nothing here reads a clock or blocks. Times are nanoseconds.
//
// Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

namespace hocket::platform::model {

inline constexpr int64_t kNever = INT64_MAX / 2;

// Splitmix64.
class Chance {
 public:
  explicit Chance(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }
  int64_t between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(next() % static_cast<uint64_t>(high - low + 1));
  }
  bool percent(uint32_t chance) { return next() % 100 < chance; }

 private:
  uint64_t state_;
};

// A foreign process that computes.
struct Load {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
};

struct Thread {
  enum class At : uint8_t { kRunning, kQueued, kAsleep, kWaking, kNowhere };
  At at = At::kNowhere;
  bool is_load = false;
  uint32_t core = 0;          // where it is, or was last
  int64_t left_ns = 0;        // processor time that its step still takes
  int64_t timer_ns = kNever;  // when a sleep ends by itself, or a wake-up arrives
  uint32_t wakes_on = 0;
  int64_t ran_ns = 0;  // when it last had a core
  int64_t processor_ns = 0;
};

class Kernel {
 public:
  // Threads 0 to `threads` - 1 exist from the beginning, each asleep for ever.
  // `slice_ns`: of threads other than loads; `places_well`: each woken thread gets the best core, at once.
  Kernel(uint32_t cores, uint32_t threads, const std::vector<Load>& loads, int64_t slice_ns, bool places_well,
         Chance& chance);

  enum class What : uint8_t { kStep, kTimer, kNothing };
  struct Event {
    What what = What::kNothing;
    uint32_t thread = 0;
  };
  // Goes on until a thread's step is over (its processor time used up) or a sleep has ended by itself (the thread has
  // been queued). kNothing: that doesn't happen before `limit_ns`.
  Event next(int64_t limit_ns);

  int64_t now_ns() const { return now_ns_; }
  Thread& thread(uint32_t id) { return threads_[id]; }
  uint32_t cores() const { return static_cast<uint32_t>(cores_.size()); }
  bool has_load() const { return running_loads_ != 0; }

  // By the thread that runs.
  void sleep(uint32_t id, int64_t timer_ns);
  void yield(uint32_t id);
  void move(uint32_t id, uint32_t core);
  void end(uint32_t id);
  // A sleeper; without effect on others.
  void wake(uint32_t id, uint32_t waker_core);
  // A thread that has no core yet.
  void begin(uint32_t id, uint32_t core) { enqueue(id, core); }
  // The step of a thread ends after so much at most.
  void shorten(uint32_t id, int64_t left_ns);

 private:
  struct Core {
    int running = -1;
    std::deque<uint32_t> queue;
    int64_t since_ns = 0;
    int64_t slice_end_ns = kNever;
  };

  void settle(Core& core);
  void enqueue(uint32_t id, uint32_t core);
  void leave(uint32_t id);
  void pick(uint32_t core);
  void take_from_others(uint32_t core);
  void balance();
  void end_slice(uint32_t core);
  uint32_t best_core(uint32_t id) const;
  void change_loads();

  const std::vector<Load>& loads_;
  uint32_t first_load_;
  int64_t slice_ns_;
  bool places_well_;
  Chance& chance_;
  int64_t now_ns_ = 0;
  int64_t balance_ns_;
  uint32_t running_loads_ = 0;
  std::vector<Core> cores_;
  std::vector<Thread> threads_;
};

}  // namespace hocket::platform::model
