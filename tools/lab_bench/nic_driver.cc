// SPDX-License-Identifier: BSD-3-Clause
#include <sched.h>

#include "lab_bench/barrier_driver.h"

namespace hocket::lab_bench {
namespace {

using engines::nic::Group;
using engines::nic::Port;

// Looks between two yields, and for how long to sleep when nobody wakes.
constexpr int kLooks = 20;
constexpr int64_t kLongestSleepNs = 10'000'000;
// After so many yields in vain the group's health is asked for.
constexpr int kYieldsBetweenDoubts = 10'000;

class NicDriver final : public BarrierDriver {
 public:
  NicDriver(const Place& place, ProgramOf program_of) : place_(place), program_of_(program_of) {}

  Result<Card> open() override {
    Result<std::unique_ptr<Port>> port = Port::open(place_.interface);
    if (!port.is_ok()) return port.take_status();
    port_ = port.take();
    return Card{port_->address().ip, port_->address().port, {}};
  }

  Status connect(const std::vector<Card>& cards) override {
    Result<nic_program> program = program_of_(place_);
    if (!program.is_ok()) return program.take_status();
    engines::nic::GroupDescription description;
    description.id = place_.job;
    description.key = {place_.job * 3 + 1, place_.job * 5 + 2};  // a lab has no enemies
    description.self = place_.rank;
    for (const Card& card : cards) description.members.push_back({card.ip, card.port});
    description.programs = {program.take()};
    Result<std::unique_ptr<Group>> group = port_->join(description);
    if (!group.is_ok()) return group.take_status();
    group_ = group.take();
    return Status::ok();
  }

  Status barrier() override {
    HOCKET_TRY(group_->start(0));
    const uint64_t wanted = group_->started();
    for (int yields = 1;; ++yields) {
      for (int look = 0; look < kLooks; ++look)
        if (group_->done() >= wanted) return Status::ok();
      if (place_.waiting == Waiting::kSleep) {
        group_->sleep(wanted - 1, kLongestSleepNs);
        HOCKET_TRY(group_->health());
      } else {
        sched_yield();
        if (yields % kYieldsBetweenDoubts == 0) HOCKET_TRY(group_->health());
      }
    }
  }

 private:
  Place place_;
  ProgramOf program_of_;
  std::unique_ptr<Port> port_;
  std::unique_ptr<Group> group_;
};

}  // namespace

std::unique_ptr<BarrierDriver> make_nic_driver(const Place& place, ProgramOf program_of) {
  return std::make_unique<NicDriver>(place, program_of);
}

}  // namespace hocket::lab_bench
