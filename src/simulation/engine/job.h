// SPDX-License-Identifier: BSD-3-Clause
// A schedule as the simulation carries it out: the plans of all ranks for one count, without slices, each step with
// what it costs, what it waits for and whom it lets go on. A step takes 32 bytes, so that there may be a hundred
// million.
//
// Thread safety: a job does not change once it is made; a JobWriter belongs to one thread.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "schedule/plan.h"
#include "simulation/engine/unread.h"

namespace hocket::simulation {

inline constexpr uint32_t kNothing = 0xffffffffu;

// What a step does, as far as its price and what follows from it go.
enum class Work : uint8_t {
  kLocal,      // copies, combines, and what costs nothing
  kSend,       // to the rank `other`, whose step `partner` takes it
  kTake,       // what step `partner` sends
  kPublish,    // memory becomes readable, or writable
  kRead,       // what step `partner` has published
  kPut,        // into what step `partner` has published; counted by the counter `other`
  kAdd,        // `value` to the counter `other`
  kWait,       // until the counter `other` has reached `value`
  kMulticast,  // to the ranks that have a kFirstOf for it
  kFirstOf,    // what step `partner` sends or step `other` multicasts
  kTrigger,    // an engine carries it out
};

struct Step {
  enum Flag : uint8_t {
    kEndsStage = 1,
    kByWire = 2,        // to or from another node
    kCopies = 4,        // its bytes, by a processor
    kCombines = 8,      // its bytes
    kFills = 16,        // buffers as long as the call's with what it copies
    kIsShared = 32,     // kAdd, kWait: of a counter that all ranks of a node have
    kGetsNothing = 64,  // kTrigger: its rank need not wait for the end
  };
  uint64_t bytes = 0;
  uint32_t unread = 0;  // of the bytes that it reads: what an interface wrote and nobody has read since
  uint32_t partner = kNothing;
  uint32_t other = kNothing;
  uint32_t value = 0;
  uint32_t rank = 0;  // whose step it is
  Work work = Work::kLocal;
  uint8_t flags = 0;

  bool is(Flag flag) const { return (flags & flag) != 0; }
};
static_assert(sizeof(Step) == 32);

struct Job {
  std::vector<Step> steps;         // rank by rank
  std::vector<uint32_t> begins;    // of each rank in `steps`, and the end of the last
  std::vector<uint32_t> node_of;   // each rank
  std::vector<uint32_t> users;     // of each node's interface: ranks that send to other nodes, or get from them
  std::vector<uint32_t> cache_of;  // each rank, if that is known
  std::vector<uint32_t> socket_of;
  // Which steps take which multicast, by multicast.
  struct Taker {
    uint32_t multicast;
    uint32_t step;
  };
  std::vector<Taker> takers;
  uint32_t counters = 0;
  double buffers_kib = 0;  // of the program's memory that the call is about, on all ranks of the fullest node

  uint32_t ranks() const { return static_cast<uint32_t>(node_of.size()); }
  uint32_t nodes() const { return static_cast<uint32_t>(users.size()); }
};

// Beyond, a job is refused: with what the simulation keeps of each step, it would take more than 6 GiB.
inline constexpr size_t kMostSteps = 100'000'000;

class JobWriter {
 public:
  // `nodes` outlives it; nullptr: one. `finds_misses`: whether it is found out what is read that an interface has
  // written.
  JobWriter(uint32_t ranks, const schedule::Nodes* nodes, uint64_t count, uint64_t element_bytes, bool finds_misses);
  // The plans in the order of ranks, as long as has_room() says so.
  void add(const schedule::Plan& plan);
  // False as soon as the ranks so far leave no doubt.
  bool has_room() const;
  Job finish();

 private:
  void write(const schedule::Step& step, Step& written);
  void write_send(const schedule::Step& step, Step& written);
  void write_publication(const schedule::Step& step, Step& written);
  void write_other(const schedule::Step& step, Step& written);
  void follow(const schedule::Step& step, Step& written);
  void leave(const schedule::Step& step, const schedule::Range& source);
  void index(uint32_t rank);
  void connect(uint32_t rank);
  void connect_messages(uint32_t rank);
  void connect_published(Step& step);
  void connect_multicasts(uint32_t rank);
  void connect_counter(Step& step) const;
  void number_counters();
  void read_of_peers();
  bool is_by_wire(const schedule::Step& step) const;
  uint64_t bytes_of(const schedule::Slice& slice) const;

  const schedule::Nodes* nodes_;
  uint32_t ranks_;
  uint64_t count_;
  uint64_t element_bytes_;
  bool finds_misses_;
  uint32_t rank_ = 0;  // whose plan comes next
  Job job_;
  // Steps of all ranks, one rank's behind the other's: sends by receiver, publications by slot and version, multicasts.
  struct Index {
    std::vector<uint32_t> steps;
    std::vector<uint32_t> begins;
    std::span<const uint32_t> of(uint32_t rank) const {
      return {steps.data() + begins[rank], steps.data() + begins[rank + 1]};
    }
  };
  Index sends_;
  Index published_;
  Index multicasts_;
  struct Exposed {
    uint32_t counter = 0;
    uint32_t puts = 0;
  };
  std::unordered_map<uint32_t, Exposed> exposed_;  // by the step
  std::vector<uint32_t> collecting_;               // steps that take what was put
  std::vector<uint32_t> counters_of_;              // of each rank, the first; behind them those of nodes
  Unread unread_;                                  // of the rank whose plan is being written
  std::unordered_map<uint32_t, std::vector<schedule::Range>> left_unread_;  // of what a step leaves to its readers
  std::unordered_map<uint32_t, schedule::Range> read_;                      // of steps that read what peers have
};

}  // namespace hocket::simulation
