// SPDX-License-Identifier: BSD-3-Clause
#include "engines/nic/contents.h"

#include <algorithm>
#include <string>

#include "protocol/operands.h"

namespace hocket::engines::nic {

using schedule::Buffer;
using schedule::Collective;
using schedule::Plan;
using schedule::Slice;
using schedule::Step;
using schedule::StepKind;

Status unfit(const std::string& why) {
  return {Code::kNotSupported, "the NIC engine can't hold this schedule: " + why};
}

Contents::Contents(const Plan& plan, nic_program& program) : program_(program) {
  switch (plan.collective) {
    case Collective::kBarrier:
      return;
    case Collective::kAlltoall:
      program.slices = static_cast<uint8_t>(plan.shape.size);
      program.operands = NIC_EXCHANGED + 1;
      return;
    case Collective::kBroadcast:
      // One buffer, on all ranks.
      values_[{Buffer::kOutput, 0}] = {NIC_HOSTS_OPERAND};
      break;
    default:
      values_[{Buffer::kInput, 0}] = {NIC_HOSTS_OPERAND};
  }
  program.operands = NIC_HOSTS_OPERAND + 1;
}

Result<uint8_t> Contents::new_place() {
  // No more than there are arrivals, for each of which there is one.
  if (program_.operands > NIC_MOST_ARRIVALS) return unfit("a rank has too many operands");
  return program_.operands++;
}

Result<Contents::Value> Contents::value_of(const Slice& slice) const {
  if (slice.first != 0 || slice.last != slice.of || slice.blocks != 1) return unfit("it cuts operands into parts");
  const auto found = values_.find({slice.buffer, slice.area});
  if (found == values_.end()) return unfit("it sends what it has not received");
  return Value(found->second);
}

Status Contents::set(const Slice& slice, Value value) {
  if (slice.first != 0 || slice.last != slice.of || slice.blocks != 1) return unfit("it cuts operands into parts");
  values_[{slice.buffer, slice.area}] = std::move(value);
  return Status::ok();
}

// A run that is there already, or one more at the end of the list, which may begin with what the list ends with.
Result<nic_content> Contents::run_of(const Value& value) {
  const auto is_same = [&](size_t at, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      const uint8_t mask = i == 0 ? NIC_IS_LEFT - 1 : 0xff;
      if ((program_.fold[at + i] & mask) != (value[i] & mask)) return false;
    }
    return true;
  };
  const size_t folds = program_.folds;
  for (size_t at = 0; at < folds; ++at) {
    const size_t common = std::min(value.size(), folds - at);
    if (!is_same(at, common)) continue;
    if (at + value.size() > NIC_MOST_FOLDS) break;
    for (size_t i = common; i < value.size(); ++i) program_.fold[program_.folds++] = value[i];
    return nic_content{static_cast<uint8_t>(at), static_cast<uint8_t>(at + value.size())};
  }
  if (folds + value.size() > NIC_MOST_FOLDS)
    return unfit("its messages have more than " + std::to_string(NIC_MOST_FOLDS) + " operands");
  std::copy(value.begin(), value.end(), program_.fold + folds);
  program_.folds = static_cast<uint8_t>(folds + value.size());
  return nic_content{static_cast<uint8_t>(folds), program_.folds};
}

Result<uint8_t> Contents::block_of(const Slice& slice, Buffer buffer) const {
  if (slice.buffer != buffer || slice.blocks != program_.slices || slice.of != program_.slices ||
      slice.last != slice.first + 1)
    return unfit("it sends other things than single blocks of the caller's");
  return static_cast<uint8_t>(slice.first);
}

Status Contents::send(const Step& step, nic_send& send) {
  send.slice = NIC_WHOLE;
  send.content = {};
  if (step.source.is_empty()) return Status::ok();
  Value value = {NIC_HOSTS_OPERAND};
  if (is_exchange()) {
    const Result<uint8_t> block = block_of(step.source, Buffer::kInput);
    if (!block.is_ok()) return unfit("it sends other things than single blocks of the caller's");
    send.slice = block.value();
  } else {
    Result<Value> found = value_of(step.source);
    if (!found.is_ok()) return found.take_status();
    value = found.take();
  }
  Result<nic_content> content = run_of(value);
  if (!content.is_ok()) return content.take_status();
  send.content = content.value();
  return Status::ok();
}

Status Contents::receive(const Step& step, nic_arrival& arrival) {
  arrival.slice = NIC_WHOLE;
  arrival.operand = NIC_NO_OPERAND;
  if (step.destination.is_empty()) return Status::ok();
  if (is_exchange()) {
    Result<uint8_t> block = block_of(step.destination, Buffer::kOutput);
    if (!block.is_ok()) return block.take_status();
    arrival.operand = NIC_EXCHANGED;
    arrival.slice = block.value();
    return Status::ok();
  }
  Result<uint8_t> place = new_place();
  if (!place.is_ok()) return place.take_status();
  arrival.operand = place.value();
  if (step.kind == StepKind::kReceive) return set(step.destination, {place.value()});
  Result<Value> local = value_of(step.source);
  if (!local.is_ok()) return local.take_status();
  Value value = local.take();
  value.push_back(static_cast<uint8_t>(place.value() | (step.incoming_left ? NIC_IS_LEFT : 0)));
  return set(step.destination, std::move(value));
}

Status Contents::work(const Step& step) {
  if (is_exchange()) {
    const Result<uint8_t> from = block_of(step.source, Buffer::kInput);
    const Result<uint8_t> to = block_of(step.destination, Buffer::kOutput);
    // The only one that there is without a step of the program's.
    if (step.kind != StepKind::kCopy || !from.is_ok() || !to.is_ok() || from.value() != to.value())
      return unfit("it copies other things than what a rank has for itself");
    return Status::ok();
  }
  Result<Value> source = value_of(step.source);
  if (!source.is_ok()) return source.take_status();
  if (step.kind == StepKind::kCopy) return set(step.destination, source.take());
  Result<Value> destination = value_of(step.destination);
  if (!destination.is_ok()) return destination.take_status();
  // One of the two is a single operand, that the other is combined with.
  const bool is_source_one = source.value().size() == 1;
  Value value = is_source_one ? destination.take() : source.take();
  const Value one = is_source_one ? source.take() : destination.take();
  if (one.size() != 1) return unfit("it combines what is combined already");
  value.push_back(one.front() | (step.incoming_left == is_source_one ? NIC_IS_LEFT : 0));
  return set(step.destination, std::move(value));
}

Result<nic_content> Contents::result() {
  if (is_exchange()) return run_of({NIC_EXCHANGED});
  const auto found = values_.find({Buffer::kOutput, 0});
  if (found == values_.end()) return nic_content{};
  return run_of(found->second);
}

// A bit for each.
uint64_t Contents::places_of(const nic_content& content) const {
  uint64_t places = 0;
  for (uint32_t i = content.first; i < content.end; ++i)
    places |= uint64_t{1} << (program_.fold[i] & (NIC_IS_LEFT - 1));
  return places;
}

Status Contents::pool() {
  std::vector<nic_content> all = {program_.result.content};
  for (uint32_t i = 0; i < program_.sends; ++i) all.push_back(program_.send[i].content);
  const auto is_combined = [](const nic_content& content) { return content.end - content.first > 1; };
  for (const nic_content& content : all)
    if (is_combined(content)) program_.pooled |= places_of(content);
  for (const nic_content& content : all)
    if ((places_of(content) & program_.pooled) != (is_combined(content) ? program_.pooled : 0))
      return unfit("a rank sends on what it has combined before all has come, so that the order must be known");
  return Status::ok();
}

}  // namespace hocket::engines::nic
