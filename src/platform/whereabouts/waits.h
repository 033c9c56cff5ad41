// SPDX-License-Identifier: BSD-3-Clause
// For whom the processes of a job wait, by their records, and which of them wait for each other in a ring.
//
// A record names the processes that a thread waits for as these name themselves. In another container a process may
// have the same number: what several of a job's processes go by names none of them.
//
// Thread safety: any thread. Rings read records anew, and /proc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "platform/whereabouts/observer.h"

namespace hocket::platform {

// Records of one job by what others call their owners.
class OwnersOfRecords {
 public:
  // `records`: by process, as records_of_own_job() has them. They outlive this.
  explicit OwnersOfRecords(const std::vector<SeenRecord>& records);
  // nullptr: there is none, or it may be one of several.
  const SeenRecord* named(uint32_t process) const { return only(by_own_number_, process); }  // as it names itself
  const SeenRecord* of_rank(int32_t rank) const { return rank < 0 ? nullptr : only(by_rank_, rank); }
  // Whether any process goes by that number.
  bool has_named(uint32_t process) const { return by_own_number_.contains(process); }

 private:
  // nullptr: several.
  template <typename Key>
  static void note(std::map<Key, const SeenRecord*>& known, Key key, const SeenRecord& record);
  template <typename Key>
  static const SeenRecord* only(const std::map<Key, const SeenRecord*>& known, Key key) {
    const auto found = known.find(key);
    return found == known.end() ? nullptr : found->second;
  }
  std::map<uint32_t, const SeenRecord*> by_own_number_;
  std::map<int32_t, const SeenRecord*> by_rank_;
};

// Whether what the waiting thread last saw is over: the other is in the same call by now, or in a later one.
bool has_come(const SeenRecord& awaited, const ThreadLine& waiting);

// Processes that wait each for the next one, and the last for the first; empty: there is none.
struct Ring {
  std::vector<const SeenRecord*> members;
  // They wait in collectives that no rank leaves before all have come, and nothing else can let one of them go on. Of
  // messages that can't be said: the one that is waited for may be on its way.
  bool is_certain = false;
};

// "rank 0 waits for rank 1, rank 1 for rank 0".
std::string describe_ring(const Ring& ring);

// Who can't go on as long as others don't. A process can as long as any of its threads may: one that is in no call, in
// one of which nobody knows whom it waits for, or has come to one within the last second.
class WaitGraph {
 public:
  using ReadAgain = std::function<std::vector<SeenRecord>(int process)>;

  // `records` are of one job, and outlive it. They weren't read at one moment, so that rings are looked at once more,
  // by `read_again`: one whose members are where they were was there in between.
  WaitGraph(const std::vector<SeenRecord>& records, uint64_t now_ns, ReadAgain read_again);
  // The first that is found from this record's owner on, along those it waits for; a certain one rather than another.
  Ring ring_from(const SeenRecord& first) const;
  // So many at most, each once.
  std::vector<Ring> rings(size_t most) const;

 private:
  enum Kind { kPossible, kCertain };  // as in Ring
  struct Wait {
    bool is_for_all = false;      // it is a certain one
    std::vector<size_t> awaited;  // nodes, of which each must come
  };
  // A process.
  struct Node {
    const SeenRecord* record = nullptr;  // of several the one that tells its rank
    std::vector<const SeenRecord*> all;
    std::vector<Wait> waits;  // of each thread
    bool may_go_on = false;   // whatever others do
    bool is_stuck[2] = {};    // by Kind
  };
  static bool is_in_call(const ThreadLine& line) { return line.collective.is_in() || line.other.is_in(); }
  void add_waits(Node& node);
  Wait wait_of(const Node& node, const SeenRecord& record, const ThreadLine& line) const;
  void add(const SeenRecord* awaited, const Node& waiting, Wait& wait) const;
  bool is_blocked(const Wait& wait, Kind kind) const;
  void find_stuck(Kind kind);
  std::vector<size_t> followers(size_t node, Kind kind) const;
  std::vector<size_t> cycle_from(size_t first, Kind kind) const;
  Ring ring_of(const std::vector<size_t>& cycle, Kind kind) const;
  bool is_still_there(const std::vector<size_t>& cycle, Kind kind) const;
  std::vector<size_t> grounds_of(const std::vector<size_t>& cycle, Kind kind) const;

  uint64_t now_ns_;
  ReadAgain read_again_;
  OwnersOfRecords owners_;
  std::vector<Node> nodes_;
  std::map<int, size_t> node_of_;  // by process, as this process numbers it
};

}  // namespace hocket::platform
