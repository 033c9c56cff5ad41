// SPDX-License-Identifier: BSD-3-Clause
#include "carriers/engine_setup.h"

#include <utility>

#include "base/assertion.h"
#include "base/log.h"

namespace hocket::carriers {
namespace {

// Of the first rank that gives one: "rank 3: ..."; "": none does.
std::string first_reason(const std::vector<EngineReports>& reports, size_t index) {
  for (size_t rank = 0; rank < reports.size(); ++rank)
    if (reports[rank][index].why_not[0] != '\0')
      return "rank " + std::to_string(rank) + ": " + reports[rank][index].why_not;
  return "";
}

}  // namespace

EngineSetup::EngineSetup(const EngineTypes& types) : types_(types) {
  HOCKET_ASSERT(types.size() <= kMostEngines, "a rank's offers have room for all engines");
  for (const auto& type : types_) entries_.push_back({type.get(), nullptr, ""});
}

Status EngineSetup::offer(bool is_first, EngineOffers& offers) {
  is_first_ = is_first;
  for (size_t index = 0; index < types_.size(); ++index) {
    Result<EngineOffer> offer = types_[index]->offer(is_first);
    if (!offer.is_ok()) return offer.take_status();
    offers[index] = offer.value();
  }
  return Status::ok();
}

Status EngineSetup::join(const std::vector<EngineOffers>& offers, const EngineMeeting& meeting,
                         EngineReports& reports) {
  where_ = "a communicator of " + std::to_string(meeting.size) + " ranks on " + std::to_string(meeting.nodes->count()) +
           " nodes";
  for (size_t index = 0; index < types_.size(); ++index) HOCKET_TRY(join_one(index, offers, meeting, reports[index]));
  return Status::ok();
}

Status EngineSetup::join_one(size_t index, const std::vector<EngineOffers>& offers, const EngineMeeting& meeting,
                             EngineReport& report) {
  std::vector<EngineOffer> of_this;
  for (const EngineOffers& all : offers) of_this.push_back(all[index]);
  Engines::Entry& entry = entries_[index];
  entry.engine = types_[index]->propose(of_this, meeting, entry.why_not);
  if (entry.engine != nullptr) {
    const Status joined = entry.engine->join();
    report.number = entry.engine->report();
    if (!joined.is_ok()) entry.why_not = joined.message();
  }
  if (entry.why_not.empty()) return Status::ok();
  if (types_[index]->is_required(of_this))
    return {Code::kInvalidArgument, std::string(types_[index]->setting()) + "=on can't be honoured: " + entry.why_not};
  report.why_not[entry.why_not.copy(report.why_not, sizeof report.why_not - 1)] = '\0';
  return Status::ok();
}

Result<Engines> EngineSetup::agree(const std::vector<EngineReports>& reports, engines::wire::Channel& channel,
                                   Rounds& rounds) {
  for (size_t index = 0; index < entries_.size(); ++index) {
    Engines::Entry& entry = entries_[index];
    if (entry.engine != nullptr) entry.why_not = first_reason(reports, index);
    if (entry.engine != nullptr && entry.why_not.empty()) {
      std::vector<uint32_t> numbers;
      for (const EngineReports& one : reports) numbers.push_back(one[index].number);
      Result<std::string> against = entry.engine->agree(numbers, channel, rounds);
      if (!against.is_ok()) return against.take_status();
      entry.why_not = against.take();
    }
    if (!entry.why_not.empty()) entry.engine.reset();
    if (!is_first_) continue;
    const std::string how = entry.engine != nullptr ? entry.engine->describe() : "not used: " + entry.why_not;
    HOCKET_LOG_INFO("%s: %s: %s", where_.c_str(), entry.type->name(), how.c_str());
  }
  return Engines(std::exchange(entries_, {}));
}

}  // namespace hocket::carriers
