// SPDX-License-Identifier: BSD-3-Clause
#include "interpreter.h"

#include <algorithm>

namespace hocket::algorithms {

using schedule::Buffer;
using schedule::Collective;
using schedule::Plan;
using schedule::Slice;
using schedule::Step;
using schedule::StepKind;

namespace {

uint64_t mix(uint64_t value) {
  value = (value ^ value >> 31) * 0x7fb5d329728ea185u;
  value = (value ^ value >> 27) * 0x81dadef4bc2dd44du;
  return value ^ value >> 33;
}

// Where a rank's input lies in its output, in place.
uint64_t place_of_input(const Plan& plan, uint64_t count) {
  const uint32_t size = plan.shape.size;
  const bool has_more = output_blocks(plan.collective, size) > input_blocks(plan.collective, size);
  return has_more ? plan.shape.rank * count : 0;
}

}  // namespace

uint64_t Interpreter::combine(uint64_t left, uint64_t right) { return mix(3 * left + 7 * mix(right)); }
uint64_t Interpreter::operand(uint32_t rank, uint64_t index) { return mix((uint64_t{rank} + 1) << 32 | index); }

Interpreter::Interpreter(const std::vector<Plan>& plans, uint64_t count, uint32_t seed)
    : plans_(plans), count_(count), random_(seed), ranks_(plans.size()), luck_(seed % 4) {
  for (uint32_t r = 0; r < ranks_.size(); ++r) {
    const Plan& plan = plans[r];
    Rank& rank = ranks_[r];
    const bool is_root = plan.shape.rank == plan.shape.root;
    const bool has_output = schedule::has_output(plan.collective, is_root);
    const bool has_input = schedule::has_input(plan.collective, is_root);
    const uint64_t inputs = has_input ? schedule::input_blocks(plan.collective, plan.shape.size) * count : 0;
    const uint64_t outputs = has_output ? schedule::output_blocks(plan.collective, plan.shape.size) * count : 0;
    rank.output.resize(outputs);
    const bool is_source = plan.collective == Collective::kBroadcast && plan.shape.rank == plan.shape.root;
    if (is_source) {
      for (uint64_t i = 0; i < outputs; ++i) rank.output[i] = operand(r, i);
    }
    const bool shares = plan.shape.in_place && has_output && (is_root || !schedule::has_root(plan.collective));
    if (!shares) rank.input.resize(inputs);
    for (uint64_t i = 0; i < inputs; ++i) {
      (shares ? rank.output[place_of_input(plan, count) + i] : rank.input[i]) = operand(r, i);
    }
    for (const schedule::ScratchArea& area : plan.scratch) rank.scratch.emplace_back(area.elements(count));
    open_stage(r);
  }
}

Interpreter::View Interpreter::view(uint32_t rank, const Slice& slice) {
  if (slice.buffer == Buffer::kNone) return {};
  const schedule::Range range = schedule::resolve(slice, count_);
  if (range.length == 0) return {};
  Rank& owner = ranks_[rank];
  Data* buffer = &owner.output;
  uint64_t base = 0;
  if (slice.buffer == Buffer::kScratch) buffer = &owner.scratch[slice.area];
  if (slice.buffer == Buffer::kInput) {
    if (owner.input.empty()) {  // in place
      base = place_of_input(plans_[rank], count_);
    } else {
      buffer = &owner.input;
    }
  }
  if (base + range.offset + range.length > buffer->size()) {
    problem_ = "rank " + std::to_string(rank) + " leaves a buffer";
    return {};
  }
  return {buffer->data() + base + range.offset, range.length, {}};
}

Interpreter::View Interpreter::copy(const View& view) {
  return {nullptr, view.length, Data(view.begin, view.begin + view.length)};
}

Interpreter::View Interpreter::copy_or_not(View view) { return flip() || view.begin == nullptr ? view : copy(view); }

bool Interpreter::finished(const Rank& rank) const { return rank.begin == plans_[&rank - ranks_.data()].steps.size(); }

void Interpreter::open_stage(uint32_t r) {
  Rank& rank = ranks_[r];
  const std::vector<Step>& steps = plans_[r].steps;
  rank.begin = rank.end;
  if (finished(rank)) return;
  while (!steps[rank.end++].ends_stage) {
  }
  rank.done.assign(rank.end - rank.begin, 0);
  rank.posted.assign(rank.end - rank.begin, 0);
  rank.taken.assign(rank.end - rank.begin, false);
}

std::string Interpreter::run() {
  std::vector<uint32_t> order(ranks_.size());
  for (uint32_t r = 0; r < order.size(); ++r) order[r] = r;
  for (bool moved = true; moved && problem_.empty();) {
    moved = false;
    std::shuffle(order.begin(), order.end(), random_);
    for (const uint32_t rank : order) {
      // Some ranks come late, some do much at once.
      for (uint32_t turns = random_() % 4; turns > 0 && visit(rank); --turns) moved = true;
    }
    // Who was passed over by chance may still be able to move.
    posted_ = false;
    for (size_t i = 0; !moved && i < order.size(); ++i) moved = visit(order[i]) || posted_;
  }
  if (!problem_.empty()) return problem_;
  for (const Rank& rank : ranks_) {
    if (!finished(rank)) return "rank " + std::to_string(&rank - ranks_.data()) + " waits for ever";
  }
  return "";
}

std::string Interpreter::run_in_order(const std::vector<Turn>& turns) {
  is_in_order_ = true;
  for (const auto& [r, step] : turns) {
    Rank& rank = ranks_[r];
    const std::string name = "step " + std::to_string(step) + " of rank " + std::to_string(r);
    if (step < rank.begin || step >= rank.end) return name + " is not of the stage that its rank is in";
    const size_t index = step - rank.begin;
    if (rank.done[index]) return name + " comes twice";
    if (!is_next_of_its_pair(r, index)) return name + " comes before another one of its pair";
    if (!try_step(r, index)) return problem_.empty() ? name + " comes before what it needs" : problem_;
    if (!problem_.empty()) return problem_;
    rank.done[index] = 1;
    if (std::all_of(rank.done.begin(), rank.done.end(), [](char done) { return done != 0; })) open_stage(r);
  }
  for (const Rank& rank : ranks_) {
    if (!finished(rank)) return "rank " + std::to_string(&rank - ranks_.data()) + " doesn't come to its end";
  }
  return "";
}

// One step of the current stage, if any can be done.
bool Interpreter::visit(uint32_t r) {
  Rank& rank = ranks_[r];
  if (finished(rank)) return false;
  const size_t length = rank.end - rank.begin;
  const size_t first = random_() % length;
  for (size_t i = 0; i < length; ++i) {
    const size_t step = (first + i) % length;
    if (rank.done[step] || !is_next_of_its_pair(r, step) || !try_step(r, step)) continue;
    rank.done[step] = 1;
    if (std::all_of(rank.done.begin(), rank.done.end(), [](char done) { return done != 0; })) open_stage(r);
    return true;
  }
  return false;
}

// Messages between two ranks are matched in order.
bool Interpreter::is_next_of_its_pair(uint32_t r, size_t index) const {
  const Rank& rank = ranks_[r];
  const std::vector<Step>& steps = plans_[r].steps;
  const Step& step = steps[rank.begin + index];
  const auto sends = [](const Step& some) { return some.kind == StepKind::kSend; };
  const auto is_message = [&](const Step& some) {
    return sends(some) || some.kind == StepKind::kReceive || some.kind == StepKind::kReceiveCombine ||
           some.kind == StepKind::kFirstOf;
  };
  // Ranks count a source's multicasts.
  const auto is_counted = [](const Step& some) {
    return some.kind == StepKind::kMulticast || some.kind == StepKind::kFirstOf;
  };
  for (size_t i = 0; is_counted(step) && i < index; ++i) {
    const Step& earlier = steps[rank.begin + i];
    if (!rank.done[i] && earlier.kind == step.kind && earlier.second_peer == step.second_peer) return false;
  }
  if (!is_message(step)) return true;
  for (size_t i = 0; i < index; ++i) {
    const Step& earlier = steps[rank.begin + i];
    if (!rank.done[i] && is_message(earlier) && earlier.peer == step.peer && sends(earlier) == sends(step))
      return false;
  }
  return true;
}

bool Interpreter::try_step(uint32_t r, size_t index) {
  Rank& rank = ranks_[r];
  const Step& step = plans_[r].steps[rank.begin + index];
  auto& counters = step.peer == schedule::kShared ? shared_counters_ : ranks_[step.peer].counters;
  switch (step.kind) {
    case StepKind::kSend:
      return send(r, index);
    case StepKind::kReceive:
    case StepKind::kReceiveCombine:
      return receive(r, step);
    case StepKind::kMulticast:
      multicast(r, step);
      return true;
    case StepKind::kExpect: {
      View room = view(r, step.destination);
      std::fill_n(room.data(), room.length, 0xdeadu);
      return true;
    }
    case StepKind::kFirstOf:
      return take_first(r, step);
    case StepKind::kPublish:
      rank.slots[step.slot] = {step.version, copy_or_not(view(r, step.source))};
      return true;
    case StepKind::kExpose: {
      View room = view(r, step.destination);
      std::fill_n(room.data(), room.length, 0xdeadu);
      rank.slots[step.slot] = {step.version, copy_or_not(std::move(room))};
      return true;
    }
    case StepKind::kGet:
    case StepKind::kPut:
    case StepKind::kCombineFrom:
      return use_slot(r, step);
    case StepKind::kAdd:
      counters[step.slot] += step.value;
      return true;
    case StepKind::kWaitUntil:
      return counters[step.slot] >= step.value;
    case StepKind::kCopy:
      deliver(r, step, view(r, step.source));
      return true;
    case StepKind::kCombine: {
      const View source = view(r, step.source);
      View destination = view(r, step.destination);
      for (uint64_t i = 0; i < destination.length; ++i) {
        uint64_t& value = destination.begin[i];
        value = step.incoming_left ? combine(source.begin[i], value) : combine(value, source.begin[i]);
      }
      return true;
    }
    default:
      problem_ = "a step of a kind that is not carried out here";
      return false;
  }
}

bool Interpreter::send(uint32_t r, size_t index) {
  Rank& rank = ranks_[r];
  const Step& step = plans_[r].steps[rank.begin + index];
  std::deque<Message>& mail = mail_[{r, step.peer}];
  if (uint32_t& unneeded = unneeded_[{r, step.peer}]; !rank.posted[index] && unneeded > 0) {
    --unneeded;
    return true;
  }
  if (!rank.posted[index]) {
    const View source = view(r, step.source);
    View message = is_in_order_ ? copy(source) : copy_or_not(source);
    const bool buffered = is_in_order_ || (message.begin == nullptr && flip());
    rank.posted[index] = 1;
    posted_ = true;
    mail.push_back({std::move(message), buffered ? nullptr : &rank.taken[index]});
    return buffered;
  }
  return rank.taken[index];
}

bool Interpreter::receive(uint32_t r, const Step& step) {
  std::deque<Message>& mail = mail_[{step.peer, r}];
  if (mail.empty()) return false;
  Message message = std::move(mail.front());
  mail.pop_front();
  deliver(r, step, std::move(message.view));
  if (message.taken != nullptr) *message.taken = true;
  return true;
}

void Interpreter::multicast(uint32_t r, const Step& step) {
  const View source = view(r, step.source);
  for (uint32_t to = 0; to < ranks_.size(); ++to) {
    const bool gets_there = is_in_order_ || random_() % 3 < luck_;
    multicasts_[{r, to}].push_back(gets_there ? std::optional(Data(source.begin, source.begin + source.length))
                                              : std::nullopt);
  }
}

bool Interpreter::take_first(uint32_t r, const Step& step) {
  std::deque<std::optional<Data>>& sent = multicasts_[{step.second_peer, r}];
  const bool has_come = !sent.empty() && sent.front().has_value();
  // That it doesn't come the rank never learns: it takes the message when that is there.
  const bool takes_message = is_in_order_ ? !mail_[{step.peer, r}].empty() : flip();
  if (!has_come || takes_message) {
    if (sent.empty() || !receive(r, step)) return false;
    sent.pop_front();
    return true;
  }
  deliver(r, step, {nullptr, sent.front()->size(), *sent.front()});
  sent.pop_front();
  std::deque<Message>& mail = mail_[{step.peer, r}];
  if (mail.empty()) {
    ++unneeded_[{step.peer, r}];
    return true;
  }
  if (mail.front().taken != nullptr) *mail.front().taken = true;
  mail.pop_front();
  return true;
}

bool Interpreter::use_slot(uint32_t r, const Step& step) {
  Publication& publication = ranks_[step.peer].slots[step.slot];
  if (publication.version < step.version) return false;
  if (publication.version > step.version) {
    problem_ = "rank " + std::to_string(r) + " comes too late for version " + std::to_string(step.version);
    return false;
  }
  schedule::Range range = {0, publication.view.length};
  if (step.target.buffer != Buffer::kNone) range = schedule::resolve(step.target, count_);
  if (range.offset + range.length > publication.view.length) {
    problem_ = "rank " + std::to_string(r) + " leaves a publication";
    return false;
  }
  const View part{range.length == 0 ? nullptr : publication.view.data() + range.offset, range.length, {}};
  if (step.kind != StepKind::kPut) {
    deliver(r, step, part);
    return true;
  }
  const View source = view(r, step.source);
  if (source.length != part.length) problem_ = "rank " + std::to_string(r) + " puts a wrong length";
  std::copy_n(source.begin, std::min(source.length, part.length), part.begin);
  return true;
}

// What has come, into the step's destination: as it is, or combined with the step's own operand.
void Interpreter::deliver(uint32_t r, const Step& step, View incoming) {
  View destination = view(r, step.destination);
  if (incoming.length != destination.length) {
    problem_ = "rank " + std::to_string(r) + " gets " + std::to_string(incoming.length) + " elements for " +
               std::to_string(destination.length);
    return;
  }
  const bool combines = step.kind == StepKind::kReceiveCombine || step.kind == StepKind::kCombineFrom;
  const View local = combines ? view(r, step.source) : View{};
  for (uint64_t i = 0; i < incoming.length; ++i) {
    const uint64_t value = incoming.data()[i];
    destination.begin[i] = !combines            ? value
                           : step.incoming_left ? combine(value, local.begin[i])
                                                : combine(local.begin[i], value);
  }
}

}  // namespace hocket::algorithms
