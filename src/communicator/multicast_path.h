// SPDX-License-Identifier: BSD-3-Clause
// Multicast between the nodes of a communicator: one rank a node, its first, takes part. The communicator has a group
// of its own, whose address rank 0 draws; whether datagrams get through is tried once, when the communicator is set up.
//
// All ranks decide alike: by what they have told each other.
//
// Reference: Hoefler, Siebert, Rehm, A practically constant-time MPI Broadcast Algorithm for large-scale InfiniBand
// Clusters with Multicast.
//
// Thread safety: one thread at a time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "communicator/multicast_steps.h"
#include "engines/multicast/address.h"
#include "engines/multicast/port.h"
#include "engines/wire/channel.h"
#include "protocol/siphash.h"
#include "schedule/nodes.h"

namespace hocket::communicator {

class MulticastPath {
 public:
  enum class Wish : uint8_t { kAutomatic, kOn, kOff };  // in the order of HOCKET_MULTICAST's words
  enum class Over : uint8_t { kUdp, kVerbs };           // in the order of HOCKET_MULTICAST_OVER's words

  // What rank 0 says for all. Plain bytes: it goes to all ranks.
  struct Offer {
    Wish wish = Wish::kAutomatic;
    Over over = Over::kUdp;
    engines::multicast::GroupAddress group = {};
    uint64_t id = 0;  // told in each datagram
    nic_key key = {};
    uint64_t seed = 0;
    RootDelay delay = {};
    uint8_t hops = 1;
  };
  // On other ranks, too, so that settings that can't be understood are an error wherever they stand; only rank 0
  // (`is_first`) draws.
  static Result<Offer> offer(bool is_first);

  MulticastPath(const Offer& first, const schedule::Nodes& nodes, uint32_t rank);
  // Joins the group on a rank that stands for its node; does nothing on others.
  Status join();
  // How long this rank's datagrams may be; all ones on ranks that don't take part.
  uint32_t most_bytes() const { return port_ == nullptr ? ~uint32_t{0} : port_->most_bytes(); }
  // The least of all ranks', after all have joined: from now on this rank is a member.
  void agree_on_length(uint32_t most_bytes);
  // Then, all at a time: sends to all and listens to all, until nobody new is heard for `kProbeNs`, at most for
  // `kMostProbeNs`. Gives how many it has heard.
  static constexpr int64_t kProbeNs = 20'000'000;
  static constexpr int64_t kMostProbeNs = 10 * kProbeNs;
  uint32_t probe();
  // "", or why what ranks have heard is not enough; heard[r]: of rank r.
  std::string judge(const std::vector<uint32_t>& heard) const;
  // Neighbours of the chain exchange messages, within `limit_ms`; gives whether all of them have come. An MPI that
  // connects ranks when they first send, and only while both call it, would otherwise keep a rank of the first
  // broadcasts waiting for a successor that has left them already.
  bool meet_neighbours(engines::wire::Channel& channel, int64_t limit_ms) const;

  // Says in the log what has become of this rank's multicasts, and leaves the group.
  ~MulticastPath();

  // nullptr on ranks that don't take part.
  MulticastShared* shared() const { return shared_.get(); }
  std::string describe() const;

 private:
  Result<std::unique_ptr<engines::multicast::Port>> open_port(const engines::multicast::Interface& interface) const;
  const char* over() const { return first_.over == Over::kUdp ? "UDP" : "verbs"; }

  Offer first_;
  uint32_t rank_;
  uint32_t ranks_;
  std::vector<uint32_t> participants_;
  std::unique_ptr<engines::multicast::Port> port_;  // until the member has it
  std::unique_ptr<MulticastShared> shared_;
};

}  // namespace hocket::communicator
