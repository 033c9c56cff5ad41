// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/nic/replay.h"

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "simulation/core/event_queue.h"
#include "simulation/nic/engines.h"

namespace hocket::simulation {
namespace {

constexpr Time kPerNs = 1000;
// How long after the last that was recorded operations may still get done.
constexpr Time kAfterwards = Time{10'000'000'000} * kPerNs;
// How long after its last look an engine looks by itself: only where the recorded looks leave something undone.
constexpr double kOwnLooksUs = 100'000;
// For a recording in which a host is waited for without end.
constexpr uint64_t kEventsBeside = 100'000;
constexpr uint64_t kEventsOfEach = 100;
// Behind which a picosecond could be none that a word holds.
constexpr uint64_t kLatestNs = 1'000'000'000'000'000;

Status unfit_recording(const std::string& what) { return {Code::kInvalidArgument, what}; }

Status fit_together(const NicRecording& recording, const std::vector<std::vector<nic_program>>& collectives) {
  const size_t members = collectives.empty() ? 0 : collectives.front().size();
  std::vector<uint64_t> started(members);
  for (const RecordedDoorbell& doorbell : recording.doorbells) {
    const std::string whose = "the recording's doorbell of member " + std::to_string(doorbell.member);
    if (doorbell.member >= members)
      return unfit_recording(whose + " is of none of the group's " + std::to_string(members));
    if (doorbell.call.program >= collectives.size())
      return unfit_recording(whose + " begins program " + std::to_string(doorbell.call.program) + ", where there are " +
                             std::to_string(collectives.size()) + ": another collective or algorithm was recorded");
    if (doorbell.call.epoch != ++started[doorbell.member])
      return unfit_recording(whose + " is of operation " + std::to_string(doorbell.call.epoch) + " and should be of " +
                             std::to_string(started[doorbell.member]) +
                             ": record from before the group is made, and all of it");
    if (doorbell.ns > kLatestNs) return unfit_recording(whose + " comes after more than 11 days");
  }
  for (const RecordedPacket& packet : recording.packets) {
    const nic_message& message = packet.message;
    bool is_in_time = packet.ns <= kLatestNs;
    for (const RecordedArrival& arrival : packet.arrivals) is_in_time = is_in_time && arrival.ns <= kLatestNs;
    if (message.source >= members || (message.target >= members && message.target != NIC_ALL))
      return unfit_recording("the recording has a packet from member " + std::to_string(message.source) + " to " +
                             std::to_string(message.target) + ", where the group has " + std::to_string(members));
    if (!is_in_time) return unfit_recording("the recording has a packet after more than 11 days");
  }
  return Status::ok();
}

bool is_message(const PacketName& name) { return name.kind == NIC_MESSAGE || name.kind == NIC_VETO; }

class Replay final : public NicSurroundings {
 public:
  explicit Replay(const NicRecording& recording) : recording_(recording) {
    for (const RecordedPacket& packet : recording.packets)
      packets_[packet_name(packet.message)].recorded.push_back(&packet);
  }

  Result<Replayed> run(const std::vector<std::vector<nic_program>>& collectives, const NicOptions& options);

  Time now() const override { return queue_.now(); }
  void call_at(Time time, uint64_t ticket) override { queue_.push(time, ticket); }
  Time carry(const nic_message& packet, uint32_t /*bytes*/, Time ready) override {
    return arrival_of(next(packet), packet.target, ready);
  }
  void carry_to_all(const nic_message& packet, uint32_t /*bytes*/, Time ready, std::vector<Time>& arrivals) override {
    const RecordedPacket* same = next(packet);
    for (uint32_t member = 0; member < arrivals.size(); ++member)
      arrivals[member] = arrival_of(same, static_cast<uint16_t>(member), ready);
  }
  Time work(uint32_t /*member*/, Time ready, Time length) override { return ready + length; }
  void complete(uint32_t member, uint64_t /*epoch*/, Time time) override {
    if (!waiting_[member].empty()) queue_.push(time, kAgain + member);
  }

 private:
  // In a ticket, beside a doorbell's number or a member; otherwise it is the engines'.
  static constexpr uint64_t kLook = uint64_t{1} << 61;
  static constexpr uint64_t kRing = uint64_t{1} << 62;
  static constexpr uint64_t kAgain = uint64_t{1} << 63;
  struct Same {
    std::vector<const RecordedPacket*> recorded;
    uint64_t simulated = 0;
  };

  // The recorded one of which the simulation has sent the same now; nullptr: there is none.
  const RecordedPacket* next(const nic_message& packet) {
    Same& same = packets_[packet_name(packet)];
    const uint64_t number = same.simulated++;
    return number < same.recorded.size() ? same.recorded[number] : nullptr;
  }
  Time arrival_of(const RecordedPacket* packet, uint16_t member, Time ready) const {
    if (packet == nullptr) return ready + usual_;
    for (const RecordedArrival& arrival : packet->arrivals)
      if (arrival.member == member) return std::max(ready, arrival.ns * kPerNs);
    return kNever;
  }
  void find_usual();
  void find_looks();
  void ring(uint64_t number);
  void hear_waiting(uint32_t member);
  Time last() const;
  void count(Replayed& replayed) const;

  const NicRecording& recording_;
  EventQueue<uint64_t> queue_;
  std::unique_ptr<NicEngines> engines_;
  std::vector<uint32_t> plain_;                // by program: the one whose twin it is, or itself
  std::vector<std::deque<uint64_t>> waiting_;  // by member: doorbells that have rung too early
  std::map<PacketName, Same> packets_;
  Time usual_ = 0;  // from sending to arrival
};

// How long packets were on their way: the median.
void Replay::find_usual() {
  std::vector<uint64_t> took_ns;
  for (const RecordedPacket& packet : recording_.packets)
    for (const RecordedArrival& arrival : packet.arrivals)
      if (arrival.ns >= packet.ns) took_ns.push_back(arrival.ns - packet.ns);
  if (took_ns.empty()) return;
  const auto middle = took_ns.begin() + static_cast<std::ptrdiff_t>(took_ns.size() / 2);
  std::ranges::nth_element(took_ns, middle);
  usual_ = *middle * kPerNs;
}

// A member has looked for what is late when it has asked, or has repeated a message without being asked.
void Replay::find_looks() {
  std::map<PacketName, uint64_t> sent_ns;   // the last time
  std::map<PacketName, uint64_t> asked_ns;  // when it was heard last that a message is wanted
  for (const RecordedPacket& packet : recording_.packets) {
    const PacketName name = packet_name(packet.message);
    bool has_looked = name.kind == NIC_NACK || name.kind == NIC_PROBE;
    if (name.kind == NIC_NACK && !packet.arrivals.empty()) {
      PacketName wanted = name;
      wanted.kind = NIC_MESSAGE;
      std::swap(wanted.source, wanted.target);
      asked_ns[wanted] = packet.arrivals.front().ns;
    }
    if (is_message(name)) {
      const auto [sent, is_first] = sent_ns.try_emplace(name, packet.ns);
      const auto asked = asked_ns.find(name);
      has_looked = !is_first && (asked == asked_ns.end() || asked->second < sent->second);
      sent->second = packet.ns;
    }
    if (has_looked) queue_.push(packet.ns * kPerNs, kLook + name.source);
  }
}

Time Replay::last() const {
  uint64_t last_ns = 0;
  for (const RecordedDoorbell& doorbell : recording_.doorbells) last_ns = std::max(last_ns, doorbell.ns);
  for (const RecordedPacket& packet : recording_.packets)
    for (const RecordedArrival& arrival : packet.arrivals) last_ns = std::max(last_ns, arrival.ns);
  return last_ns * kPerNs + kAfterwards;
}

// Hosts ring only when there is room, which there may be a little later than there was.
void Replay::ring(uint64_t number) {
  const RecordedDoorbell& doorbell = recording_.doorbells[number];
  std::deque<uint64_t>& waiting = waiting_[doorbell.member];
  waiting.push_back(number);
  if (waiting.size() == 1) hear_waiting(doorbell.member);
}

void Replay::hear_waiting(uint32_t member) {
  std::deque<uint64_t>& waiting = waiting_[member];
  while (!waiting.empty()) {
    const nic_message& call = recording_.doorbells[waiting.front()].call;
    const nic_verdict verdict = engines_->ring(member, {.program = plain_[call.program],
                                                        .root = call.root,
                                                        .operation = call.operation,
                                                        .type = call.type,
                                                        .words = call.words});
    if (verdict != NIC_TAKEN) return;
    waiting.pop_front();
  }
}

void Replay::count(Replayed& replayed) const {
  for (const auto& [name, same] : packets_) {
    const ReplayCount all = {same.recorded.size(), same.simulated};
    if (all.recorded != all.simulated) replayed.differences.push_back({name, all});
    ReplayCount& first = replayed.rows[static_cast<size_t>(row_of(name, true))];
    ReplayCount& others = replayed.rows[static_cast<size_t>(row_of(name, false))];
    first.recorded += std::min<uint64_t>(all.recorded, 1);
    first.simulated += std::min<uint64_t>(all.simulated, 1);
    others.recorded += all.recorded - std::min<uint64_t>(all.recorded, 1);
    others.simulated += all.simulated - std::min<uint64_t>(all.simulated, 1);
    for (const RecordedPacket* packet : same.recorded) {
      const size_t receivers = packet->message.target == NIC_ALL ? engines_->size() - 1 : 1;
      replayed.lost.recorded += receivers - std::min(receivers, packet->arrivals.size());
    }
  }
  replayed.lost.simulated = engines_->counts().lost;
  for (uint32_t member = 0; member < engines_->size(); ++member) {
    replayed.operations += engines_->started(member);
    replayed.unfinished += engines_->started(member) - engines_->completed(member);
    replayed.unheard += waiting_[member].size();
  }
}

Result<Replayed> Replay::run(const std::vector<std::vector<nic_program>>& collectives, const NicOptions& options) {
  Result<std::unique_ptr<NicEngines>> engines = NicEngines::make(*this, {}, collectives, options);
  if (!engines.is_ok()) return engines.take_status();
  engines_ = engines.take();
  waiting_.resize(engines_->size());
  for (uint32_t program = 0; program < collectives.size(); ++program) plain_.push_back(program);
  for (uint32_t program = 0; program < options.synchronizing.size(); ++program) {
    uint32_t& plain = plain_[options.synchronizing[program]];
    plain = std::min(plain, program);
  }
  find_usual();
  find_looks();
  for (uint64_t number = 0; number < recording_.doorbells.size(); ++number)
    queue_.push(recording_.doorbells[number].ns * kPerNs, kRing + number);
  const Time last = this->last();
  const uint64_t most = kEventsBeside + kEventsOfEach * (recording_.doorbells.size() + recording_.packets.size());
  Replayed replayed;
  for (; !queue_.is_empty() && replayed.events < most; ++replayed.events) {
    const auto [time, ticket] = queue_.pop();
    if (time > last) break;
    if (ticket >= kAgain)
      hear_waiting(static_cast<uint32_t>(ticket - kAgain));
    else if (ticket >= kRing)
      ring(ticket - kRing);
    else if (ticket >= kLook)
      engines_->look_at(static_cast<uint32_t>(ticket - kLook), queue_.now());
    else
      engines_->happen(ticket);
  }
  count(replayed);
  return replayed;
}

}  // namespace

PacketName packet_name(const nic_message& message) {
  PacketName name = {message.epoch,   message.source, message.target, message.kind,
                     message.program, message.send,   message.bit};
  if (name.kind == NIC_OWED) name.kind = NIC_MESSAGE;
  if (name.kind == NIC_PROBE || name.kind == NIC_ALIVE) name.program = name.send = name.bit = 0;
  return name;
}

ReplayRow row_of(const PacketName& name, bool is_first) {
  switch (name.kind) {
    case NIC_NACK:
      return ReplayRow::kNacks;
    case NIC_LATER:
      return ReplayRow::kLater;
    case NIC_GONE:
      return ReplayRow::kGone;
    case NIC_PROBE:
      return ReplayRow::kProbes;
    case NIC_ALIVE:
      return ReplayRow::kAlive;
    case NIC_ACK:
      return ReplayRow::kAcknowledgements;
    case NIC_ABORT:
      return ReplayRow::kAborts;
    default:
      return is_first ? ReplayRow::kMessages : ReplayRow::kRepetitions;
  }
}

const char* row_name(ReplayRow row) {
  constexpr const char* kNames[] = {"messages", "repetitions", "questions (nack)", "not yet (later)", "gone already",
                                    "probes",   "alive",       "receipts (ack)",   "broken (abort)"};
  static_assert(std::size(kNames) == static_cast<size_t>(ReplayRow::kRows));
  return kNames[static_cast<size_t>(row)];
}

bool ReplayDifference::is_of_messages() const {
  return is_message(packet) && (count.recorded == 0 || count.simulated == 0);
}

bool Replayed::has_same_messages() const {
  return unfinished == 0 && unheard == 0 && std::ranges::none_of(differences, &ReplayDifference::is_of_messages);
}

Result<Replayed> replay(const NicRecording& recording, const std::vector<std::vector<nic_program>>& collectives,
                        const NicOptions& options) {
  HOCKET_TRY(fit_together(recording, collectives));
  NicOptions rarely = options;
  rarely.tick_us = std::max(options.tick_us, kOwnLooksUs);
  return Replay(recording).run(collectives, rarely);
}

}  // namespace hocket::simulation
