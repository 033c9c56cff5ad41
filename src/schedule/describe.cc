// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/describe.h"

#include <array>

namespace hocket::schedule {
namespace {

constexpr auto kKindNames = std::to_array<std::string_view>({"send", "receive", "receive_combine", "publish", "expose",
                                                             "get", "put", "combine_from", "add", "wait", "copy",
                                                             "combine", "multicast", "expect", "first_of", "trigger"});
static_assert(kKindNames.size() == static_cast<size_t>(StepKind::kTrigger) + 1);

std::string slice_bound(uint32_t numerator, uint32_t denominator) {
  if (numerator == 0) return "0";
  if (numerator == denominator) return "1";
  return std::to_string(numerator) + "/" + std::to_string(denominator);
}

std::string operands(const std::string& left, const std::string& right, const Step& step) {
  return left + " (op) " + right + " -> " + describe(step.destination);
}

std::string combination(const std::string& incoming, const std::string& local, const Step& step) {
  return step.incoming_left ? operands(incoming, local, step) : operands(local, incoming, step);
}

// " elements 1/4..2/4 of it": only where a part of the publication is meant.
std::string part_of_publication(const Step& step) {
  if (step.target.buffer == Buffer::kNone) return "";
  return " part " + slice_bound(step.target.first, step.target.of) + ".." +
         slice_bound(step.target.last, step.target.of) +
         (step.target.origin != 0 ? " from " + slice_bound(step.target.origin, step.target.of) : "");
}

std::string with_slices(const Step& step) {
  switch (step.kind) {
    case StepKind::kSend:
    case StepKind::kPublish:
    case StepKind::kMulticast:
      return std::string(" ").append(describe(step.source));
    case StepKind::kReceive:
    case StepKind::kExpose:
    case StepKind::kExpect:
    case StepKind::kFirstOf:
      return std::string(" -> ").append(describe(step.destination));
    case StepKind::kReceiveCombine:
      return ": " + combination("incoming", describe(step.source), step);
    case StepKind::kGet:
      return part_of_publication(step) + " -> " + describe(step.destination);
    case StepKind::kPut:
      return part_of_publication(step) + " " + describe(step.source);
    case StepKind::kCombineFrom:
      return part_of_publication(step) + ": " + combination("published", describe(step.source), step);
    case StepKind::kAdd:
    case StepKind::kWaitUntil:
    case StepKind::kTrigger:
      return "";
    case StepKind::kCopy:
      return std::string(" ").append(describe(step.source)) + " -> " + describe(step.destination);
    case StepKind::kCombine:
      return ": " + combination(describe(step.source), describe(step.destination), step);
  }
  return "";
}

std::string slot(const Step& step) {
  return " slot " + std::to_string(step.slot) + " v" + std::to_string(step.version);
}

std::string counter(const Step& step) {
  return (step.peer == kShared ? "shared " : "") + std::string("counter ") + std::to_string(step.slot);
}

}  // namespace

std::string_view name(StepKind kind) { return kKindNames[static_cast<size_t>(kind)]; }

std::string describe(const Slice& slice) {
  std::string text;
  switch (slice.buffer) {
    case Buffer::kNone:
      return "nothing";
    case Buffer::kInput:
      text = "input";
      break;
    case Buffer::kOutput:
      text = "output";
      break;
    case Buffer::kScratch:
      text = "scratch" + std::to_string(slice.area);
      break;
  }
  if (slice.first == 0 && slice.last == slice.of) return text;
  text.append("[").append(slice_bound(slice.first, slice.of)).append("..").append(slice_bound(slice.last, slice.of)) +=
      ']';
  if (slice.origin != 0) text.append("@").append(slice_bound(slice.origin, slice.of));
  return text;
}

std::string headline(const Step& step) {
  std::string text(name(step.kind));
  const std::string peer = std::to_string(step.peer);
  switch (step.kind) {
    case StepKind::kSend:
      return text + (step.to_first_of ? " on to " : " to ") + peer;
    case StepKind::kReceive:
    case StepKind::kReceiveCombine:
      return text + " from " + peer;
    case StepKind::kPublish:
    case StepKind::kExpose:
      return text + slot(step);
    case StepKind::kGet:
    case StepKind::kCombineFrom:
      return text + slot(step) + " of " + peer;
    case StepKind::kPut:
      return text + slot(step) + " of " + peer;
    case StepKind::kAdd:
      return text + " " + std::to_string(step.value) + " to " + counter(step) +
             (step.peer == kShared ? "" : " of " + peer);
    case StepKind::kWaitUntil:
      return text + " for " + std::to_string(step.value) + " on " + counter(step);
    case StepKind::kCopy:
    case StepKind::kCombine:
    case StepKind::kMulticast:
    case StepKind::kTrigger:
      return text;
    case StepKind::kExpect:
      return text + " a multicast from " + std::to_string(step.second_peer);
    case StepKind::kFirstOf:
      return text + " from " + peer + " or by multicast from " + std::to_string(step.second_peer);
  }
  return text;
}

std::string describe(const Step& step) { return headline(step) + with_slices(step); }

}  // namespace hocket::schedule
