// SPDX-License-Identifier: BSD-3-Clause
// What ranks tell each other for the interposer's use, with the first message of the library's own set-up.
//
// Thread safety: one object by one thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/communicator.h"
#include "core/devices/device_memory.h"
#include "core/progress/under_way.h"

namespace hocket::interposer {

struct SetUpOffer {
  uint8_t able = 0;  // it has a context
  uint8_t may_have_devices = 0;
  uint8_t may_move_calls = 0;
  device::DeviceOffer device = device::DeviceOffer::kStage;
  uint64_t settings = 0;  // digest_of()
};

// On the way through the first call of hocket_bootstrap_t's, whose blocks it makes longer.
class FirstRound {
 public:
  FirstRound(Communicator& self, const Exchange& exchange, bool able) : self_(self), exchange_(exchange), able_(able) {}
  // As hocket_bootstrap_t's. Of the first call: 1 on all ranks where they must go to the MPI (is_declined()).
  static int allgather(const void* send, void* receive, size_t bytes, void* user) {
    auto& round = *static_cast<FirstRound*>(user);
    return round.is_over_ ? round.exchange_.allgather(send, receive, bytes, round.exchange_.user)
                          : round.exchange_offers(send, receive, bytes);
  }

  // By what ranks have told each other: all of them know.
  bool is_declined() const { return is_declined_; }
  bool may_have_devices() const { return may_have_devices_; }
  bool may_move() const { return may_move_calls_; }
  bool do_settings_differ() const { return settings_differ_; }

 private:
  int exchange_offers(const void* send, void* receive, size_t bytes) {
    is_over_ = true;
    const size_t whole = sizeof(SetUpOffer) + bytes, size = self_.size;
    std::vector<std::byte> mine(whole), all(whole * size);
    const device::DeviceOffer device = device::offer();  // looks for drivers that were loaded meanwhile
    const SetUpOffer offer{uint8_t{able_}, uint8_t{device::may_be_there()}, uint8_t{may_move_calls()}, device,
                           exchange_.settings};
    std::memcpy(mine.data(), &offer, sizeof offer);
    std::memcpy(mine.data() + sizeof offer, send, bytes);
    if (exchange_.allgather(mine.data(), all.data(), whole, exchange_.user) != 0) return 1;
    bool all_able = true;
    self_.trial.agreed = offer.device;
    for (size_t rank = 0; rank < size; ++rank) {
      SetUpOffer other{};
      std::memcpy(&other, all.data() + rank * whole, sizeof other);
      std::memcpy(static_cast<std::byte*>(receive) + rank * bytes, all.data() + rank * whole + sizeof other, bytes);
      self_.trial.agreed = std::min(self_.trial.agreed, other.device);
      all_able = all_able && other.able != 0;
      may_move_calls_ = may_move_calls_ && other.may_move_calls != 0;
      settings_differ_ = settings_differ_ || other.settings != exchange_.settings;
      may_have_devices_ = may_have_devices_ || other.may_have_devices != 0;
    }
    is_declined_ = !all_able || settings_differ_ || self_.trial.agreed == device::DeviceOffer::kPassThrough;
    return is_declined_ ? 1 : 0;
  }

  Communicator& self_;
  const Exchange& exchange_;
  const bool able_;
  bool is_over_ = false;
  bool is_declined_ = false;
  bool may_have_devices_ = false;
  bool may_move_calls_ = true;
  bool settings_differ_ = false;
};

}  // namespace hocket::interposer
