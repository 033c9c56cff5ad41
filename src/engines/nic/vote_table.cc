// SPDX-License-Identifier: BSD-3-Clause
// The table of a barrier by broadcast: a vote before a schedule.
#include <string>

#include "base/assertion.h"
#include "engines/nic/depths.h"
#include "engines/nic/stage_table.h"
#include "engines/nic/table_writer.h"

namespace hocket::engines::nic {
namespace {

enum : uint8_t { kQuestion, kResult, kBroadcasts };  // the hub's sends, and others' arrivals
constexpr uint8_t kAnswer = 0;                       // others' send

constexpr uint8_t kDepthOfQuestion = 1;
constexpr uint8_t kDepthOfAnswer = 2;
constexpr uint8_t kDepthOfResult = 3;

nic_arrival arrival_of(uint32_t member, uint8_t send, uint8_t depth) {
  return {static_cast<uint16_t>(member), send, NIC_NO_OPERAND, NIC_WHOLE, depth};
}

void put_stage(nic_program& program, uint64_t need, uint16_t member, uint8_t bit) {
  program.send[program.sends++] = {member, bit, NIC_WHOLE, {}};
  HOCKET_ASSERT(program.stages < NIC_MOST_STAGES, "a table's stages have room in it");
  program.need[program.stages] = need;
  program.end_send[program.stages++] = program.sends;
}

// The vote before the schedule.
nic_program vote_of(uint32_t rank, uint32_t size) {
  nic_program program{};
  program.flags = NIC_VOTES;
  if (rank == kHub) {
    for (uint32_t other = 1; other < size; ++other)
      program.arrival[program.arrivals++] = arrival_of(other, kAnswer, kDepthOfAnswer);
    program.question = NIC_MOST_ARRIVALS;
    program.all = NIC_STARTED | ((uint64_t{1} << program.arrivals) - 1);
    put_stage(program, NIC_STARTED, NIC_ALL, kQuestion);
    put_stage(program, program.all, NIC_ALL, kResult);
    return program;
  }
  program.arrival[program.arrivals++] = arrival_of(kHub, kQuestion, kDepthOfQuestion);
  program.arrival[program.arrivals++] = arrival_of(kHub, kResult, kDepthOfResult);
  program.question = kQuestion;
  program.all = NIC_STARTED | ((uint64_t{1} << program.arrivals) - 1);
  put_stage(program, uint64_t{1} << kQuestion, kHub, static_cast<uint8_t>(rank - 1));
  return program;
}

}  // namespace

Result<nic_program> broadcast_table(uint32_t rank, uint32_t size, const PlanOf& plan_of) {
  // The last bit says whether there was a veto.
  constexpr Room kAll = {NIC_MOST_SENDS, NIC_MOST_ARRIVALS - 1, NIC_MOST_STAGES};
  if (size - 1 > kAll.arrivals)
    return unfit("rank 0 would hear from " + std::to_string(size - 1) + " ranks, the most are " +
                 std::to_string(kAll.arrivals));
  const auto taken_by = [size](uint32_t member) {
    return member == kHub ? Taken{kBroadcasts, static_cast<uint8_t>(size - 1)} : Taken{1, kBroadcasts};
  };
  // All ranks are looked at by all, so that it is refused on all or on none.
  for (uint32_t member = 0; member < size; ++member) {
    const schedule::Plan plan = plan_of(member);
    if (plan.collective != schedule::Collective::kBarrier) return unfit("votes are about barriers only");
    const Taken taken = taken_by(member);
    const size_t stages = member == kHub ? kBroadcasts : 1;
    HOCKET_TRY(fits(plan, {kAll.sends - taken.sends, kAll.arrivals - taken.arrivals, kAll.stages - stages}));
  }
  nic_program program = vote_of(rank, size);
  const uint64_t voted = program.all;
  const schedule::Plan plan = plan_of(rank);
  Contents contents(plan, program);
  HOCKET_TRY(TableWriter(rank, plan_of, taken_by, program, contents).write(plan, voted | NIC_VETOED));
  const std::vector<uint32_t> depths = depths_of(rank, size, plan_of).receives;
  for (size_t i = 0; i < depths.size(); ++i)
    program.arrival[taken_by(rank).arrivals + i].depth = depth_of_arrival(depths[i] + kDepthOfResult);
  program.instead = program.all;
  program.all = voted;
  return program;
}

}  // namespace hocket::engines::nic
