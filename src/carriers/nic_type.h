// SPDX-License-Identifier: BSD-3-Clause
// A process's way to the NIC engine of its machine, and what its ranks offer of it.
//
// Thread safety: as carriers/engine.h has it.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "carriers/engine.h"
#include "engines/nic/port.h"

namespace hocket::carriers {

enum class NicWish : uint8_t { kAutomatic, kOn, kOff };  // in the order of HOCKET_NIC's words

// The values of HOCKET_NIC_MODE.
enum class NicMode : uint8_t { kCollective, kChain, kDirect, kBroadcast };

struct NicOffer {
  uint32_t ip = 0;  // big-endian, these two: where its engine is reached; 0: it has none
  uint16_t port = 0;
  bool is_agent = false;
  NicWish wish = NicWish::kAutomatic;  // rank 0's counts, as do the next four
  bool combines_on_arrival = false;
  NicMode mode = NicMode::kCollective;
  uint64_t id = 0;  // of the group, and the next ones of the other tracks' groups
  nic_key key = {};
  char reason[160] = {};  // why it has no engine
};

class NicType : public EngineType {
 public:
  const char* name() const override { return "NIC engine"; }
  const char* setting() const override { return "HOCKET_NIC"; }
  Result<EngineOffer> offer(bool is_first) override;
  std::unique_ptr<Engine> propose(const std::vector<EngineOffer>& offers, const EngineMeeting& meeting,
                                  std::string& why_not) override;
  bool is_required(const std::vector<EngineOffer>& offers) const override;

  // Makes a group of this process's engine, which is opened when first asked for.
  Result<std::unique_ptr<engines::nic::NicGroup>> join(const engines::nic::GroupDescription& description);

 private:
  Result<engines::nic::NicPort*> port();

  std::mutex mutex_;
  std::unique_ptr<engines::nic::NicPort> port_;
  std::vector<std::unique_ptr<engines::nic::NicPort>> ended_ports_;  // groups of earlier communicators hold on to them
};

}  // namespace hocket::carriers
