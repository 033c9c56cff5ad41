// SPDX-License-Identifier: BSD-3-Clause
#include "nic/join_request.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "nic/next_hop.h"

namespace hocket::nic {
namespace {

constexpr uint64_t kLongestSilenceS = 86400;
constexpr uint64_t kNsPerS = 1'000'000'000;

// A member that is asked answers before its host has started.
bool may_precede_host(const nic_program& program, uint32_t stage) {
  return (program.flags & NIC_VOTES) != 0 && stage == 0 && program.question < program.arrivals;
}

bool has_content(const nic_content& content) { return content.first != content.end; }

// What is wrong with what the program says of content.
std::string flaw_of_contents(const nic_program& program, uint32_t size) {
  if (program.folds > NIC_MOST_FOLDS || program.operands > NIC_MOST_ARRIVALS + 1)
    return "more operands than there can be";
  if (program.slices > NIC_MOST_WORDS || (program.slices != 0 && (program.slices != size || program.operands < 2)))
    return "slices for others than its members";
  for (uint32_t i = 0; i < program.folds; ++i)
    if ((program.fold[i] & (NIC_IS_LEFT - 1)) >= program.operands) return "an operand that it hasn't";
  const auto is_sound = [&](const nic_send& send) {
    if (!has_content(send.content)) return true;
    return send.content.first < send.content.end && send.content.end <= program.folds &&
           (send.slice == NIC_WHOLE || send.slice < program.slices);
  };
  // What the host gets are all words: behind a slice would be whatever lay there, others' as well.
  if (!is_sound(program.result) || (has_content(program.result.content) && program.result.slice != NIC_WHOLE))
    return "a result that it hasn't";
  for (uint32_t i = 0; i < program.sends; ++i)
    if (!is_sound(program.send[i])) return "a message with content that it hasn't";
  for (uint32_t i = 0; i < program.arrivals; ++i) {
    const nic_arrival& arrival = program.arrival[i];
    if (arrival.operand != NIC_NO_OPERAND && arrival.operand >= program.operands) return "a place that it hasn't";
    if (arrival.slice != NIC_WHOLE && arrival.slice >= program.slices) return "a slice that it hasn't";
  }
  return "";
}

// What is wrong with what the program combines as it comes.
std::string flaw_of_pool(const nic_program& program) {
  if (program.pooled == 0) return "";
  if (program.operands < 2 || program.slices != 0 || (program.pooled >> program.operands) != 0)
    return "operands that can't be combined as they come";
  const auto is_sound = [&](const nic_send& send) {
    uint64_t places = 0;
    for (uint32_t i = send.content.first; i < send.content.end; ++i)
      places |= uint64_t{1} << (program.fold[i] & (NIC_IS_LEFT - 1));
    return (places & program.pooled) == 0 || (places == program.pooled && nic_is_of_pool(&program, &send) != 0);
  };
  if (!is_sound(program.result) || !std::all_of(program.send, program.send + program.sends, is_sound))
    return "content that is combined as it comes, in parts";
  return "";
}

// What is wrong with a program with content, or with a root, beyond that.
std::string flaw_of_call(const nic_program& program) {
  if ((program.flags & (NIC_ACKNOWLEDGED | NIC_VOTES)) != 0) return "content that is acknowledged, or voted about";
  if (program.arrivals >= NIC_MOST_ARRIVALS) return "no bit left for the result";
  constexpr uint8_t kRoots = NIC_TO_ROOT | NIC_FROM_ROOT;
  if ((program.flags & kRoots) == kRoots) return "a root that gives and gets";
  if (has_content(program.result.content) != ((program.all & NIC_PUBLISHED) != 0))
    return "a result that nobody waits for";
  return "";
}

bool is_member(uint32_t member, uint32_t self, uint32_t size) { return member < size && member != self; }

// What is wrong with a program that votes, beyond that.
std::string flaw_of_vote(const nic_program& program) {
  if ((program.flags & (NIC_ACKNOWLEDGED | NIC_RELIABLE_WIRE)) != 0) return "a vote on another kind of wire";
  if (program.arrivals >= NIC_MOST_ARRIVALS) return "no bit left for a veto";
  if ((program.instead & NIC_VETOED) == 0 || (program.all & NIC_VETOED) != 0 || (program.all & ~program.instead) != 0)
    return "a vote that doesn't lead from one end to the other";
  return "";
}

// What is wrong with a program, as far as it could lead the engine astray; "": nothing.
std::string flaw_of(const nic_program& program, uint32_t self, uint32_t size) {
  if (program.stages > NIC_MOST_STAGES || program.sends > NIC_MOST_SENDS || program.arrivals > NIC_MOST_ARRIVALS)
    return "more stages, sends or arrivals than there can be";
  const bool votes = (program.flags & NIC_VOTES) != 0;
  const uint64_t most = votes ? program.instead : program.all;
  for (uint32_t i = 0; i < program.stages; ++i) {
    if (program.end_send[i] > program.sends || (i != 0 && program.end_send[i] < program.end_send[i - 1]))
      return "a stage whose messages are out of order";
    if (((program.need[i] & NIC_STARTED) == 0 && !may_precede_host(program, i)) || (program.need[i] & ~most) != 0)
      return "a stage that is never reached, or before the host starts";
    if (i != 0 && (program.need[i - 1] & ~program.need[i]) != 0) return "stages that don't follow one another";
  }
  const bool has_operands = program.operands != 0;
  const uint64_t last = (votes ? NIC_VETOED : 0) | (has_operands ? NIC_PUBLISHED : 0);
  const uint64_t known = NIC_STARTED | ((uint64_t{1} << program.arrivals) - 1) | last;
  if ((most & ~known) != 0 || (program.all & NIC_STARTED) == 0) return "a mask of arrivals that it hasn't";
  const bool has_root = has_operands && (program.flags & (NIC_TO_ROOT | NIC_FROM_ROOT)) != 0;
  if ((program.flags & (NIC_TO_ROOT | NIC_FROM_ROOT)) != 0 && !has_operands) return "a root, and nothing for it";
  for (uint32_t i = 0; i < program.sends; ++i) {
    const uint16_t member = program.send[i].member;
    const bool depends = has_root && (member == NIC_ROOT || (member == NIC_HUB && self != 0));
    if (!is_member(member, self, size) && !(votes && member == NIC_ALL) && !depends)
      return "a message to nobody, or to itself";
  }
  for (uint32_t i = 0; i < program.arrivals; ++i) {
    const uint16_t member = program.arrival[i].member;
    if (!is_member(member, self, size) && !(has_root && (member == NIC_ROOT || member == NIC_NOT_USED)))
      return "a message from nobody, or from itself";
  }
  std::string flaw = flaw_of_contents(program, size);
  if (flaw.empty()) flaw = flaw_of_pool(program);
  if (!flaw.empty()) return flaw;
  if (has_operands) return flaw_of_call(program);
  return votes ? flaw_of_vote(program) : "";
}

// Packets of the engine pass by the rules for those of users: they go to engines only.
std::string flaw_of(const nic_peer& member, const nic_peer& own, bool is_self) {
  if (is_self) return member.ip == own.ip && member.port == own.port ? "" : "is to be here and has another address";
  if (member.port != own.port)
    return "has port " + std::to_string(ntohs(member.port)) + ", not this engine's " + std::to_string(ntohs(own.port)) +
           ": `hocket nic up --port`, the same on all machines";
  const uint32_t ip = ntohl(member.ip);
  if (member.ip == own.ip || ip >> IN_CLASSA_NSHIFT == 0 || ip >> IN_CLASSA_NSHIFT == IN_LOOPBACKNET ||
      !(IN_CLASSA(ip) || IN_CLASSB(ip) || IN_CLASSC(ip)))
    return "has address " + ip_text(member.ip) + ", which is no other machine's";
  return "";
}

}  // namespace

Status read_join(std::span<const char> request, const nic_peer& own, JoinRequest& wanted) {
  nic_join join{};
  if (request.size() < sizeof join) return {Code::kInvalidArgument, "the request is too short"};
  std::memcpy(&join, request.data(), sizeof join);
  if (request.size() >= sizeof join && join.size > NIC_MOST_MEMBERS)
    return {Code::kInvalidArgument, "a group of " + std::to_string(join.size) + " members; " +
                                        std::to_string(NIC_MOST_MEMBERS) + " are the most"};
  const size_t programs = join.programs * sizeof(nic_program);
  if (join.programs == 0 || join.programs > NIC_MOST_PROGRAMS || join.size < 2 || join.self >= join.size ||
      request.size() != sizeof join + programs + join.size * sizeof(nic_peer))
    return {Code::kInvalidArgument, "a request of " + std::to_string(request.size()) + " bytes for member " +
                                        std::to_string(join.self) + " of " + std::to_string(join.size) + " with " +
                                        std::to_string(join.programs) + " programs; a group has 2 members at least, " +
                                        "1 to " + std::to_string(NIC_MOST_PROGRAMS) + " programs, and all of them"};
  if (join.silence_ns > kLongestSilenceS * kNsPerS)
    return {Code::kInvalidArgument, "a silence of " + std::to_string(join.silence_ns / kNsPerS) + " s; a day (" +
                                        std::to_string(kLongestSilenceS) + " s) is the most"};
  wanted.group.id = join.id;
  wanted.group.key = join.key;
  wanted.group.self = join.self;
  wanted.group.size = join.size;
  wanted.group.programs = join.programs;
  wanted.silence_ns = join.silence_ns;
  wanted.has_doorbell = join.has_doorbell != 0;
  std::memcpy(wanted.group.program, request.data() + sizeof join, programs);
  for (uint32_t i = 0; i < join.programs; ++i) {
    const std::string flaw = flaw_of(wanted.group.program[i], join.self, join.size);
    if (!flaw.empty()) return {Code::kInvalidArgument, "program " + std::to_string(i) + " has " + flaw};
    wanted.group.operands = std::max<uint16_t>(wanted.group.operands, wanted.group.program[i].operands);
  }
  wanted.members.resize(join.size);
  std::memcpy(wanted.members.data(), request.data() + sizeof join + programs, join.size * sizeof(nic_peer));
  for (uint32_t i = 0; i < join.size; ++i) {
    const std::string flaw = flaw_of(wanted.members[i], own, i == join.self);
    if (!flaw.empty()) return {Code::kInvalidArgument, "member " + std::to_string(i) + " " + flaw};
  }
  return Status::ok();
}

}  // namespace hocket::nic
