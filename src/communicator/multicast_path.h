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
#include "protocol/siphash.h"
#include "schedule/nodes.h"

namespace hocket::communicator {

class MulticastPath {
 public:
  enum class Wish : uint8_t { kAutomatic, kOn, kOff };  // in the order of HOCKET_MULTICAST's words

  // What a rank tells of itself. Plain bytes: it goes to all ranks.
  struct Offer {
    Wish wish = Wish::kAutomatic;  // rank 0's counts, as does all down to `hops`
    engines::multicast::GroupAddress group = {};
    uint64_t id = 0;  // told in each datagram
    nic_key key = {};
    uint64_t seed = 0;
    RootDelay delay = {};
    uint8_t hops = 1;
    uint32_t mtu = 0;       // of its interface; 0: it has none that could be used
    char reason[160] = {};  // why
  };
  // `is_first`: of rank 0.
  static Result<Offer> offer(bool is_first);

  // The path over those interfaces; `why_not` says why there is none. `sees_peers`: other nodes are on this machine and
  // hear of its own interface.
  static std::unique_ptr<MulticastPath> find(const std::vector<Offer>& offers, const schedule::Nodes& nodes,
                                             uint32_t rank, std::string& why_not);
  // Makes this rank a member if it stands for its node; does nothing on others.
  Status join();
  // After all have joined: sends to all and listens to all, for `kProbeNs` at most. Gives how many it has heard.
  static constexpr int64_t kProbeNs = 20'000'000;
  uint32_t probe();
  // "", or why what ranks have heard is not enough; heard[r]: of rank r.
  std::string judge(const std::vector<uint32_t>& heard) const;

  // Says in the log what has become of this rank's multicasts, and leaves the group.
  ~MulticastPath();

  // nullptr on ranks that don't take part.
  MulticastMember* member() const { return member_.get(); }
  std::string describe() const;

 private:
  MulticastPath(const std::vector<Offer>& offers, const schedule::Nodes& nodes, uint32_t rank);

  Offer first_;  // rank 0's
  uint32_t rank_;
  uint32_t ranks_;
  uint32_t mtu_;  // the least
  std::vector<uint32_t> participants_;
  std::unique_ptr<MulticastMember> member_;
};

}  // namespace hocket::communicator
