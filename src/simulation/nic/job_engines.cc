// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/nic/job_engines.h"

#include <algorithm>

#include "simulation/engine/prices.h"

namespace hocket::simulation {

JobEngines::JobEngines(Engine& engine, const Job& job, const Network& network, uint64_t seed, const EnginesCall& call)
    : engine_(engine),
      job_(job),
      network_(network),
      call_(call.call),
      ranks_(call.members),
      member_of_(job.ranks(), kNobody),
      seed_(seed),
      steps_(ranks_.size(), kNothing),
      held_up_(ranks_.size()),
      processors_free_(job.ranks()),
      links_free_(ranks_.size()) {
  for (uint32_t member = 0; member < ranks_.size(); ++member) member_of_[ranks_[member]] = member;
}

Result<std::unique_ptr<JobEngines>> JobEngines::make(Engine& engine, const Job& job, const Network& network,
                                                     uint64_t seed, const EnginesCall& call) {
  std::unique_ptr<JobEngines> made(new JobEngines(engine, job, network, seed, call));
  const NetworkParameters& more = network.more;
  const NicPrices prices{.start_us = more.nic_start_us,
                         .arrival_us = more.nic_arrival_us,
                         .send_us = more.nic_send_us,
                         .word_us = more.nic_word_us,
                         .combine_us = more.nic_combine_us,
                         .combine_floating_us = more.nic_combine_floating_us,
                         .record_us = more.nic_record_us,
                         .notify_us = more.nic_notify_us};
  NicOptions options;
  options.ask_us = more.nic_ask_us;
  options.tick_us = more.nic_tick_us;
  options.synchronizing = call.synchronizing;
  Result<std::unique_ptr<NicEngines>> engines = NicEngines::make(*made, prices, call.programs, options);
  if (!engines.is_ok()) return engines.take_status();
  made->engines_ = engines.take();
  engine.use(made.get());
  return made;
}

void JobEngines::ring(uint32_t rank, uint32_t step, Time time) {
  const uint32_t member = member_of_[rank];
  steps_[member] = step;
  engine_.call_at(time, kRing | member);
}

// Who gets nothing goes on.
void JobEngines::ring(uint32_t member) {
  if (engines_->ring(member, call_) == NIC_TOO_MANY) {
    ++held_up_[member];
    return;
  }
  if (job_.steps[steps_[member]].is(Step::kGetsNothing)) engine_.complete(steps_[member], engine_.now());
}

void JobEngines::call_at(Time time, uint64_t ticket) {
  // Looks are made on each engine's own time, whoever has rung last.
  const uint64_t ringer = ringer_ == kNobody || ticket >= kNicLook ? 0 : uint64_t{ringer_} + 1;
  engine_.call_at(time, ticket | ringer << kRingerBits);
}

void JobEngines::happen(uint64_t ticket) {
  const bool rings = (ticket & kRing) != 0;
  const bool is_on_core = network_.more.nic_on_ringing_core != 0;
  if (rings) {
    const auto member = static_cast<uint32_t>(ticket & ~kRing);
    if (is_on_core) ringer_ = ranks_[member];
    ring(member);
  } else {
    const auto ringer = static_cast<uint32_t>(ticket >> kRingerBits);
    ringer_ = ringer == 0 ? kNobody : ringer - 1;
    engines_->happen(ticket & ((uint64_t{1} << kRingerBits) - 1));
  }
  ringer_ = kNobody;
}

// When its first bit leaves; the link is in use until the last one has.
Time JobEngines::leave(uint32_t source, uint32_t bytes, Time ready) {
  const Time begin = std::max(ready, links_free_[source]);
  links_free_[source] = begin + Prices::times(bytes, byte_of(network_.costs.wire_beta_us_per_kib));
  return begin;
}

Time JobEngines::carry(const nic_message& packet, uint32_t bytes, Time ready) {
  const Time begin = leave(packet.source, bytes, ready);
  if (network_.more.nic_loss > 0 && random_fraction(seed_, Purpose::kLoss, packets_++) < network_.more.nic_loss)
    return kNever;
  return begin + from_us(network_.more.nic_alpha_us);
}

void JobEngines::carry_to_all(const nic_message& packet, uint32_t bytes, Time ready, std::vector<Time>& arrivals) {
  const Time begin = leave(packet.source, bytes, ready);
  for (Time& arrival : arrivals) {
    const bool is_lost =
        network_.more.nic_loss > 0 && random_fraction(seed_, Purpose::kLoss, packets_++) < network_.more.nic_loss;
    arrival = is_lost ? kNever : begin + from_us(network_.more.nic_alpha_us);
  }
}

Time JobEngines::work(uint32_t member, Time ready, Time length) {
  Time& free_at = processors_free_[ringer_ == kNobody ? ranks_[member] : ringer_];
  free_at = std::max(free_at, ready) + length;
  if (ringer_ != kNobody) engine_.occupy(ringer_, free_at);
  return free_at;
}

void JobEngines::complete(uint32_t member, uint64_t /*epoch*/, Time time) {
  if (held_up_[member] > 0) {
    --held_up_[member];
    engine_.call_at(engine_.now(), kRing | member);
  }
  if (!job_.steps[steps_[member]].is(Step::kGetsNothing)) engine_.complete(steps_[member], time);
}

}  // namespace hocket::simulation
