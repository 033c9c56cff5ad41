// SPDX-License-Identifier: BSD-3-Clause
// How the engines of a communicator come to be, beside the rounds of its set-up: the first round brings offers, the
// second what each rank's joining has come to, and then engines may ask for rounds of their own.
//
// Thread safety: one object by one thread.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "carriers/engines.h"

namespace hocket::carriers {

// What a rank says in the first round, an offer an engine. Plain bytes: it goes to all ranks.
using EngineOffers = std::array<EngineOffer, kMostEngines>;

// And in the second.
struct EngineReport {
  static constexpr size_t kReasonBytes = 300;
  uint32_t number = 0;              // Engine::report
  char why_not[kReasonBytes] = {};  // "": it has joined
};
using EngineReports = std::array<EngineReport, kMostEngines>;

class EngineSetup {
 public:
  explicit EngineSetup(const EngineTypes& types);

  Status offer(bool is_first, EngineOffers& offers);
  // By all ranks' offers, by rank. Not ok: an engine that must be used can't be.
  Status join(const std::vector<EngineOffers>& offers, const EngineMeeting& meeting, EngineReports& reports);
  // By all ranks' reports, which are the same here as everywhere. Not ok: the set-up has failed on all ranks.
  Result<Engines> agree(const std::vector<EngineReports>& reports, engines::wire::Channel& channel, Rounds& rounds);

 private:
  Status join_one(size_t index, const std::vector<EngineOffers>& offers, const EngineMeeting& meeting,
                  EngineReport& report);

  const EngineTypes& types_;
  std::vector<Engines::Entry> entries_;
  bool is_first_ = false;
  std::string where_;  // for the log
};

}  // namespace hocket::carriers
