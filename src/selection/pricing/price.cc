// SPDX-License-Identifier: BSD-3-Clause
// What each step costs, and which step waits for which.
#include <algorithm>
#include <unordered_map>

#include "selection/pricing/unread.h"
#include "selection/pricing/walk.h"

namespace hocket::selection {
namespace {

using schedule::Buffer;
using schedule::Plan;
using schedule::Range;
using schedule::Step;
using schedule::StepKind;

// In times alpha. The rank that waits for a line pays for its transfer; writing one is mostly hidden.
constexpr double kSeen = 1;
constexpr double kSignalled = 0.5;
constexpr double kCountedByAll = 0.5;  // of a counter that all add to
constexpr double kLocal = 0.1;

constexpr uint64_t kInPlaceMessageBytes = 4096;  // scratch memory is sent as it lies from here on
constexpr double kFragmentKib = 16;

class Pricing {
 public:
  Pricing(std::span<const Plan> plans, uint64_t count, uint64_t element_bytes, bool finds_misses)
      : plans_(plans),
        count_(count),
        element_bytes_(element_bytes),
        nodes_(plans[0].shape.nodes),
        finds_misses_(finds_misses && nodes_ != nullptr) {}

  PricedSchedule run() {
    const auto ranks = static_cast<uint32_t>(plans_.size());
    result_.counters = (ranks + 1) * schedule::kMaxCounters;
    sends_.resize(static_cast<size_t>(ranks) * ranks);
    received_.resize(sends_.size());
    for (uint32_t rank = 0; rank < ranks; ++rank) {
      result_.begins.push_back(static_cast<uint32_t>(result_.steps.size()));
      unread_ = {};
      for (const Step& step : plans_[rank].steps) {
        write(rank, step);
        if (finds_misses_) follow(step, result_.steps.back());
      }
    }
    result_.begins.push_back(static_cast<uint32_t>(result_.steps.size()));
    place_on_nodes();
    for (uint32_t rank = 0; rank < ranks; ++rank)
      for (size_t i = 0; i < plans_[rank].steps.size(); ++i)
        connect(rank, plans_[rank].steps[i], result_.steps[result_.begins[rank] + i]);
    if (!left_unread_.empty()) read_of_peers();
    for (const PricedStep& step : result_.steps)
      if (step.producer != kNothing) result_.steps[step.producer].is_awaited = true;
    return std::move(result_);
  }

 private:
  double kib_of(uint64_t elements) const { return static_cast<double>(elements * element_bytes_) / 1024; }
  double kib(const schedule::Slice& slice) const { return kib_of(schedule::resolve(slice, count_).length); }
  size_t pair(uint32_t from, uint32_t to) const { return static_cast<size_t>(from) * plans_.size() + to; }
  static uint64_t publication(uint32_t rank, const Step& step) {
    return static_cast<uint64_t>(rank) << 40 | static_cast<uint64_t>(step.slot) << 32 | step.version;
  }
  uint32_t counter(uint32_t rank, const Step& step) const {
    const auto owner = step.peer == schedule::kShared ? static_cast<uint32_t>(plans_.size()) : rank;
    return owner * schedule::kMaxCounters + step.slot;
  }

  bool is_by_wire(uint32_t rank, const Step& step) const {
    if (schedule::is_by_multicast(step.kind)) return true;
    return schedule::is_two_sided(step.kind) && nodes_ != nullptr && !nodes_->together(rank, step.peer);
  }

  void place_on_nodes() {
    const uint32_t ranks = result_.ranks();
    result_.users.resize(nodes_ == nullptr ? 1 : nodes_->count());
    for (uint32_t rank = 0; rank < ranks; ++rank) {
      const uint32_t node = nodes_ == nullptr ? 0 : nodes_->node_of(rank);
      result_.node_of.push_back(node);
      const auto begin = result_.steps.begin() + result_.begins[rank];
      const auto end = result_.steps.begin() + result_.begins[rank + 1];
      if (std::any_of(begin, end, [](const PricedStep& step) { return step.by_wire; })) ++result_.users[node];
    }
  }

  // What the step costs, and what others may wait for.
  void write(uint32_t rank, const Step& step) {
    const auto number = static_cast<uint32_t>(result_.steps.size());
    PricedStep& priced = result_.steps.emplace_back();
    priced.ends_stage = step.ends_stage;
    priced.by_wire = is_by_wire(rank, step);
    switch (step.kind) {
      case StepKind::kSend: {
        if (priced.by_wire) {
          // The kernel takes a copy.
          priced.wire_kib = priced.moved_kib = kib(step.source);
          priced.to_rank = step.peer;
          sends_[pair(rank, step.peer)].push_back(number);
          break;
        }
        priced.alphas = kSignalled;
        const double length = kib(step.source);
        const bool in_place = step.source.buffer == schedule::Buffer::kScratch && length * 1024 >= kInPlaceMessageBytes;
        priced.moved_kib = in_place ? 0 : length;
        priced.first_kib = std::min(priced.moved_kib, kFragmentKib);
        sends_[pair(rank, step.peer)].push_back(number);
        break;
      }
      case StepKind::kPublish:
        priced.alphas = kSignalled;
        // Scratch memory is read where it lies.
        priced.moved_kib = step.source.buffer == schedule::Buffer::kScratch ? 0 : kib(step.source);
        publications_[publication(rank, step)] = number;
        break;
      case StepKind::kExpose:
        priced.alphas = kSignalled;
        publications_[publication(rank, step)] = number;
        // The rank that exposes memory waits for everything that is put there.
        exposed_.emplace(publication(rank, step), Exposed{result_.counters++, 0});
        break;
      case StepKind::kMulticast:
        priced.wire_kib = priced.moved_kib = kib(step.source);
        priced.is_multicast = true;
        multicasts_[rank].push_back(number);
        break;
      default:
        write_reading(step, priced);
    }
  }

  void write_reading(const Step& step, PricedStep& priced) const {
    switch (step.kind) {
      case StepKind::kReceive:
      case StepKind::kReceiveCombine:
      case StepKind::kFirstOf:
      case StepKind::kGet:
      case StepKind::kCombineFrom:
        priced.alphas = priced.by_wire ? 0 : kSeen;
        priced.moved_kib = kib(step.destination);
        break;
      case StepKind::kPut:
        priced.alphas = kSeen;
        priced.moved_kib = priced.memory_kib = kib(step.source);
        break;
      case StepKind::kAdd:
        priced.alphas = step.peer == schedule::kShared ? kCountedByAll : kSignalled;
        priced.value = step.value;
        break;
      case StepKind::kWaitUntil:
        priced.alphas = kSeen;
        priced.value = step.value;
        break;
      case StepKind::kCopy:
        priced.alphas = kLocal;
        priced.moved_kib = kib(step.destination);
        break;
      default:
        priced.alphas = kLocal;
    }
    const bool combines = step.kind == StepKind::kReceiveCombine || step.kind == StepKind::kCombineFrom ||
                          step.kind == StepKind::kCombine;
    if (combines) priced.combined_kib = kib(step.destination);
    const bool is_long_lived =
        step.destination.buffer == Buffer::kOutput || step.destination.buffer == Buffer::kScratch;
    if (is_long_lived) priced.memory_kib = priced.moved_kib;
  }

  // What the step reads for the first time since an interface wrote it, and what it leaves to others to read.
  void follow(const Step& step, PricedStep& priced) {
    const Range source = schedule::resolve(step.source, count_);
    const Range destination = schedule::resolve(step.destination, count_);
    uint64_t elements = 0;
    switch (step.kind) {
      case StepKind::kSend:
      case StepKind::kPublish:
        if (priced.by_wire || priced.moved_kib > 0)
          elements = unread_.read(step.source, source);
        else
          leave(step, source);
        break;
      case StepKind::kReceive:
      case StepKind::kFirstOf:
        priced.by_wire ? unread_.arrives(step.destination, destination)
                       : unread_.written(step.destination, destination);
        break;
      case StepKind::kCombine:
        elements = unread_.read(step.source, source) + unread_.read(step.destination, destination);
        break;
      default:
        if (step.source.buffer != Buffer::kNone) elements = unread_.read(step.source, source);
        if (step.destination.buffer != Buffer::kNone) unread_.written(step.destination, destination);
    }
    priced.unread_kib = kib_of(elements);
  }

  // In the order of the slice, whose beginning is 0 to who reads it.
  void leave(const Step& step, const Range& source) {
    std::vector<Range> left = unread_.within(step.source, source);
    if (left.empty()) return;
    for (Range& range : left) range.offset -= source.offset;
    left_unread_.emplace(static_cast<uint32_t>(result_.steps.size() - 1), std::move(left));
  }

  // Peers read where it lies what a step publishes or sends so. Each that does finds it in no cache of its own.
  void read_of_peers() {
    for (size_t rank = 0; rank < plans_.size(); ++rank)
      for (size_t i = 0; i < plans_[rank].steps.size(); ++i) {
        PricedStep& priced = result_.steps[result_.begins[rank] + i];
        const auto left = left_unread_.find(priced.producer);
        if (left == left_unread_.end()) continue;
        const Step& step = plans_[rank].steps[i];
        const bool has_target = step.target.buffer != Buffer::kNone;
        Range range = schedule::resolve(has_target ? step.target : step.destination, count_);
        if (!has_target) range.offset = 0;
        priced.unread_kib += kib_of(common(left->second, range));
      }
  }

  // Whom the step waits for.
  void connect(uint32_t rank, const Step& step, PricedStep& priced) {
    switch (step.kind) {
      case StepKind::kReceive:
      case StepKind::kReceiveCombine: {
        const std::vector<uint32_t>& sends = sends_[pair(step.peer, rank)];
        uint32_t& taken = received_[pair(step.peer, rank)];
        if (taken < sends.size()) priced.producer = sends[taken++];
        if (priced.producer != kNothing) priced.first_kib = result_.steps[priced.producer].first_kib;
        break;
      }
      case StepKind::kFirstOf: {
        // As if multicasts came; the message is taken all the same.
        ++received_[pair(step.peer, rank)];
        const std::vector<uint32_t>& sent = multicasts_[step.second_peer];
        uint32_t& awaited = awaited_signals_[pair(step.second_peer, rank)];
        if (awaited < sent.size()) priced.producer = sent[awaited++];
        break;
      }
      case StepKind::kGet:
      case StepKind::kCombineFrom:
      case StepKind::kPut: {
        const auto published = publications_.find(publication(step.peer, step));
        if (published != publications_.end()) priced.producer = published->second;
        const auto exposed = exposed_.find(publication(step.peer, step));
        if (exposed == exposed_.end()) break;
        if (step.kind == StepKind::kPut) {
          priced.adds_to = exposed->second.counter;
          priced.value = 1;
          // The owner waits for as many as there are, which is known when all ranks have been seen.
          for (const uint32_t waiting : exposed->second.waiting) ++result_.steps[waiting].value;
          ++exposed->second.puts;
        } else if (step.peer == rank) {
          priced.waits_for = exposed->second.counter;
          priced.value = exposed->second.puts;
          exposed->second.waiting.push_back(static_cast<uint32_t>(&priced - result_.steps.data()));
        }
        break;
      }
      case StepKind::kAdd:
        priced.adds_to = counter(step.peer, step);
        break;
      case StepKind::kWaitUntil:
        priced.waits_for = counter(rank, step);
        break;
      default:
        break;
    }
  }

  struct Exposed {
    uint32_t counter = 0;
    uint32_t puts = 0;
    std::vector<uint32_t> waiting = {};
  };

  std::span<const Plan> plans_;
  uint64_t count_;
  uint64_t element_bytes_;
  const schedule::Nodes* nodes_;  // nullptr: one
  bool finds_misses_;
  Unread unread_;                                                 // of the rank whose steps are being written
  std::unordered_map<uint32_t, std::vector<Range>> left_unread_;  // of what a step publishes or sends as it lies
  PricedSchedule result_;
  std::vector<std::vector<uint32_t>> sends_;  // of each ordered pair, in their order
  std::vector<uint32_t> received_;
  std::unordered_map<uint32_t, std::vector<uint32_t>> multicasts_;  // of each rank that sends any
  std::unordered_map<uint64_t, uint32_t> awaited_signals_;          // of each ordered pair
  std::unordered_map<uint64_t, uint32_t> publications_;
  std::unordered_map<uint64_t, Exposed> exposed_;
};

}  // namespace

PricedSchedule price(std::span<const Plan> plans, uint64_t count, uint64_t element_bytes, bool finds_misses) {
  return Pricing(plans, count, element_bytes, finds_misses).run();
}

}  // namespace hocket::selection
