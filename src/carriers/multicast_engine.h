// SPDX-License-Identifier: BSD-3-Clause
// Multicast as a communicator's engine: one rank a node, its first, takes part. The communicator has a group of its
// own, whose address rank 0 draws; whether datagrams get through is tried once, when the communicator is set up.
//
// Reference: Hoefler, Siebert, Rehm, A practically constant-time MPI Broadcast Algorithm for large-scale InfiniBand
// Clusters with Multicast.
//
// Thread safety: as carriers/engine.h has it.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "carriers/engine.h"
#include "carriers/multicast_steps.h"
#include "engines/multicast/address.h"
#include "engines/multicast/port.h"
#include "engines/shared_memory/layout.h"
#include "protocol/siphash.h"
#include "schedule/nodes.h"

namespace hocket::carriers {

enum class MulticastWish : uint8_t { kAutomatic, kOn, kOff };  // in the order of HOCKET_MULTICAST's words
enum class MulticastOver : uint8_t { kUdp, kVerbs };           // in the order of HOCKET_MULTICAST_OVER's words

// What rank 0 decides for all.
struct MulticastOffer {
  MulticastWish wish = MulticastWish::kAutomatic;
  MulticastOver over = MulticastOver::kUdp;
  engines::multicast::GroupAddress group = {};
  uint64_t id = 0;  // in each datagram
  nic_key key = {};
  uint64_t seed = 0;
  RootDelay delay = {};
  uint8_t hops = 1;
};

class MulticastType : public EngineType {
 public:
  const char* name() const override { return "multicast"; }
  const char* setting() const override { return "HOCKET_MULTICAST"; }
  Result<EngineOffer> offer(bool is_first) override;
  std::unique_ptr<Engine> propose(const std::vector<EngineOffer>& offers, const EngineMeeting& meeting,
                                  std::string& why_not) override;
  bool is_required(const std::vector<EngineOffer>& offers) const override;
  bool provides_multicast() const override { return true; }
};

class MulticastEngine : public Engine {
 public:
  MulticastEngine(const MulticastOffer& first, const EngineMeeting& meeting);
  // Says in the log what has become of this rank's multicasts, and leaves the group.
  ~MulticastEngine() override;

  // Joins the group on a rank that stands for its node; does nothing on others.
  Status join() override;
  // How long this rank's datagrams may be; all ones on ranks that don't take part.
  uint32_t report() const override { return port_ == nullptr ? ~uint32_t{0} : port_->most_bytes(); }
  Result<std::string> agree(const std::vector<uint32_t>& reports, engines::wire::Channel& channel,
                            Rounds& rounds) override;
  std::string describe() const override;
  bool carries(const engines::Instruction& step, const engines::Program& program) const override {
    return MulticastSteps::carries(step, program);
  }
  bool takes_part() const override { return shared_ != nullptr; }
  engines::Carrier& carrier(uint32_t track, engines::wire::Channel& channel) override;

 private:
  // All at a time: each sends to all and listens to all, until nothing new is received for kProbeNs, at most for
  // kMostProbeNs. Gives how many it has heard.
  static constexpr int64_t kProbeNs = 20'000'000;
  static constexpr int64_t kMostProbeNs = 10 * kProbeNs;
  static constexpr uint32_t kNotMet = ~uint32_t{0};
  void agree_on_length(uint32_t most_bytes);
  uint32_t probe();
  // "", or why what ranks have heard is not enough; received[r]: of rank r.
  std::string judge(const std::vector<uint32_t>& received) const;
  // Neighbours of the chain exchange messages; gives whether all of them have come in time. An MPI that connects ranks
  // when they first send, and only while both call it, would otherwise keep a rank of the first broadcasts waiting for
  // a successor that has left them already.
  bool meet_neighbours(engines::wire::Channel& channel) const;
  Result<std::unique_ptr<engines::multicast::MulticastPort>> open_port(
      const engines::multicast::Interface& interface) const;
  const char* over() const { return first_.over == MulticastOver::kUdp ? "UDP" : "verbs"; }

  MulticastOffer first_;
  uint32_t rank_;
  uint32_t ranks_;
  int64_t timeout_ms_;
  std::vector<uint32_t> participants_;
  std::unique_ptr<engines::multicast::MulticastPort> port_;  // until the member has it
  std::unique_ptr<MulticastShared> shared_;                  // nullptr on ranks that don't take part
  std::array<std::unique_ptr<MulticastSteps>, engines::shared_memory::kLanes> steps_;
};

}  // namespace hocket::carriers
