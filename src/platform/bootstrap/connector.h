// SPDX-License-Identifier: BSD-3-Clause
// How contexts on one node get hold of each other's memory: an abstract Unix socket a context, over which region
// descriptors are passed. The kernel's credentials and a nonce that only the bootstrap's ranks know are checked.
//
// An abstract socket is seen only within its network namespace: that is where a node ends (and user ids must agree).
// The connection stays open: its end is how the death of a peer is noticed. Contexts of one process (ranks that are
// threads) need no socket: they find each other's region in a table of the process, and use the same mapping.
//
// Thread safety: one Connector by one thread at a time (the communicator layer holds a lock); different ones at once.
// Peer: any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "platform/descriptor.h"
#include "platform/memory/shared_region.h"

namespace hocket::platform {

// What a context tells the others about itself through the bootstrap's all-gather. Plain bytes.
struct Address {
  uint64_t identity[2] = {};  // random, names the context
  uint64_t nonce[2] = {};     // random, proves that both ends of a connection have heard it through the bootstrap
  uint64_t boot_hash = 0;     // of the kernel's boot id: another machine, another value
  uint64_t network_namespace = 0;
  uint64_t node = 0;     // given by the user: different values end a node too
  uint32_t user = 0;     // as processes outside of its container know it
  uint32_t process = 0;  // for messages only
};
static_assert(sizeof(Address) == 64);

// FNV-1a.
uint64_t hash_of(std::string_view text);
// Where this process is, without identity and nonce. `node`: as in Address.
Address address_here(uint64_t node);
// The same for contexts that can expect to share memory, for others another.
uint64_t label_of_node(const Address& address);
// What is true of the two processes if their labels differ ("run on different machines"); nullptr if they are alike.
const char* why_apart(const Address& one, const Address& other);

// A connection to one peer context and its memory.
class Peer {
 public:
  ~Peer();
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  const Address& address() const { return address_; }
  MappedRegion& region() const { return *region_; }
  // False once the peer's process has ended or its context was destroyed, or the Connector that connected it here
  // was. A system call: not for fast paths.
  bool is_alive() const;

 private:
  friend class Connector;
  Peer() = default;
  void disconnect();
  bool is_process_alive() const;  // true where nothing is known

  Address address_;
  uint64_t meeting_ = 0;  // that it was connected for
  int creator_ = 0;       // process id: a forked child must not end its parent's connections
  int socket_ = -1;       // -1: same process
  int process_ = -1;      // pidfd, -1 where there is none: a forked child of the peer may keep the socket open
  std::shared_ptr<const std::atomic<bool>> context_alive_;  // same process: cleared by the peer's Connector
  std::shared_ptr<MappedRegion> region_;
};

class Connector {
 public:
  // `node`: see Address.
  static Result<std::unique_ptr<Connector>> create(std::shared_ptr<SharedRegion> region, uint64_t node = 0);
  // Peers see this context as dead from here on.
  ~Connector();

  const Address& address() const { return address_; }

  // Connects with every address in `others` (own address: skipped, gives nullptr) not yet connected; every one of them
  // must be calling connect_all with this one's address at about the same time. Meanwhile it also answers other
  // contexts that connect, and keeps their connections for the call that will ask for them: so groups that overlap in a
  // ring, each rank at another one's, don't wait for each other. Peers known from earlier calls are given again.
  // Result[i] belongs to others[i]. Fails with kTimeout, naming the process that didn't answer, and with kPeerFailed as
  // soon as one is known to have ended or to have given up this meeting, which all its participants call by the same
  // number.
  Result<std::vector<std::shared_ptr<Peer>>> connect_all(const std::vector<Address>& others, int64_t timeout_ms,
                                                         uint64_t meeting = 0);
  // To be called by all participants of a meeting of which nothing comes, when each of them knows that: the connections
  // and mappings that it has made go again, unless other communicators use them already.
  void forget(const std::vector<Address>& others, uint64_t meeting);
  // The same where all are known from earlier calls, without asking whether they live; nothing where one is not.
  std::optional<std::vector<std::shared_ptr<Peer>>> known(const std::vector<Address>& others) const;
  // To be called before the peers of a meeting start it: reserves the descriptor that this context needs to give it up.
  Result<Descriptor> prepare();
  // The meeting is over and has not needed the descriptor; the next one may.
  void keep(Descriptor reserve);
  // To be called after connect_all has failed here: as long as the descriptor lives, contexts that wait for this one in
  // that meeting learn that it will not come.
  Descriptor give_up(uint64_t meeting, Descriptor reserve);

 private:
  Connector() = default;
  struct State;
  class Meeting;
  Address address_;
  std::unique_ptr<State> state_;
};

}  // namespace hocket::platform
