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
// From how many ranks rings are looked for.
constexpr size_t kMostSearches = 16;
constexpr size_t kMostListed = 64;
constexpr size_t kMostOfRing = 16;
constexpr const char* kGone = "no part in the job any more";

uint64_t since(const FunctionStamp& stamp) { return stamp.since_ns.load(std::memory_order_relaxed); }

double seconds(uint64_t since_ns, uint64_t now_ns) {
  return since_ns != 0 && now_ns > since_ns ? static_cast<double>(now_ns - since_ns) / 1e9 : 0;
}

// Those that one process keeps: the one that tells its rank, and of these the first.
bool is_better(const SeenRecord& one, const SeenRecord& other) { return one->rank >= 0 && other->rank < 0; }

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
    view.is_in_collective = is_collective;
    if (is_collective) describe_call(record, *line, view);
    return;
  }
  const FunctionStamp& last = since(line->other) >= since(line->collective) ? line->other : line->collective;
  view.after = printable(platform::describe_function(record, last));
  view.place = view.after.starts_with("MPI_") ? "no MPI call" : "no call of hocket";
  view.for_s = seconds(since(last), now_ns);
  view.standing = Standing::kOutsideCall;
}

// The wait that goes on is not yet in the sum.
double waited_until(const SeenRecord& record, uint64_t now_ns) {
  double sum = static_cast<double>(record->waited_ns.load(std::memory_order_relaxed)) / 1e9;
  for (const ThreadLine& line : record->threads)
    if (line.thread.load(std::memory_order_relaxed) != 0) sum += seconds(platform::waits_since_ns(line), now_ns);
  return sum;
}

// A ring of very many.
std::string shortened(const std::string& deadlock, size_t ranks) {
  size_t end = 0;
  for (size_t i = 0; i < kMostOfRing && end != deadlock.npos; ++i) end = deadlock.find(", ", end + 1);
  if (end == deadlock.npos) return deadlock;
  return deadlock.substr(0, end) + " and so on, " + std::to_string(ranks) + " ranks in all";
}

class JobReader {
 public:
  JobReader(std::vector<SeenRecord> records, uint64_t now_ns, const FactsOf& facts_of)
      : records_(std::move(records)), now_ns_(now_ns), facts_of_(facts_of) {}

  JobView read(const std::vector<ProcessFacts>& facts) {
    for (size_t i = 0; i < records_.size(); ++i) view_.here.push_back(view_of(records_[i], facts[i]));
    for (size_t i = 0; i < records_.size(); ++i) {
      by_process_.emplace(records_[i]->process, i);
      if (view_.here[i].rank >= 0) by_rank_.emplace(view_.here[i].rank, i);
      view_.ranks = std::max(view_.ranks, rank_in_job(records_[i]).second);
    }
    for (size_t i = 0; i < records_.size(); ++i) note_waits(i);
    for (RankView& one : view_.here) judge(one);
    find_deadlocks();
    const SeenRecord& first = records_.front();
    view_.label = printable(first.job());
    view_.host = printable(first.host());
    view_.library = printable(first.library());
    view_.program = printable(facts.front().program);
    view_.user = facts.front().user;
    sort();
    return std::move(view_);
  }

 private:
  RankView view_of(const SeenRecord& record, const ProcessFacts& facts) const {
    RankView view;
    view.rank = rank_in_job(record).first;
    view.process = record.process();
    describe_where(record, now_ns_, view);
    view.waited_s = waited_until(record, now_ns_);
    view.late_lines = record->late_lines.load(std::memory_order_relaxed);
    view.came_after_all = record->came_after_all.load(std::memory_order_relaxed);
    view.cpu_s = facts.cpu_s;
    view.state = platform::describe(facts.state);
    if (facts.state.kind == ProcessState::Kind::kUnknown || facts.state.kind == ProcessState::Kind::kEnded)
      view.state = kHasEnded;
    if (record->ended.load(std::memory_order_relaxed) != 0 || view.state == kHasEnded) {
      view.standing = Standing::kEnded;
      view.place = kGone;
      view.after.clear();
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
    const auto [found, is_new] = by_process_.emplace(process, view_.here.size());
    if (is_new) {
      RankView gone;
      gone.process = static_cast<int>(process);
      const ProcessFacts facts = facts_of_(gone.process);
      gone.state = platform::describe(facts.state);
      const bool has_ended =
          facts.state.kind == ProcessState::Kind::kUnknown || facts.state.kind == ProcessState::Kind::kEnded;
      if (has_ended) gone.state = kHasEnded;
      gone.place = has_ended ? kGone : "";
      gone.standing = has_ended ? Standing::kEnded : Standing::kOutsideCall;
      view_.here.push_back(gone);
    }
    note(waiting, found->second, for_s);
  }

  void note_waits(size_t one) {
    const ThreadLine* const line = platform::telling_line(*records_[one]);
    if (line == nullptr || view_.here[one].standing == Standing::kEnded) return;
    if (const uint64_t since_ns = platform::waits_since_ns(*line); since_ns != 0) {
      const double for_s = seconds(since_ns, now_ns_);
      const uint32_t count = line->awaited_ranks.load(std::memory_order_relaxed);
      view_.here[one].waits_s = for_s;
      view_.here[one].waits_for_count = count;
      for (uint32_t i = 0; i < std::min(count, ThreadLine::kAwaited); ++i) {
        const uint32_t process = line->awaited[i].load(std::memory_order_relaxed);
        const auto found = by_process_.find(process);
        if (found != by_process_.end())
          note(one, found->second, for_s);
        else if (process != 0)
          note_gone(one, process, for_s);
      }
    } else {
      const auto peer = by_rank_.find(platform::awaited_peer(*line, now_ns_));
      if (peer == by_rank_.end() || peer->second == one) return;
      view_.here[one].waits_s = view_.here[one].for_s;
      view_.here[one].waits_for_count = 1;
      note(one, peer->second, view_.here[one].for_s);
    }
  }

  static void judge(RankView& one) {
    if (one.awaited_by_count != 0) one.standing = one.waits_for.empty() ? Standing::kLate : Standing::kLateToo;
  }

  void find_deadlocks() {
    std::set<std::string> seen;
    size_t searches = 0;
    for (size_t i = 0; i < records_.size() && searches < kMostSearches; ++i) {
      if (view_.here[i].standing != Standing::kLateToo) continue;
      ++searches;
      auto ring = platform::find_deadlock(records_, records_[i]->process, now_ns_);
      if (ring.empty() || seen.size() == kMostDeadlocks) continue;
      // Told alike, wherever it was entered.
      std::rotate(ring.begin(),
                  std::min_element(ring.begin(), ring.end(),
                                   [](const auto* a, const auto* b) {
                                     return std::pair((*a)->rank, (*a)->process) < std::pair((*b)->rank, (*b)->process);
                                   }),
                  ring.end());
      std::string text = shortened(platform::describe_deadlock(ring), ring.size());
      if (seen.insert(text).second) view_.deadlocks.push_back(std::move(text));
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

  std::vector<SeenRecord> records_;
  uint64_t now_ns_;
  const FactsOf& facts_of_;
  JobView view_;
  std::map<uint32_t, size_t> by_process_;  // as processes name themselves
  std::map<int, size_t> by_rank_;
};

struct Job {
  std::vector<SeenRecord> records;
  std::vector<ProcessFacts> facts;
};

}  // namespace

double JobView::late_s() const {
  double longest = 0;
  for (const RankView& one : here) longest = std::max(longest, one.late_s);
  return longest;
}

// Another user may call its job as it likes: what it says is its own affair.
std::vector<JobView> views_of(std::vector<SeenRecord> records, uint64_t now_ns, const FactsOf& facts_of) {
  std::map<std::pair<std::string, uint32_t>, Job> jobs;
  for (SeenRecord& one : records) {
    ProcessFacts facts = facts_of(one.process());
    Job& job = jobs[{std::string(one.job()), facts.user}];
    if (!job.records.empty() && job.records.back().process() == one.process()) {
      if (is_better(one, job.records.back())) job.records.back() = std::move(one);
      continue;
    }
    job.records.push_back(std::move(one));
    job.facts.push_back(std::move(facts));
  }
  std::vector<JobView> views;
  for (auto& [name, job] : jobs) views.push_back(JobReader(std::move(job.records), now_ns, facts_of).read(job.facts));
  return views;
}

void compare(const JobView& before, double passed_s, JobView& now) {
  std::map<int, const RankView*> earlier;
  for (const RankView& one : before.here) earlier.emplace(one.process, &one);
  for (RankView& one : now.here) {
    const auto found = earlier.find(one.process);
    if (found == earlier.end()) continue;
    const RankView& old = *found->second;
    earlier.erase(found);
    if (one.rank < 0) one.rank = old.rank;
    if (one.standing == Standing::kEnded || passed_s <= 0) continue;
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
