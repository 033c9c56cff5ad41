// SPDX-License-Identifier: BSD-3-Clause
// What the records of a job's processes say of its ranks at one time: where each is, for whom it waits, and who is late
// for whom, the latest first.
//
// Thread safety: pure functions, but for what a caller hands over.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "observe/process_facts.h"
#include "platform/whereabouts/metrics.h"
#include "platform/whereabouts/observer.h"
#include "platform/whereabouts/waits.h"

namespace hocket::observe {

// In the order of the list.
enum class Standing {
  kLate,         // others wait for it, and it waits for nobody
  kLateToo,      // others wait for it, which waits itself
  kOutsideCall,  // in no call, and nobody waits for it
  kInCall,
  kEnded,  // its part in the job, or its process
};

// What `state` says of a process that is no more.
inline constexpr const char* kHasEnded = "has ended";

struct RankView {
  int rank = -1;  // of the job; -1: unknown
  int process = 0;
  Standing standing = Standing::kInCall;
  std::string place;  // "MPI_Recv from rank 2, tag 3", "no MPI call"; "": unknown
  std::string after;  // of one in no call: the last one
  std::string text;   // the same as a sentence has it
  double for_s = 0;   // how long it has been there
  bool is_in_call = false;
  // Of a collective that it is in: which call of its communicator, and how hocket carries it out; 0, "": unknown.
  uint64_t call = 0, bytes = 0;
  uint32_t root = 0;
  std::string algorithm;
  // The last call of a communicator that it came to, which may be over.
  uint64_t last_communicator = 0, last_call = 0;

  std::vector<std::string> waits_for;  // "3", "process 4711"
  uint32_t waits_for_count = 0;        // of whom the first are listed
  double waits_s = 0;                  // for these

  std::vector<int> awaited_by;  // ranks
  uint32_t awaited_by_count = 0;
  double late_s = 0;  // how long the first of them has waited

  double waited_s = 0;  // in all collectives until now
  uint64_t late_lines = 0, came_after_all = 0;
  bool is_in_ring = false;  // of those in the job's deadlocks, certain or not
  double cpu_s = 0;
  uint64_t started = 0;  // the process, by the kernel's clock; 0: unknown
  std::string state;     // "runs", "sleeps in futex"
  // Of the time since an earlier view, if there was one: waited in collectives, and on processors.
  std::optional<double> waited_share, cpu_share;
  std::optional<double> calls_per_s;  // of the communicator that it called last, then as now
};

struct JobView {
  std::string label, program, host, library;
  uint32_t user = 0;
  int ranks = -1;                               // of the whole job; -1: unknown
  std::vector<RankView> here;                   // those of this machine, in the order of Standing
  std::vector<std::string> deadlocks;           // "rank 0 waits for rank 1, rank 1 for rank 0"
  std::vector<std::string> possible_deadlocks;  // likewise, of messages and of what else may still come
  platform::JobMetrics metrics;
  // Where another job goes by the same name, in another container: which one; else 0.
  uint64_t process_namespace = 0;

  // How long the longest wait for any rank has lasted.
  double late_s() const;
  // How long all ranks of the job have been in calls, each in one; 0: one isn't, or is on another machine.
  double stuck_s() const;
};

using FactsOf = std::function<ProcessFacts(int process)>;

// One view a job and user, by label. `now_ns`: by the coarse clock, as stamps are. `read_again`: see WaitGraph.
std::vector<JobView> views_of(std::vector<platform::SeenRecord> records, uint64_t now_ns, const FactsOf& facts_of,
                              const platform::WaitGraph::ReadAgain& read_again);

// Fills in the shares of the time that has passed since `before`, of the same job, and keeps those of its ranks whose
// processes have gone, unless others have come in their place.
void compare(const JobView& before, double passed_s, JobView& now);

}  // namespace hocket::observe
