// SPDX-License-Identifier: BSD-3-Clause
#include "platform/whereabouts/waits.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

#include "platform/machine/process_state.h"

namespace hocket::platform {
namespace {

template <typename Word>
auto value_of(const std::atomic<Word>& word) {
  return word.load(std::memory_order_relaxed);
}

std::string owner_of(const SeenRecord& record) {
  return record->rank >= 0 ? "rank " + std::to_string(record->rank) : "process " + std::to_string(record.process());
}

// Which no rank leaves before all have come, as MPI and hocket call it.
bool is_for_all(std::string_view function) {
  constexpr std::string_view kCollectives[] = {"barrier", "allreduce", "allgather", "alltoall", "reduce_scatter_block"};
  std::string name(function.substr(std::min(function.find('_') + 1, function.size())));
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c; });
  return std::find(std::begin(kCollectives), std::end(kCollectives), name) != std::end(kCollectives);
}

bool is_same(const FunctionStamp& one, const FunctionStamp& other) {
  return value_of(one.what) == value_of(other.what) && value_of(one.since_ns) == value_of(other.since_ns);
}

// In the same calls as before. When a wait began is computed anew at each look.
bool is_same(const ThreadLine& one, const ThreadLine& other) {
  return value_of(one.thread) == value_of(other.thread) && is_same(one.other, other.other) &&
         is_same(one.collective, other.collective) && value_of(one.communicator) == value_of(other.communicator) &&
         value_of(one.number) == value_of(other.number);
}

bool is_same(const SeenRecord& one, const SeenRecord& other) {
  return std::equal(std::begin(one->threads), std::end(one->threads), std::begin(other->threads),
                    [](const ThreadLine& a, const ThreadLine& b) { return is_same(a, b); });
}

}  // namespace

bool has_come(const SeenRecord& awaited, const ThreadLine& waiting) {
  const uint64_t communicator = value_of(waiting.communicator);  // 0: unknown
  if (communicator == 0) return false;
  if (value_of(waiting.is_left) != 0) return has_come_to_left_call(awaited, communicator, value_of(waiting.number));
  if (!waiting.collective.is_in()) return false;
  return std::any_of(std::begin(awaited->threads), std::end(awaited->threads), [&](const ThreadLine& line) {
    return value_of(line.thread) != 0 && line.collective.is_in() && value_of(line.communicator) == communicator &&
           value_of(line.number) >= value_of(waiting.number);
  });
}

template <typename Key>
void OwnersOfRecords::note(std::map<Key, const SeenRecord*>& known, Key key, const SeenRecord& record) {
  const auto [found, is_new] = known.emplace(key, &record);
  const SeenRecord*& one = found->second;
  if (is_new || one == nullptr) return;
  if (one->process() != record.process())
    one = nullptr;
  else if ((*one)->rank < 0)
    one = &record;
}

OwnersOfRecords::OwnersOfRecords(const std::vector<SeenRecord>& records) {
  for (const SeenRecord& one : records) {
    note(by_own_number_, one->process, one);
    if (one->rank >= 0) note(by_rank_, one->rank, one);
  }
}

std::string describe_ring(const Ring& ring) {
  std::string text;
  const size_t size = ring.members.size();
  for (size_t i = 0; i < size; ++i)
    text += (i == 0 ? "" : ", ") + owner_of(*ring.members[i]) + (i == 0 ? " waits for " : " for ") +
            owner_of(*ring.members[(i + 1) % size]);
  return text;
}

WaitGraph::WaitGraph(const std::vector<SeenRecord>& records, uint64_t now_ns, ReadAgain read_again)
    : now_ns_(now_ns), read_again_(std::move(read_again)), owners_(records) {
  for (const SeenRecord& one : records) {
    const auto [found, is_new] = node_of_.emplace(one.process(), nodes_.size());
    if (is_new) nodes_.emplace_back();
    Node& node = nodes_[found->second];
    if (node.record == nullptr || (*node.record)->rank < 0) node.record = &one;
    node.all.push_back(&one);
  }
  for (Node& node : nodes_) add_waits(node);
  for (const Kind kind : {kPossible, kCertain}) find_stuck(kind);
}

void WaitGraph::add_waits(Node& node) {
  // A thread that uses hocket in two ways has a line in each record.
  std::set<uint32_t> outside, inside;
  bool has_others = false;
  for (const SeenRecord* const record : node.all) {
    has_others |= value_of((*record)->unlisted_threads) != 0;
    for (const ThreadLine& line : (*record)->threads) {
      const uint32_t thread = value_of(line.thread);
      if (thread == 0 || (value_of(line.other.what) == 0 && value_of(line.collective.what) == 0)) continue;
      (is_in_call(line) ? inside : outside).insert(thread);
      if (is_in_call(line)) node.waits.push_back(wait_of(node, *record, line));
    }
  }
  node.may_go_on = has_others || inside.empty() || std::any_of(outside.begin(), outside.end(), [&](uint32_t thread) {
                     return !inside.contains(thread);
                   });
}

void WaitGraph::add(const SeenRecord* awaited, const Node& waiting, Wait& wait) const {
  if (awaited == nullptr || awaited->process() == waiting.record->process()) return;
  wait.awaited.push_back(node_of_.at(awaited->process()));
}

WaitGraph::Wait WaitGraph::wait_of(const Node& node, const SeenRecord& record, const ThreadLine& line) const {
  Wait wait;
  const uint64_t since_ns = waits_since_ns(line);
  if (since_ns == 0) {
    add(owners_.of_rank(awaited_peer(line, now_ns_)), node, wait);
    return wait;
  }
  if (since_ns + kShortestWaitNs > now_ns_) return wait;
  const uint32_t function = value_of(line.collective.what) & FunctionStamp::kNumber;
  wait.is_for_all = line.collective.is_in() && function != 0 && is_for_all(record.function(function - 1));
  const uint32_t count = std::min(value_of(line.awaited_ranks), ThreadLine::kAwaited);
  for (uint32_t i = 0; i < count; ++i) {
    const SeenRecord* const awaited = owners_.named(value_of(line.awaited[i]));
    if (awaited != nullptr && !has_come(*awaited, line)) add(awaited, node, wait);
  }
  return wait;
}

bool WaitGraph::is_blocked(const Wait& wait, Kind kind) const {
  return (wait.is_for_all || kind == kPossible) &&
         std::any_of(wait.awaited.begin(), wait.awaited.end(), [&](size_t one) { return nodes_[one].is_stuck[kind]; });
}

// At first all are taken for stuck that don't go on by themselves; then those are let go that one of these lets go.
void WaitGraph::find_stuck(Kind kind) {
  for (Node& node : nodes_) node.is_stuck[kind] = !node.may_go_on;
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (Node& node : nodes_) {
      if (!node.is_stuck[kind]) continue;
      const bool is_stuck =
          std::all_of(node.waits.begin(), node.waits.end(), [&](const Wait& wait) { return is_blocked(wait, kind); });
      if (is_stuck) continue;
      node.is_stuck[kind] = false;
      has_changed = true;
    }
  }
}

std::vector<size_t> WaitGraph::followers(size_t node, Kind kind) const {
  std::vector<size_t> found;
  if (!nodes_[node].is_stuck[kind]) return found;
  for (const Wait& wait : nodes_[node].waits)
    std::copy_if(wait.awaited.begin(), wait.awaited.end(), std::back_inserter(found),
                 [&](size_t one) { return nodes_[one].is_stuck[kind]; });
  return found;
}

// Of stuck ones each waits for a stuck one: whoever follows them comes to one that he has seen.
std::vector<size_t> WaitGraph::cycle_from(size_t first, Kind kind) const {
  std::vector<size_t> path{first};
  for (;;) {
    const std::vector<size_t> next = followers(path.back(), kind);
    if (next.empty()) return {};
    const auto again = std::find(path.begin(), path.end(), next.front());
    if (again != path.end()) return {again, path.end()};
    path.push_back(next.front());
  }
}

// Those whose records show that the cycle can't go on: its members, and those that their other threads wait for.
std::vector<size_t> WaitGraph::grounds_of(const std::vector<size_t>& cycle, Kind kind) const {
  std::vector<size_t> grounds = cycle;
  std::set<size_t> known(cycle.begin(), cycle.end());
  for (size_t i = 0; i < grounds.size(); ++i) {
    if (nodes_[grounds[i]].waits.size() == 1 && i < cycle.size()) continue;
    for (const Wait& wait : nodes_[grounds[i]].waits)
      for (const size_t one : wait.awaited)
        if (nodes_[one].is_stuck[kind] && known.insert(one).second) {
          grounds.push_back(one);
          break;
        }
  }
  return grounds;
}

bool WaitGraph::is_still_there(const std::vector<size_t>& cycle, Kind kind) const {
  std::vector<SeenRecord> anew;
  for (const size_t one : grounds_of(cycle, kind)) {
    std::vector<SeenRecord> records = read_again_(nodes_[one].record->process());
    for (const SeenRecord* const before : nodes_[one].all) {
      const auto now = std::find_if(records.begin(), records.end(), [&](const SeenRecord& record) {
        return record->process == (*before)->process && record->rank == (*before)->rank && is_same(*before, record);
      });
      if (now == records.end()) return false;
      anew.push_back(std::move(*now));
      records.erase(now);
    }
  }
  // What they wait for may have changed while they stay.
  const WaitGraph graph(anew, now_ns_, {});
  return std::all_of(cycle.begin(), cycle.end(), [&](size_t one) {
    return graph.nodes_[graph.node_of_.at(nodes_[one].record->process())].is_stuck[kind];
  });
}

// Empty: it isn't there any more.
Ring WaitGraph::ring_of(const std::vector<size_t>& cycle, Kind kind) const {
  Ring ring;
  if (cycle.empty() || !is_still_there(cycle, kind)) return ring;
  // One that is stopped has not looked for a while: whom it waits for may have come, and gone on.
  const auto is_stopped = [this](size_t one) {
    return state_of(nodes_[one].record->process()).kind == ProcessState::Kind::kStopped;
  };
  ring.is_certain = kind == kCertain && std::none_of(cycle.begin(), cycle.end(), is_stopped);
  for (const size_t one : cycle) ring.members.push_back(nodes_[one].record);
  return ring;
}

Ring WaitGraph::ring_from(const SeenRecord& first) const {
  const auto node = node_of_.find(first.process());
  if (node == node_of_.end()) return {};
  for (const Kind kind : {kCertain, kPossible})
    if (Ring ring = ring_of(cycle_from(node->second, kind), kind); !ring.members.empty()) return ring;
  return {};
}

std::vector<Ring> WaitGraph::rings(size_t most) const {
  std::vector<Ring> found;
  for (const Kind kind : {kCertain, kPossible}) {
    std::set<size_t> seen;  // all that lead to a cycle that was looked at
    for (size_t first = 0; first < nodes_.size() && found.size() < most; ++first) {
      std::vector<size_t> path;
      size_t at = first;
      while (nodes_[at].is_stuck[kind] && seen.insert(at).second) {
        path.push_back(at);
        at = followers(at, kind).front();
      }
      const auto begin = std::find(path.begin(), path.end(), at);
      const std::vector<size_t> cycle(begin, path.end());
      // Of what is certain nothing else is said.
      const bool is_said = kind == kPossible && std::any_of(cycle.begin(), cycle.end(),
                                                            [&](size_t one) { return nodes_[one].is_stuck[kCertain]; });
      if (is_said) continue;
      if (Ring ring = ring_of(cycle, kind); !ring.members.empty()) found.push_back(std::move(ring));
    }
  }
  return found;
}

}  // namespace hocket::platform
