// SPDX-License-Identifier: BSD-3-Clause
// Which step waits for which, and how much each has to do.
#include "simulation/engine/job.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace hocket::simulation {
namespace {

using schedule::Buffer;
using schedule::Range;
using schedule::StepKind;

constexpr uint64_t kInPlaceMessageBytes = 4096;  // scratch memory is sent as it lies from here on
constexpr uint32_t kVersionBits = 24;

uint32_t publication(const schedule::Step& step) {
  return static_cast<uint32_t>(step.slot) << kVersionBits | (step.version & ((1u << kVersionBits) - 1));
}

void set(Step& step, Step::Flag flag, bool is_set) {
  if (is_set) step.flags |= flag;
}

}  // namespace

JobWriter::JobWriter(uint32_t ranks, const schedule::Nodes* nodes, uint64_t count, uint64_t element_bytes,
                     bool finds_misses)
    : nodes_(nodes),
      ranks_(ranks),
      count_(count),
      element_bytes_(element_bytes),
      finds_misses_(finds_misses && nodes != nullptr) {
  job_.users.resize(nodes == nullptr ? 1 : nodes->count());
  job_.node_of.reserve(ranks);
  job_.begins.reserve(ranks + 1);
  for (Index* index : {&sends_, &published_, &multicasts_}) index->begins.push_back(0);
}

uint64_t JobWriter::bytes_of(const schedule::Slice& slice) const {
  return schedule::resolve(slice, count_).length * element_bytes_;
}

bool JobWriter::is_by_wire(const schedule::Step& step) const {
  if (schedule::is_by_multicast(step.kind)) return true;
  return schedule::is_two_sided(step.kind) && nodes_ != nullptr && !nodes_->together(rank_, step.peer);
}

void JobWriter::add(const schedule::Plan& plan) {
  job_.begins.push_back(static_cast<uint32_t>(job_.steps.size()));
  job_.node_of.push_back(nodes_ == nullptr ? 0 : nodes_->node_of(rank_));
  if (rank_ == 2 && ranks_ > 64) {
    // As rank 1: rank 0 may be a root, which has a step for each other rank.
    const size_t usual = job_.steps.size() - job_.begins[1];
    job_.steps.reserve(std::min(job_.steps.size() + usual * (ranks_ - 2), kMostSteps));
  }
  if (finds_misses_) unread_ = {};
  bool uses_interface = false;
  bool uses_counters = false;
  for (const schedule::Step& step : plan.steps) {
    Step& written = job_.steps.emplace_back();
    written.rank = rank_;
    set(written, Step::kEndsStage, step.ends_stage);
    set(written, Step::kByWire, is_by_wire(step));
    write(step, written);
    uses_interface |= written.is(Step::kByWire);
    uses_counters |= schedule::is_counter(step.kind);
    if (finds_misses_) follow(step, written);
  }
  if (uses_interface) ++job_.users[job_.node_of.back()];
  counters_of_.push_back(job_.counters);
  if (uses_counters) job_.counters += schedule::kMaxCounters;
  index(rank_++);
}

bool JobWriter::has_room() const {
  constexpr uint32_t kSome = 64;
  constexpr size_t kDoubt = 2;
  if (job_.steps.size() > kMostSteps) return false;
  if (rank_ < kSome) return true;
  // Without rank 0, which may be a root.
  const size_t usual = (job_.steps.size() - job_.begins[1]) / (rank_ - 1);
  return usual * ranks_ <= kDoubt * kMostSteps;
}

void JobWriter::write(const schedule::Step& step, Step& written) {
  switch (step.kind) {
    case StepKind::kSend:
      return write_send(step, written);
    case StepKind::kPublish:
    case StepKind::kExpose:
      return write_publication(step, written);
    case StepKind::kMulticast:
      written.work = Work::kMulticast;
      written.bytes = bytes_of(step.source);
      return set(written, Step::kCopies, true);
    default:
      return write_other(step, written);
  }
}

void JobWriter::write_send(const schedule::Step& step, Step& written) {
  written.work = Work::kSend;
  written.other = step.peer;
  written.bytes = bytes_of(step.source);
  // Between nodes the kernel takes a copy.
  const bool is_in_place = step.source.buffer == Buffer::kScratch && written.bytes >= kInPlaceMessageBytes;
  set(written, Step::kCopies, written.is(Step::kByWire) || !is_in_place);
}

void JobWriter::write_publication(const schedule::Step& step, Step& written) {
  written.work = Work::kPublish;
  written.value = publication(step);
  if (step.kind == StepKind::kExpose) {
    // The rank that exposes memory waits for everything that is put there.
    exposed_.emplace(static_cast<uint32_t>(job_.steps.size() - 1), Exposed{});
    return;
  }
  written.bytes = bytes_of(step.source);
  // Scratch memory is read where it lies.
  set(written, Step::kCopies, step.source.buffer != Buffer::kScratch);
}

void JobWriter::write_other(const schedule::Step& step, Step& written) {
  written.other = step.peer;
  written.bytes = bytes_of(step.destination);
  bool copies = true;
  switch (step.kind) {
    case StepKind::kReceive:
    case StepKind::kReceiveCombine:
      written.work = Work::kTake;
      break;
    case StepKind::kFirstOf:
      written.work = Work::kFirstOf;
      written.value = step.peer;
      written.other = step.second_peer;
      break;
    case StepKind::kGet:
    case StepKind::kCombineFrom:
      written.work = Work::kRead;
      written.value = publication(step);
      break;
    case StepKind::kPut:
      written.work = Work::kPut;
      written.value = publication(step);
      written.bytes = bytes_of(step.source);
      set(written, Step::kFills, true);
      break;
    case StepKind::kAdd:
    case StepKind::kWaitUntil:
      written.work = step.kind == StepKind::kAdd ? Work::kAdd : Work::kWait;
      written.value = step.value;
      written.partner = step.slot;
      set(written, Step::kIsShared, step.peer == schedule::kShared);
      break;
    case StepKind::kTrigger:
      written.work = Work::kTrigger;
      set(written, Step::kGetsNothing, step.source.buffer != Buffer::kNone && step.destination.buffer == Buffer::kNone);
      written.bytes = std::max(bytes_of(step.source), written.bytes);
      copies = false;
      break;
    default:
      copies = step.kind == StepKind::kCopy;
  }
  set(written, Step::kCopies, copies);
  set(written, Step::kCombines,
      step.kind == StepKind::kReceiveCombine || step.kind == StepKind::kCombineFrom || step.kind == StepKind::kCombine);
  const bool is_long_lived = step.destination.buffer == Buffer::kOutput || step.destination.buffer == Buffer::kScratch;
  set(written, Step::kFills, is_long_lived && copies);
}

// What the step reads for the first time since an interface wrote it, and what it leaves to others to read.
void JobWriter::follow(const schedule::Step& step, Step& written) {
  const Range source = schedule::resolve(step.source, count_);
  const Range destination = schedule::resolve(step.destination, count_);
  const auto number = static_cast<uint32_t>(job_.steps.size() - 1);
  uint64_t elements = 0;
  switch (step.kind) {
    case StepKind::kSend:
    case StepKind::kPublish:
      if (written.is(Step::kByWire) || (written.is(Step::kCopies) && written.bytes > 0))
        elements = unread_.read(step.source, source);
      else
        leave(step, source);
      break;
    case StepKind::kReceive:
    case StepKind::kFirstOf:
      written.is(Step::kByWire) ? unread_.arrives(step.destination, destination)
                                : unread_.written(step.destination, destination);
      break;
    case StepKind::kCombine:
      elements = unread_.read(step.source, source) + unread_.read(step.destination, destination);
      break;
    default:
      if (step.source.buffer != Buffer::kNone) elements = unread_.read(step.source, source);
      if (step.destination.buffer != Buffer::kNone) unread_.written(step.destination, destination);
  }
  const bool reads_of_peer = schedule::is_one_sided(step.kind) || written.work == Work::kTake;
  if (reads_of_peer) {
    const bool has_target = step.target.buffer != Buffer::kNone;
    Range range = schedule::resolve(has_target ? step.target : step.destination, count_);
    if (!has_target) range.offset = 0;
    read_.emplace(number, range);
  }
  written.unread =
      static_cast<uint32_t>(std::min<uint64_t>(elements * element_bytes_, std::numeric_limits<uint32_t>::max()));
}

// In the order of the slice, whose beginning is 0 to who reads it.
void JobWriter::leave(const schedule::Step& step, const Range& source) {
  std::vector<Range> left = unread_.within(step.source, source);
  if (left.empty()) return;
  for (Range& range : left) range.offset -= source.offset;
  left_unread_.emplace(static_cast<uint32_t>(job_.steps.size() - 1), std::move(left));
}

void JobWriter::index(uint32_t rank) {
  for (auto number = job_.begins[rank]; number < job_.steps.size(); ++number) {
    const Work work = job_.steps[number].work;
    if (work == Work::kSend) sends_.steps.push_back(number);
    if (work == Work::kPublish) published_.steps.push_back(number);
    if (work == Work::kMulticast) multicasts_.steps.push_back(number);
  }
  // Those to one receiver stay in their order, in which they are taken.
  std::sort(sends_.steps.begin() + sends_.begins.back(), sends_.steps.end(), [&](uint32_t a, uint32_t b) {
    return std::pair(job_.steps[a].other, a) < std::pair(job_.steps[b].other, b);
  });
  std::sort(published_.steps.begin() + published_.begins.back(), published_.steps.end(),
            [&](uint32_t a, uint32_t b) { return job_.steps[a].value < job_.steps[b].value; });
  for (Index* index : {&sends_, &published_, &multicasts_})
    index->begins.push_back(static_cast<uint32_t>(index->steps.size()));
}

Job JobWriter::finish() {
  job_.begins.push_back(static_cast<uint32_t>(job_.steps.size()));
  number_counters();
  for (uint32_t rank = 0; rank < ranks_; ++rank) connect(rank);
  std::sort(job_.takers.begin(), job_.takers.end(), [](const Job::Taker& a, const Job::Taker& b) {
    return std::pair(a.multicast, a.step) < std::pair(b.multicast, b.step);
  });
  for (const uint32_t number : collecting_) {
    Step& step = job_.steps[number];
    step.value = exposed_.find(step.partner)->second.puts;
    step.partner = kNothing;
  }
  if (!left_unread_.empty()) read_of_peers();
  return std::move(job_);
}

// Those of a node that all of its ranks add to come behind those of ranks.
void JobWriter::number_counters() {
  const uint32_t first = job_.counters;
  const bool uses_shared =
      std::any_of(job_.steps.begin(), job_.steps.end(), [](const Step& step) { return step.is(Step::kIsShared); });
  counters_of_.push_back(first);
  if (uses_shared) job_.counters += job_.nodes() * schedule::kMaxCounters;
  for (auto& [step, exposed] : exposed_) exposed.counter = 0;
  for (uint32_t rank = 0; rank < ranks_ && !exposed_.empty(); ++rank)
    for (const uint32_t number : published_.of(rank)) {
      const auto found = exposed_.find(number);
      if (found != exposed_.end()) found->second.counter = job_.counters++;
    }
}

void JobWriter::connect(uint32_t rank) {
  bool takes = false, takes_multicasts = false;
  for (uint32_t number = job_.begins[rank]; number < job_.begins[rank + 1]; ++number) {
    Step& step = job_.steps[number];
    switch (step.work) {
      case Work::kTake:
        takes = true;
        break;
      case Work::kFirstOf:
        takes = takes_multicasts = true;
        break;
      case Work::kRead:
      case Work::kPut:
        connect_published(step);
        break;
      case Work::kAdd:
      case Work::kWait:
        connect_counter(step);
        break;
      default:
        break;
    }
  }
  if (takes) connect_messages(rank);
  if (takes_multicasts) connect_multicasts(rank);
}

void JobWriter::connect_counter(Step& step) const {
  const uint32_t slot = step.partner;
  const uint32_t first = step.is(Step::kIsShared)
                             ? counters_of_.back() + job_.node_of[step.rank] * schedule::kMaxCounters
                             : counters_of_[step.work == Work::kWait ? step.rank : step.other];
  step.other = first + slot;
  step.partner = kNothing;
}

void JobWriter::connect_published(Step& step) {
  const std::span<const uint32_t> candidates = published_.of(step.other);
  const auto found =
      std::lower_bound(candidates.begin(), candidates.end(), step.value,
                       [&](uint32_t number, uint32_t wanted) { return job_.steps[number].value < wanted; });
  const bool is_self = step.other == step.rank;
  step.other = kNothing;
  if (found == candidates.end() || job_.steps[*found].value != step.value) return;
  step.partner = *found;
  const auto exposed = exposed_.empty() ? exposed_.end() : exposed_.find(*found);
  if (exposed == exposed_.end()) return;
  step.other = exposed->second.counter;
  if (step.work == Work::kPut) {
    ++exposed->second.puts;
    step.value = 1;
  } else if (is_self) {
    // It waits for as many puts as there are, which is known when all ranks have been seen.
    step.work = Work::kWait;
    collecting_.push_back(static_cast<uint32_t>(&step - job_.steps.data()));
  }
}

void JobWriter::connect_messages(uint32_t rank) {
  const auto peer_of = [&](uint32_t number) {
    const Step& step = job_.steps[number];
    return step.work == Work::kFirstOf ? step.value : step.other;
  };
  std::vector<uint32_t> taking;
  for (uint32_t number = job_.begins[rank]; number < job_.begins[rank + 1]; ++number)
    if (job_.steps[number].work == Work::kTake || job_.steps[number].work == Work::kFirstOf) taking.push_back(number);
  std::sort(taking.begin(), taking.end(),
            [&](uint32_t a, uint32_t b) { return std::pair(peer_of(a), a) < std::pair(peer_of(b), b); });
  for (size_t i = 0; i < taking.size();) {
    const uint32_t peer = peer_of(taking[i]);
    const std::span<const uint32_t> sends = sends_.of(peer);
    auto send = std::lower_bound(sends.begin(), sends.end(), rank,
                                 [&](uint32_t number, uint32_t wanted) { return job_.steps[number].other < wanted; });
    for (; i < taking.size() && peer_of(taking[i]) == peer; ++i) {
      if (send == sends.end() || job_.steps[*send].other != rank) continue;
      job_.steps[taking[i]].partner = *send;
      job_.steps[*send].partner = taking[i];
      ++send;
    }
  }
}

void JobWriter::connect_multicasts(uint32_t rank) {
  std::unordered_map<uint32_t, uint32_t> taken;  // of each rank's
  for (uint32_t number = job_.begins[rank]; number < job_.begins[rank + 1]; ++number) {
    Step& step = job_.steps[number];
    if (step.work != Work::kFirstOf) continue;
    const std::span<const uint32_t> sent = multicasts_.of(step.other);
    uint32_t& next = taken[step.other];
    step.other = next < sent.size() ? sent[next++] : kNothing;
    if (step.other != kNothing) job_.takers.push_back({step.other, number});
  }
}

// Peers read where it lies what a step publishes or sends so. Each that does finds it in no cache of its own.
void JobWriter::read_of_peers() {
  for (const auto& [number, range] : read_) {
    Step& step = job_.steps[number];
    const auto left = left_unread_.find(step.partner);
    if (left == left_unread_.end()) continue;
    const uint64_t bytes = step.unread + common(left->second, range) * element_bytes_;
    step.unread = static_cast<uint32_t>(std::min<uint64_t>(bytes, std::numeric_limits<uint32_t>::max()));
  }
}

}  // namespace hocket::simulation
