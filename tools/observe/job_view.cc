// SPDX-License-Identifier: BSD-3-Clause
#include "observe/job_view.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/clock.h"
#include "platform/whereabouts/description.h"

namespace hocket::observe {
namespace {

using platform::FunctionStamp;
using platform::ProcessState;
using platform::SeenRecord;
using platform::ThreadLine;

constexpr size_t kMostDeadlocks = 4;
constexpr size_t kMostListed = 64;
constexpr size_t kMostOfRing = 16;
constexpr double kFinest = 0.1;  // seconds: when waits began and ended is known by different clocks
constexpr const char* kGone = "no part in the job any more";

uint64_t since(const FunctionStamp& stamp) { return stamp.since_ns.load(std::memory_order_relaxed); }

double seconds(uint64_t since_ns, uint64_t now_ns) {
  return since_ns != 0 && now_ns > since_ns ? static_cast<double>(now_ns - since_ns) / 1e9 : 0;
}

// Of those that one process keeps: the one that tells its rank, and of these the first.
bool is_better(const SeenRecord& one, const SeenRecord& other) { return one->rank >= 0 && other->rank < 0; }

bool has_ended(const ProcessFacts& facts) {
  return !facts.is_there || facts.state.kind == ProcessState::Kind::kUnknown ||
         facts.state.kind == ProcessState::Kind::kEnded;
}

// A rank by what the record says, else as its largest communicator has it.
std::pair<int, int> rank_in_job(const SeenRecord& record) {
  if (record->rank >= 0) return {record->rank, record->ranks};
  std::pair<int, int> found{-1, -1};
  for (const platform::CommunicatorName& one : record->communicators)
    if (one.number.load(std::memory_order_relaxed) != 0 && static_cast<int>(one.size) > found.second)
      found = {static_cast<int>(one.rank), static_cast<int>(one.size)};
  return found;
}

void describe_call(const SeenRecord& record, const ThreadLine& line, RankView& view) {
  if (line.communicator.load(std::memory_order_relaxed) == 0) return;
  view.call = line.number.load(std::memory_order_relaxed);
  view.bytes = line.bytes.load(std::memory_order_relaxed);
  view.root = line.root.load(std::memory_order_relaxed);
  if (const uint32_t algorithm = line.algorithm.load(std::memory_order_relaxed); algorithm != 0)
    view.algorithm = printable(record.algorithm(algorithm - 1));
}

void describe_where(const SeenRecord& record, uint64_t now_ns, RankView& view) {
  const ThreadLine* const line = platform::telling_line(*record);
  view.text = printable(platform::describe_place(record, now_ns));
  if (line == nullptr) {
    view.place = "no call yet";
    view.standing = Standing::kOutsideCall;
    return;
  }
  view.last_communicator = line->communicator.load(std::memory_order_relaxed);
  view.last_call = line->number.load(std::memory_order_relaxed);
  const bool is_collective = line->collective.is_in();
  if (is_collective || line->other.is_in()) {
    const FunctionStamp& stamp = is_collective ? line->collective : line->other;
    view.place = platform::describe_function(record, stamp);
    const uint64_t number = line->communicator.load(std::memory_order_relaxed);
    if (is_collective && number != 0) view.place += " of " + platform::describe_communicator(record, number);
    view.place = printable(view.place);
    view.for_s = seconds(since(stamp), now_ns);
    view.is_in_call = true;
    if (is_collective) describe_call(record, *line, view);
    return;
  }
  const FunctionStamp& last = since(line->other) >= since(line->collective) ? line->other : line->collective;
  view.after = printable(platform::describe_function(record, last));
  view.place = view.after.starts_with("MPI_") ? "no MPI call" : "no call of hocket";
  view.for_s = seconds(since(last), now_ns);
  view.standing = Standing::kOutsideCall;
}

// A ring of very many.
std::string shortened(const std::string& deadlock, size_t ranks) {
  size_t end = 0;
  for (size_t i = 0; i < kMostOfRing && end != deadlock.npos; ++i) end = deadlock.find(", ", end + 1);
  if (end == deadlock.npos) return deadlock;
  return deadlock.substr(0, end) + " and so on, " + std::to_string(ranks) + " ranks in all";
}

// Records of one job, and what is known of their processes.
struct Job {
  std::vector<SeenRecord> records;
  std::map<int, ProcessFacts> facts;
};

class JobReader {
 public:
  JobReader(const Job& job, uint64_t now_ns, const FactsOf& facts_of)
      : job_(job), now_ns_(now_ns), facts_of_(facts_of), owners_(job.records) {
    for (const SeenRecord& one : job.records) {
      const auto [found, is_new] = place_of_.emplace(one.process(), told_.size());
      if (is_new)
        told_.push_back(&one);
      else if (is_better(one, *told_[found->second]))
        told_[found->second] = &one;
    }
  }

  JobView read(const platform::WaitGraph::ReadAgain& read_again) {
    const SeenRecord& first = *told_.front();
    const ProcessFacts& facts = job_.facts.at(first.process());
    view_.label = printable(first.job());
    view_.host = printable(first.host());
    view_.library = printable(first.library());
    view_.program = printable(facts.program);
    view_.user = facts.user;
    view_.metrics = platform::metrics_of(job_.records, now_ns_);
    view_.metrics.program = facts.program;
    view_.metrics.user = facts.user;
    for (const SeenRecord* one : told_) {
      view_.here.push_back(view_of(*one, job_.facts.at(one->process())));
      view_.ranks = std::max(view_.ranks, rank_in_job(*one).second);
    }
    for (size_t i = 0; i < told_.size(); ++i) note_waits(i);
    for (RankView& one : view_.here) judge(one);
    find_deadlocks(read_again);
    sort();
    return std::move(view_);
  }

 private:
  RankView view_of(const SeenRecord& record, const ProcessFacts& facts) const {
    RankView view;
    view.rank = rank_in_job(record).first;
    view.process = record.process();
    describe_where(record, now_ns_, view);
    view.waited_s = platform::waited_s(record, now_ns_);
    view.late_lines = record->late_lines.load(std::memory_order_relaxed);
    view.came_after_all = record->came_after_all.load(std::memory_order_relaxed);
    view.cpu_s = facts.cpu_s;
    view.started = facts.started;
    view.state = has_ended(facts) ? kHasEnded : platform::describe(facts.state);
    if (record->ended.load(std::memory_order_relaxed) != 0 || has_ended(facts)) {
      view.standing = Standing::kEnded;
      view.place = kGone;
      view.after.clear();
      view.is_in_call = false;
    }
    return view;
  }

  std::string name_of(size_t one) const {
    const RankView& view = view_.here[one];
    return view.rank >= 0 ? std::to_string(view.rank) : "process " + std::to_string(view.process);
  }

  void note(size_t waiting, size_t awaited, double for_s) {
    if (waiting == awaited) return;
    RankView& late = view_.here[awaited];
    late.late_s = std::max(late.late_s, for_s);
    ++late.awaited_by_count;
    if (late.awaited_by.size() < kMostListed) late.awaited_by.push_back(view_.here[waiting].rank);
    view_.here[waiting].waits_for.push_back(name_of(awaited));
  }

  // Its process has gone, and its record with it: unless it is seen to have ended, nothing is known of it.
  void note_gone(size_t waiting, uint32_t process, double for_s) {
    const auto [found, is_new] = gone_.emplace(process, view_.here.size());
    if (is_new) {
      RankView gone;
      gone.process = static_cast<int>(process);
      const ProcessFacts facts = facts_of_(gone.process);
      gone.state = has_ended(facts) ? kHasEnded : platform::describe(facts.state);
      gone.place = has_ended(facts) ? kGone : "";
      gone.standing = has_ended(facts) ? Standing::kEnded : Standing::kOutsideCall;
      view_.here.push_back(gone);
    }
    note(waiting, found->second, for_s);
  }

  // Numbers of another container's processes would be taken for those of others here.
  static bool counts_as_we_do(const SeenRecord& record) {
    return record->process == static_cast<uint32_t>(record.process());
  }

  void note_waits(size_t one) {
    const SeenRecord& record = *told_[one];
    const ThreadLine* const line = platform::telling_line(*record);
    if (line == nullptr || view_.here[one].standing == Standing::kEnded) return;
    if (const uint64_t since_ns = platform::waits_since_ns(*line); since_ns != 0) {
      const double for_s = seconds(since_ns, now_ns_);
      const uint32_t count = line->awaited_ranks.load(std::memory_order_relaxed);
      view_.here[one].waits_s = for_s;
      view_.here[one].waits_for_count = count;
      for (uint32_t i = 0; i < std::min(count, ThreadLine::kAwaited); ++i) {
        const uint32_t process = line->awaited[i].load(std::memory_order_relaxed);
        if (const SeenRecord* const awaited = owners_.named(process); awaited != nullptr) {
          if (!platform::has_come(*awaited, *line)) note(one, place_of_.at(awaited->process()), for_s);
        } else if (process != 0 && !owners_.has_named(process) && counts_as_we_do(record))
          note_gone(one, process, for_s);
      }
    } else {
      const SeenRecord* const peer = owners_.of_rank(platform::awaited_peer(*line, now_ns_));
      if (peer == nullptr || peer->process() == record.process()) return;
      view_.here[one].waits_s = view_.here[one].for_s;
      view_.here[one].waits_for_count = 1;
      note(one, place_of_.at(peer->process()), view_.here[one].for_s);
    }
  }

  static void judge(RankView& one) {
    if (one.awaited_by_count != 0) one.standing = one.waits_for.empty() ? Standing::kLate : Standing::kLateToo;
  }

  void find_deadlocks(const platform::WaitGraph::ReadAgain& read_again) {
    const platform::WaitGraph graph(job_.records, now_ns_, read_again);
    for (platform::Ring& ring : graph.rings(kMostDeadlocks)) {
      for (const SeenRecord* member : ring.members) view_.here[place_of_.at(member->process())].is_in_ring = true;
      // Told alike, wherever it was entered.
      std::rotate(ring.members.begin(),
                  std::min_element(ring.members.begin(), ring.members.end(),
                                   [](const auto* a, const auto* b) {
                                     return std::pair((*a)->rank, a->process()) < std::pair((*b)->rank, b->process());
                                   }),
                  ring.members.end());
      (ring.is_certain ? view_.deadlocks : view_.possible_deadlocks)
          .push_back(shortened(platform::describe_ring(ring), ring.members.size()));
    }
  }

  // Waits for the same call began at about the same time.
  void sort() {
    const auto key = [](const RankView& one) {
      return std::tuple(one.standing, -std::lround(one.late_s), -static_cast<int64_t>(one.awaited_by_count),
                        -std::lround(one.standing == Standing::kInCall ? one.waits_s : one.for_s), one.rank,
                        one.process);
    };
    std::sort(view_.here.begin(), view_.here.end(),
              [&](const RankView& one, const RankView& other) { return key(one) < key(other); });
  }

  const Job& job_;
  uint64_t now_ns_;
  const FactsOf& facts_of_;
  platform::OwnersOfRecords owners_;
  JobView view_;
  std::vector<const SeenRecord*> told_;  // one a process, as in view_.here
  std::map<int, size_t> place_of_;       // by process
  std::map<uint32_t, size_t> gone_;      // likewise, of those without a record
};

// A rank is one process. Where several say that they are the same one, in different containers, they are of different
// jobs, whose launchers have called them alike.
bool has_doubles(const Job& job) {
  std::map<int32_t, uint64_t> known;
  return std::any_of(job.records.begin(), job.records.end(), [&](const SeenRecord& one) {
    if (one->rank < 0) return false;
    return known.emplace(one->rank, one.process_namespace()).first->second != one.process_namespace();
  });
}

std::map<uint64_t, Job> parts_of(Job job) {
  std::map<uint64_t, Job> parts;
  const bool is_split = has_doubles(job);
  for (SeenRecord& one : job.records) {
    Job& part = parts[is_split ? one.process_namespace() : 0];
    part.facts.emplace(one.process(), job.facts.at(one.process()));
    part.records.push_back(std::move(one));
  }
  return parts;
}

}  // namespace

double JobView::late_s() const {
  double longest = 0;
  for (const RankView& one : here) longest = std::max(longest, one.late_s);
  return longest;
}

double JobView::stuck_s() const {
  if (here.empty() || static_cast<int>(here.size()) != ranks) return 0;
  double shortest = here.front().for_s;
  for (const RankView& one : here) shortest = one.is_in_call ? std::min(shortest, one.for_s) : 0;
  return shortest;
}

// Another user may call its job as it likes: what it says is its own affair.
std::vector<JobView> views_of(std::vector<SeenRecord> records, uint64_t now_ns, const FactsOf& facts_of,
                              const platform::WaitGraph::ReadAgain& read_again) {
  std::map<std::pair<std::string, uint32_t>, Job> jobs;
  std::map<int, ProcessFacts> known;
  for (SeenRecord& one : records) {
    const auto [facts, is_new] = known.try_emplace(one.process());
    if (is_new) facts->second = facts_of(one.process());
    // It has ended since its record was read: whose it was isn't known any more.
    if (!facts->second.is_there) continue;
    Job& job = jobs[{std::string(one.job()), facts->second.user}];
    job.facts.emplace(one.process(), facts->second);
    job.records.push_back(std::move(one));
  }
  std::vector<JobView> views;
  for (auto& [name, job] : jobs) {
    std::map<uint64_t, Job> parts = parts_of(std::move(job));
    for (const auto& [process_namespace, part] : parts) {
      views.push_back(JobReader(part, now_ns, facts_of).read(read_again));
      views.back().process_namespace = process_namespace;
    }
  }
  return views;
}

void compare(const JobView& before, double passed_s, JobView& now) {
  std::map<int, const RankView*> earlier;
  for (const RankView& one : before.here) earlier.emplace(one.process, &one);
  for (RankView& one : now.here) {
    const auto found = earlier.find(one.process);
    if (found == earlier.end()) continue;
    const RankView& old = *found->second;
    // Another process that has got its number.
    if (one.started != old.started && one.started != 0 && old.started != 0) continue;
    earlier.erase(found);
    if (one.rank < 0) one.rank = old.rank;
    if (one.standing == Standing::kEnded || passed_s <= 0) continue;
    // Of a record that was started anew nothing is known before the next look.
    if (one.waited_s + kFinest >= old.waited_s)
      one.waited_share = std::clamp((one.waited_s - old.waited_s) / passed_s, 0.0, 1.0);
    one.cpu_share = std::max((one.cpu_s - old.cpu_s) / passed_s, 0.0);
    if (one.last_communicator != 0 && one.last_communicator == old.last_communicator && one.last_call >= old.last_call)
      one.calls_per_s = static_cast<double>(one.last_call - old.last_call) / passed_s;
  }
  std::set<int> present;
  for (const RankView& one : now.here) present.insert(one.rank);
  for (const auto& [process, old] : earlier) {
    if (old->rank < 0 || old->rank >= now.ranks || !present.insert(old->rank).second) continue;
    RankView gone;
    gone.rank = old->rank;
    gone.process = process;
    gone.standing = Standing::kEnded;
    gone.place = kGone;
    gone.state = kHasEnded;
    now.here.push_back(std::move(gone));
  }
}

}  // namespace hocket::observe
