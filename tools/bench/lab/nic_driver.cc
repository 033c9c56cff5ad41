// SPDX-License-Identifier: BSD-3-Clause
#include <sched.h>

#include "bench/lab/driver.h"
#include "engines/nic/operation_name.h"

namespace hocket::lab_bench {
namespace {

using engines::nic::NicGroup;
using engines::nic::NicPort;

// Looks between two yields, and for how long to sleep when nothing wakes.
constexpr int kLooksAtANic = 20;
constexpr int64_t kLongestSleepNs = 10'000'000;
// After this many yields in vain the group's health is asked for.
constexpr int kYieldsBetweenDoubts = 10'000;

class NicDriver final : public Driver {
 public:
  NicDriver(const Place& place, ProgramsOf programs_of)
      : place_(place),
        programs_of_(programs_of),
        operation_(engines::nic::operation_name(place.work.collective, place.work.operation, place.work.type)) {}

  Result<Card> open() override {
    Result<std::unique_ptr<NicPort>> port = NicPort::open(place_.interface);
    if (!port.is_ok()) return port.take_status();
    port_ = port.take();
    return Card{port_->address().ip, port_->address().port, {}};
  }

  Status connect(const std::vector<Card>& cards) override {
    Result<Programs> programs = programs_of_(place_);
    if (!programs.is_ok()) return programs.take_status();
    engines::nic::GroupDescription description;
    description.id = place_.job;
    description.key = {place_.job * 3 + 1, place_.job * 5 + 2};  // a lab has no enemies
    description.self = place_.rank;
    for (const Card& card : cards) description.members.push_back({card.ip, card.port});
    description.programs = {programs.value().plain};
    for (const nic_program& twin : programs.value().synchronizing) {
      description.programs.push_back(twin);
      description.synchronizing = {1, 1};
    }
    Result<std::unique_ptr<NicGroup>> group = port_->join(description);
    if (!group.is_ok()) return group.take_status();
    group_ = group.take();
    return Status::ok();
  }

  Status begin(const nic_operand* operand) override {
    const engines::nic::NicCall call = {.operation = engines::nic::operation_of(operation_),
                                        .type = engines::nic::type_of(operation_),
                                        .words = place_.work.words,
                                        .operand = operand};
    // A rank that gets nothing may have as many under way as there can be.
    while (group_->started() - group_->done() >= NIC_IN_FLIGHT) HOCKET_TRY(look(group_->started() - NIC_IN_FLIGHT + 1));
    return group_->start(call);
  }

  Status finish(nic_operand& result) override {
    if (!place_.work.gets(place_.rank)) return Status::ok();
    HOCKET_TRY(look(group_->started()));
    result = group_->result(group_->started());
    return Status::ok();
  }

 private:
  // Until that many operations are done.
  Status look(uint64_t wanted) {
    for (int yields = 1;; ++yields) {
      for (int look = 0; look < kLooksAtANic; ++look)
        if (group_->done() >= wanted) return Status::ok();
      if (place_.waiting == Waiting::kSleep) {
        const uint64_t seen = group_->done();
        if (seen < wanted) group_->sleep(seen, kLongestSleepNs);
        HOCKET_TRY(group_->health());
      } else {
        sched_yield();
        if (yields % kYieldsBetweenDoubts == 0) HOCKET_TRY(group_->health());
      }
    }
  }

  Place place_;
  ProgramsOf programs_of_;
  uint8_t operation_;  // as engines::nic::operation_name() has it
  std::unique_ptr<NicPort> port_;
  std::unique_ptr<NicGroup> group_;
};

}  // namespace

std::unique_ptr<Driver> make_nic_driver(const Place& place, ProgramsOf programs_of) {
  return std::make_unique<NicDriver>(place, programs_of);
}

}  // namespace hocket::lab_bench
