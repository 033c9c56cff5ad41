// SPDX-License-Identifier: BSD-3-Clause
#include "engines/nic/table_writer.h"

#include <string>
#include <utility>

#include "base/assertion.h"

namespace hocket::engines::nic {

using schedule::Plan;
using schedule::Step;
using schedule::StepKind;

Status fits(const Plan& plan, const Room& room) {
  size_t stages = 0;
  size_t sends = 0;
  size_t receives = 0;
  // How many must have come before the messages of this stage, and of the last that had some.
  size_t needed = 0;
  size_t last_needed = ~size_t{0};
  for (const Step& step : plan.steps) {
    if (step.kind != StepKind::kSend && !is_receive(step) && !is_work(step))
      return unfit("it has other steps than sends, receives and copies");
    if (step.kind == StepKind::kSend) {
      ++sends;
      if (std::exchange(last_needed, needed) != needed) ++stages;
    }
    if (is_receive(step)) ++receives;
    if (step.ends_stage) needed = receives;
  }
  const std::string whose = "rank " + std::to_string(plan.shape.rank) + " has ";
  if (sends > room.sends)
    return unfit(whose + std::to_string(sends) + " messages to send, the most are " + std::to_string(room.sends));
  if (receives > room.arrivals)
    return unfit(whose + std::to_string(receives) + " to receive, the most are " + std::to_string(room.arrivals));
  if (stages > room.stages)
    return unfit(whose + std::to_string(stages) + " stages, the most are " + std::to_string(room.stages));
  return Status::ok();
}

Status TableWriter::write(const Plan& plan, uint64_t before,
                          const std::function<Status(uint64_t need)>& at_first_send) {
  uint64_t received = before;
  bool has_sent = at_first_send == nullptr;
  for (const Step& step : plan.steps) {
    if (is_receive(step)) {
      received |= uint64_t{1} << program_.arrivals;
      HOCKET_TRY(receive(step));
    } else if (step.kind == StepKind::kSend) {
      if (!std::exchange(has_sent, true)) HOCKET_TRY(at_first_send(before));
      HOCKET_TRY(send(step, before));
    } else {
      HOCKET_TRY(contents_.work(step));
    }
    if (step.ends_stage) before = received;
  }
  if (!has_sent) HOCKET_TRY(at_first_send(received));
  program_.all = received;
  return Status::ok();
}

Status TableWriter::receive(const Step& step) {
  Result<uint8_t> place = place_at_peer(step);
  if (!place.is_ok()) return place.take_status();
  HOCKET_ASSERT(program_.arrivals < NIC_MOST_ARRIVALS, "a table's arrivals have room in it");
  nic_arrival& arrival = program_.arrival[program_.arrivals++];
  arrival.member = static_cast<uint16_t>(step.peer);
  arrival.send = place.value();
  return contents_.receive(step, arrival);
}

Status TableWriter::send(const Step& step, uint64_t before) {
  Result<uint8_t> place = place_at_peer(step);
  if (!place.is_ok()) return place.take_status();
  nic_send send{};
  send.member = static_cast<uint16_t>(step.peer);
  send.bit = place.value();
  HOCKET_TRY(contents_.send(step, send));
  add(before, send);
  return Status::ok();
}

void TableWriter::add(uint64_t need, const nic_send& send) {
  if (program_.stages == 0 || program_.need[program_.stages - 1] != need) program_.need[program_.stages++] = need;
  HOCKET_ASSERT(program_.stages <= NIC_MOST_STAGES, "a table's stages have room in it");
  HOCKET_ASSERT(program_.sends < NIC_MOST_SENDS, "a table's sends have room in it");
  program_.send[program_.sends++] = send;
  program_.end_send[program_.stages - 1] = program_.sends;
}

TableWriter::Peer TableWriter::places_of(const Plan& plan, uint32_t peer) {
  Peer places;
  uint8_t sends = 0;
  uint8_t receives = 0;
  for (const Step& step : plan.steps) {
    const bool is_send = step.kind == StepKind::kSend;
    if (!is_send && !is_receive(step)) continue;
    if (step.peer == peer) (is_send ? places.sends : places.receives).push_back(is_send ? sends : receives);
    ++(is_send ? sends : receives);
  }
  return places;
}

// The number of the step's message in its peer's list: messages of a pair are matched in their order.
Result<uint8_t> TableWriter::place_at_peer(const Step& step) {
  auto known = peers_.find(step.peer);
  if (known == peers_.end()) known = peers_.emplace(step.peer, places_of(plan_of_(step.peer), rank_)).first;
  Peer& peer = known->second;
  const bool is_send = step.kind == StepKind::kSend;
  const std::vector<uint8_t>& list = is_send ? peer.receives : peer.sends;
  size_t& next = is_send ? peer.next_receive : peer.next_send;
  if (next == list.size())
    return unfit("ranks " + std::to_string(rank_) + " and " + std::to_string(step.peer) +
                 " don't expect the same messages");
  const Taken taken = taken_by_(step.peer);
  return static_cast<uint8_t>(list[next++] + (is_send ? taken.arrivals : taken.sends));
}

}  // namespace hocket::engines::nic
