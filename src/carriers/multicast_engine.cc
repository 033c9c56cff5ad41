// SPDX-License-Identifier: BSD-3-Clause
#include "carriers/multicast_engine.h"

#include <poll.h>
#include <sched.h>
#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <charconv>

#include "base/clock.h"
#include "base/environment.h"
#include "base/log.h"
#include "engines/multicast/udp_port.h"
#include "engines/multicast/verbs_port.h"
#include "engines/shared_memory/layout.h"

namespace hocket::carriers {

using engines::multicast::Family;
using engines::multicast::GroupAddress;
using engines::multicast::Interface;

namespace {

// Tracks have a stream each, and probes have one.
constexpr uint32_t kProbeStream = engines::shared_memory::kLanes;
// What comes before its receiver has asked.
constexpr uint64_t kUnexpectedBytes = 256 * 1024;
// Calls of more fragments are reported, whatever the root's delay, so that the pace can follow.
constexpr uint32_t kUnreportedFragments = 8;
// Fragments are as many whole cache lines as fit.
constexpr uint32_t kFragmentUnit = 64;
constexpr int64_t kProbeAgainNs = 4'000'000;

Result<RootDelay> parse_delay(const std::string& text) {
  if (text == "none") return RootDelay{};
  if (text == "random") return RootDelay{RootDelay::Kind::kRandom, 0};
  if (text == "adaptive") return RootDelay{RootDelay::Kind::kAdaptive, 0};
  int64_t us = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), us);
  const std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
  if (error != std::errc() || us < 0 || us > 1'000'000 || (!unit.empty() && unit != "us"))
    return Status(Code::kInvalidArgument,
                  "HOCKET_MULTICAST_DELAY=" + text + ": say none, random, adaptive, or up to 1000000 microseconds");
  return RootDelay{us == 0 ? RootDelay::Kind::kNone : RootDelay::Kind::kFixed, us * 1000};
}

// Where only its kind is asked for, rank 0 draws one.
Result<GroupAddress> group_of(const std::string& text, bool is_first) {
  if (text == "ipv4" || text == "ipv6") {
    const Family family = text == "ipv4" ? Family::kIpv4 : Family::kIpv6;
    return is_first ? engines::multicast::draw_address(family) : GroupAddress{.family = family};
  }
  Result<GroupAddress> group = engines::multicast::parse_address(text);
  if (group.is_ok()) return group;
  return Status(Code::kInvalidArgument, std::string("HOCKET_MULTICAST_GROUP: ") + group.status().message() +
                                            ", or ipv4 or ipv6 for one that is drawn");
}

template <typename T>
Status draw(T& value) {
  return getrandom(&value, sizeof value, 0) == sizeof value
             ? Status::ok()
             : Status::system("can't draw the key of a multicast group", errno);
}

// What rank 0 says for all. Others look at it, too, so that what can't be understood is everybody's error at home.
Status read_settings(MulticastOffer& offer, bool is_first) {
  const Result<int> wish = environment::get_enum("HOCKET_MULTICAST");
  if (!wish.is_ok()) return {wish.status().code(), wish.status().message()};
  offer.wish = static_cast<MulticastWish>(wish.value());
  const Result<int> over = environment::get_enum("HOCKET_MULTICAST_OVER");
  if (!over.is_ok()) return {over.status().code(), over.status().message()};
  offer.over = static_cast<MulticastOver>(over.value());
  Result<std::string> group = environment::get_text("HOCKET_MULTICAST_GROUP");
  if (!group.is_ok()) return group.take_status();
  Result<GroupAddress> address = group_of(group.value(), is_first);
  if (!address.is_ok()) return address.take_status();
  offer.group = address.value();
  Result<std::string> delay = environment::get_text("HOCKET_MULTICAST_DELAY");
  if (!delay.is_ok()) return delay.take_status();
  Result<RootDelay> parsed = parse_delay(delay.value());
  if (!parsed.is_ok()) return parsed.take_status();
  offer.delay = parsed.value();
  const Result<int64_t> hops = environment::get_integer("HOCKET_MULTICAST_HOPS");
  if (!hops.is_ok()) return {hops.status().code(), hops.status().message()};
  offer.hops = static_cast<uint8_t>(hops.value());
  return Status::ok();
}

Result<Interface> own_interface(Family family) {
  Result<std::string> name = environment::get_text("HOCKET_MULTICAST_INTERFACE");
  if (!name.is_ok()) return name.take_status();
  return engines::multicast::find_interface(name.value(), family);
}

}  // namespace

// --- a process's part
// -------------------------------------------------------------------------------------------------

Result<EngineOffer> MulticastType::offer(bool is_first) {
  MulticastOffer offer;
  if (Status status = read_settings(offer, is_first); !status.is_ok()) return status;
  if (!is_first) return EngineOffer::of(offer);
  if (Status status = draw(offer.id); !status.is_ok()) return status;
  if (Status status = draw(offer.key); !status.is_ok()) return status;
  if (Status status = draw(offer.seed); !status.is_ok()) return status;
  return EngineOffer::of(offer);
}

bool MulticastType::is_required(const std::vector<EngineOffer>& offers) const {
  return offers[0].as<MulticastOffer>().wish == MulticastWish::kOn;
}

std::unique_ptr<Engine> MulticastType::propose(const std::vector<EngineOffer>& offers, const EngineMeeting& meeting,
                                               std::string& why_not) {
  const auto first = offers[0].as<MulticastOffer>();
  if (first.wish != MulticastWish::kOn && !meeting.choices->wants_multicast()) {
    why_not = "no rule of the table and no forced choice names it (HOCKET_BROADCAST=multicast would)";
    return nullptr;
  }
  if (first.wish == MulticastWish::kOff) {
    why_not = "HOCKET_MULTICAST=off";
    return nullptr;
  }
  return std::make_unique<MulticastEngine>(first, meeting);
}

// --- a communicator's part
// --------------------------------------------------------------------------------------------

MulticastEngine::MulticastEngine(const MulticastOffer& first, const EngineMeeting& meeting)
    : first_(first), rank_(meeting.rank), ranks_(meeting.size), timeout_ms_(meeting.timeout_ms) {
  for (uint32_t node = 0; node < meeting.nodes->count(); ++node)
    participants_.push_back(meeting.nodes->ranks_of(node).front());
  std::sort(participants_.begin(), participants_.end());
}

Result<std::unique_ptr<engines::multicast::MulticastPort>> MulticastEngine::open_port(
    const Interface& interface) const {
  if (first_.over == MulticastOver::kVerbs)
    return engines::multicast::open_verbs_port({.group = first_.group, .interface = interface, .hops = first_.hops});
  return engines::multicast::open_udp_port({.group = first_.group, .interface = interface, .hops = first_.hops});
}

Status MulticastEngine::join() {
  if (ranks_ > MULTICAST_MOST_SOURCES)
    return {Code::kNotSupported, std::to_string(ranks_) + " ranks; a datagram's source is one of " +
                                     std::to_string(MULTICAST_MOST_SOURCES) + " at most"};
  if (!std::binary_search(participants_.begin(), participants_.end(), rank_)) return Status::ok();
  Result<Interface> interface = own_interface(first_.group.family);
  if (!interface.is_ok()) return interface.take_status();
  Result<std::unique_ptr<engines::multicast::MulticastPort>> port = open_port(interface.value());
  if (!port.is_ok()) return port.take_status();
  if (port.value()->most_bytes() < MULTICAST_HEADER_BYTES + kFragmentUnit)
    return {Code::kNotSupported, "interface " + interface.value().name + " carries datagrams of " +
                                     std::to_string(port.value()->most_bytes()) + " bytes, too short for multicast"};
  port_ = port.take();
  return Status::ok();
}

void MulticastEngine::agree_on_length(uint32_t most_bytes) {
  if (port_ == nullptr) return;
  const uint32_t most = std::min<uint32_t>(most_bytes - MULTICAST_HEADER_BYTES, MULTICAST_MOST_FRAGMENT_BYTES);
  const uint32_t fragment = most / kFragmentUnit * kFragmentUnit;
  engines::multicast::Member::Identity identity{.key = first_.key,
                                                .group = first_.id,
                                                .self = rank_,
                                                .fragment_bytes = fragment,
                                                .streams = kProbeStream + 1,
                                                .ranks = ranks_};
  const uint64_t room = port_->room();
  shared_ = std::make_unique<MulticastShared>(
      MulticastShared{.member = engines::multicast::Member(std::move(port_), identity, kUnexpectedBytes),
                      .pace = engines::multicast::Pace(room / 4),
                      .adaptive = {},
                      .delay = first_.delay,
                      .seed = first_.seed,
                      .self = rank_,
                      .participants = participants_,
                      .reported_bytes = uint64_t{kUnreportedFragments} * fragment});
}

MulticastEngine::~MulticastEngine() {
  if (shared_ == nullptr) return;
  const engines::multicast::Counters& seen = shared_->member.counters();
  HOCKET_LOG_INFO(
      "rank %u: multicast %s over %s: %lu messages awaited, %lu missed; fragments: %lu sent, %lu taken, %lu early, %lu "
      "late, "
      "%lu repeated, %lu without room, %lu of other jobs, %lu refused",
      rank_, engines::multicast::to_text(first_.group).c_str(), over(), seen.messages, seen.missed, seen.sent,
      seen.taken, seen.kept, seen.late, seen.repeated, seen.no_room, seen.other_jobs, seen.refused);
}

uint32_t MulticastEngine::probe() {
  if (shared_ == nullptr) return 0;
  engines::multicast::Member& member = shared_->member;
  std::vector<uint64_t> memory(participants_.size());
  std::vector<uint32_t> expected;
  for (const uint32_t source : participants_) {
    if (source == rank_) continue;
    uint64_t number = 0;
    const auto into = std::as_writable_bytes(std::span(&memory[expected.size()], 1));
    expected.push_back(member.expect(kProbeStream, source, into, number));
  }
  const uint64_t content = rank_;
  const engines::multicast::Member::Message message{kProbeStream, member.next(kProbeStream),
                                                    std::as_bytes(std::span(&content, 1))};
  const auto has_come = [&](uint32_t one) { return member.has_come(one); };
  const auto began_ns = static_cast<int64_t>(now_ns());
  int64_t send_ns = began_ns;
  int64_t until_ns = began_ns + kProbeNs;
  uint32_t received = 0;
  for (int64_t at_ns = began_ns; at_ns < until_ns; at_ns = static_cast<int64_t>(now_ns())) {
    if (at_ns >= send_ns) {
      (void)member.send(message, 0);
      send_ns = at_ns + kProbeAgainNs;
    }
    member.poll();
    // Where many share few cores, the last ones come to it late.
    const auto now_received = static_cast<uint32_t>(std::count_if(expected.begin(), expected.end(), has_come));
    if (now_received > received) until_ns = std::min(at_ns + kProbeNs, began_ns + kMostProbeNs);
    received = now_received;
    if (received == expected.size()) break;
    pollfd one{member.descriptor(), POLLIN, 0};
    (void)poll(&one, 1, static_cast<int>(kProbeAgainNs / 1'000'000));
  }
  // For ranks that have received nothing yet.
  (void)member.send(message, 0);
  for (const uint32_t one : expected) member.forget(one);
  (void)member.take_losses();
  return received;
}

std::string MulticastEngine::judge(const std::vector<uint32_t>& received) const {
  const auto others = static_cast<uint32_t>(participants_.size()) - 1;
  for (const uint32_t rank : participants_) {
    if (received[rank] * 2 >= others || first_.wish == MulticastWish::kOn) continue;
    return "multicast does not get through: rank " + std::to_string(rank) + " has received " +
           std::to_string(received[rank]) + " of " + std::to_string(others) + " others and nothing for " +
           std::to_string(kProbeNs / 1'000'000) +
           " ms (is there a switch that snoops IGMP without a querier, or a firewall?)";
  }
  return "";
}

bool MulticastEngine::meet_neighbours(engines::wire::Channel& channel) const {
  const auto own = std::lower_bound(participants_.begin(), participants_.end(), rank_);
  if (own == participants_.end() || *own != rank_) return true;
  const auto place = static_cast<size_t>(own - participants_.begin());
  const size_t count = participants_.size();
  const uint32_t neighbours[] = {participants_[(place + 1) % count], participants_[(place + count - 1) % count]};
  const uint64_t until_ns = now_ns() + static_cast<uint64_t>(timeout_ms_) * 1'000'000;
  // A rank that has the second one knows that its own first one has come.
  for (uint32_t round = 0; round < 2; ++round) {
    uint32_t messages[2];
    for (uint32_t i = 0; i < 2; ++i) messages[i] = channel.receive_parked(neighbours[i], sizeof round);
    for (const uint32_t neighbour : neighbours)
      channel.send_parked_and_leave(neighbour, std::as_bytes(std::span(&round, 1)));
    while (!channel.has_failed() && !(channel.has_come(messages[0]) && channel.has_come(messages[1]))) {
      if (now_ns() > until_ns) return false;
      channel.poll();
      sched_yield();
    }
    if (channel.has_failed()) return false;
    for (const uint32_t message : messages) channel.leave(message);
  }
  return true;
}

// All have joined, so all can hear.
Result<std::string> MulticastEngine::agree(const std::vector<uint32_t>& reports, engines::wire::Channel& channel,
                                           Rounds& rounds) {
  agree_on_length(*std::min_element(reports.begin(), reports.end()));
  std::vector<uint32_t> received(ranks_);
  if (Status status = rounds.gather(meet_neighbours(channel) ? uint32_t{0} : kNotMet, received); !status.is_ok())
    return status;
  const auto alone = std::find(received.begin(), received.end(), kNotMet);
  if (alone != received.end())
    return Status(Code::kTimeout, "rank " + std::to_string(alone - received.begin()) +
                                      " had no message of its neighbours in the chain that completes multicasts "
                                      "within " +
                                      std::to_string(timeout_ms_) +
                                      " ms: do messages of the MPI pass between all nodes? HOCKET_MULTICAST=off does "
                                      "without");
  if (Status status = rounds.gather(probe(), received); !status.is_ok()) return status;
  return judge(received);
}

engines::Carrier& MulticastEngine::carrier(uint32_t track, engines::wire::Channel& channel) {
  steps_[track] = std::make_unique<MulticastSteps>(*shared_, channel, track);
  return *steps_[track];
}

std::string MulticastEngine::describe() const {
  return std::string("over ") + over() + ", group " + engines::multicast::to_text(first_.group) + ", " +
         std::to_string(participants_.size()) + " nodes";
}

}  // namespace hocket::carriers
