// SPDX-License-Identifier: BSD-3-Clause
// Carries out the plans of all ranks on real numbers, in an order drawn from a seed, or in one that is given.
//
// It knows nothing of what the verifier proves, so each checks the other. What an engine is free to do is drawn too:
// whether a send is buffered, whether a publication is a copy or the memory itself, in which order the steps of a
// stage come.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "schedule/plan.h"

namespace hocket::algorithms {

class Interpreter {
 public:
  // Results of a combination: neither commutative nor associative, so that equal numbers mean equal order.
  static uint64_t combine(uint64_t left, uint64_t right);
  // What element `index` of a rank's operand is; for broadcast, of the root's buffer.
  static uint64_t operand(uint32_t rank, uint64_t index);

  Interpreter(const std::vector<schedule::Plan>& plans, uint64_t count, uint32_t seed);

  // "" or what went wrong.
  std::string run();
  // The same in this order, in which each step has all that it needs when its turn comes; sends are buffered, and
  // multicasts get there.
  struct Turn {
    uint32_t rank;
    uint32_t step;
  };
  std::string run_in_order(const std::vector<Turn>& turns);
  const std::vector<uint64_t>& output(uint32_t rank) const { return ranks_[rank].output; }

 private:
  using Data = std::vector<uint64_t>;
  // Elements somewhere: a view of a rank's memory, or a copy.
  struct View {
    uint64_t* begin = nullptr;
    uint64_t length = 0;
    Data copy;
    uint64_t* data() { return begin != nullptr ? begin : copy.data(); }
  };
  struct Publication {
    uint32_t version = 0;
    View view;
  };
  struct Message {
    View view;
    bool* taken = nullptr;  // of a send that is not buffered
  };
  struct Rank {
    Data input;
    Data output;
    std::vector<Data> scratch;
    size_t begin = 0;  // of the current stage
    size_t end = 0;
    std::vector<char> done;    // steps of it
    std::vector<char> posted;  // sends of it
    std::deque<bool> taken;    // one a send of it
    std::map<uint8_t, Publication> slots;
    std::map<uint8_t, uint64_t> counters;
  };

  bool flip() { return random_() % 2 == 0; }
  View view(uint32_t rank, const schedule::Slice& slice);
  static View copy(const View& view);
  View copy_or_not(View view);
  bool finished(const Rank& rank) const;
  void open_stage(uint32_t rank);
  bool visit(uint32_t rank);
  bool is_next_of_its_pair(uint32_t rank, size_t step) const;
  bool try_step(uint32_t rank, size_t step);
  bool send(uint32_t rank, size_t step);
  bool receive(uint32_t rank, const schedule::Step& step);
  void multicast(uint32_t rank, const schedule::Step& step);
  bool take_first(uint32_t rank, const schedule::Step& step);
  bool use_slot(uint32_t rank, const schedule::Step& step);
  void deliver(uint32_t rank, const schedule::Step& step, View incoming);

  const std::vector<schedule::Plan>& plans_;
  uint64_t count_;
  std::mt19937 random_;
  std::vector<Rank> ranks_;
  std::map<std::pair<uint32_t, uint32_t>, std::deque<Message>> mail_;
  // Of each pair: what has been multicast, or nothing where it doesn't get there; and messages that came second, which
  // nobody waits for.
  std::map<std::pair<uint32_t, uint32_t>, std::deque<std::optional<Data>>> multicasts_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> unneeded_;
  uint32_t luck_;  // of three multicasts so many get there
  std::map<uint8_t, uint64_t> shared_counters_;
  bool is_in_order_ = false;
  bool posted_ = false;  // a send now waits for its receiver: that is a move too
  std::string problem_;
};

}  // namespace hocket::algorithms
