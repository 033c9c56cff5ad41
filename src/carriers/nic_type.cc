// SPDX-License-Identifier: BSD-3-Clause
#include "carriers/nic_type.h"

#include <sys/random.h>

#include <cerrno>
#include <cstring>

#include "base/environment.h"
#include "carriers/nic_engine.h"

namespace hocket::carriers {

using engines::nic::GroupDescription;
using engines::nic::NicPort;

// -------------------------------------------------------------------------------------------------

Result<NicPort*> NicType::port() {
  if (port_ != nullptr && !port_->is_alive()) ended_ports_.push_back(std::move(port_));
  if (port_ == nullptr) {
    Result<std::string> interface = environment::get_text("HOCKET_NIC_INTERFACE");
    if (!interface.is_ok()) return interface.take_status();
    Result<std::unique_ptr<NicPort>> opened = NicPort::open(interface.value());
    if (!opened.is_ok()) return opened.take_status();
    port_ = opened.take();
  }
  return port_.get();
}

Result<std::unique_ptr<engines::nic::NicGroup>> NicType::join(const GroupDescription& description) {
  const std::scoped_lock lock(mutex_);
  const Result<NicPort*> opened = port();
  if (!opened.is_ok()) return Status(opened.status().code(), opened.status().message());
  return opened.value()->join(description);
}

Result<EngineOffer> NicType::offer(bool is_first) {
  NicOffer offer;
  const Result<int> wish = environment::get_enum("HOCKET_NIC");
  if (!wish.is_ok()) return Status(wish.status().code(), wish.status().message());
  offer.wish = static_cast<NicWish>(wish.value());
  const Result<int> combine = environment::get_enum("HOCKET_NIC_COMBINE");
  if (!combine.is_ok()) return Status(combine.status().code(), combine.status().message());
  offer.combines_on_arrival = combine.value() != 0;
  const Result<int> mode = environment::get_enum("HOCKET_NIC_MODE");
  if (!mode.is_ok()) return Status(mode.status().code(), mode.status().message());
  offer.mode = static_cast<NicMode>(mode.value());
  if (is_first && getrandom(&offer.id, sizeof offer.id, 0) != sizeof offer.id)
    return Status::system("can't draw a number for a NIC group", errno);
  if (is_first && getrandom(&offer.key, sizeof offer.key, 0) != sizeof offer.key)
    return Status::system("can't draw a key for a NIC group", errno);
  if (offer.wish == NicWish::kOff) {
    std::strncpy(offer.reason, "HOCKET_NIC=off", sizeof offer.reason - 1);
    return EngineOffer::of(offer);
  }
  const std::scoped_lock lock(mutex_);
  const Result<NicPort*> opened = port();
  if (!opened.is_ok()) {
    std::strncpy(offer.reason, opened.status().message(), sizeof offer.reason - 1);
    return EngineOffer::of(offer);
  }
  offer.ip = opened.value()->address().ip;
  offer.port = opened.value()->address().port;
  offer.is_agent = opened.value()->engine() == "agent";
  return EngineOffer::of(offer);
}

bool NicType::is_required(const std::vector<EngineOffer>& offers) const {
  return offers[0].as<NicOffer>().wish == NicWish::kOn;
}

std::unique_ptr<Engine> NicType::propose(const std::vector<EngineOffer>& offers, const EngineMeeting& meeting,
                                         std::string& why_not) {
  std::vector<NicOffer> read;
  for (const EngineOffer& offer : offers) read.push_back(offer.as<NicOffer>());
  std::unique_ptr<NicEngine> engine = NicEngine::find(this, read, *meeting.nodes, meeting.rank, why_not);
  if (engine == nullptr) return nullptr;
  why_not = engine->hold_programs(*meeting.choices);
  if (!why_not.empty()) engine.reset();
  return engine;
}

}  // namespace hocket::carriers
