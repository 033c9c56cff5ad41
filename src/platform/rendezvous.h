// How contexts on one node get hold of each other's memory: an abstract Unix socket a context, over which region
// descriptors are passed. The kernel's credentials and a nonce that only the bootstrap's ranks know are checked.
//
// An abstract socket is seen only within its network namespace: that is where a node ends (and user ids must agree).
// The connection stays open: its end is how the death of a peer is noticed.
//
// Thread safety: one Rendezvous by one thread at a time (the communicator layer holds a lock).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "platform/shared_region.h"

namespace hocket::platform {

// What a context tells the others about itself through the bootstrap's all-gather. Plain bytes.
struct Address {
  uint64_t identity[2] = {};  // random, names the context
  uint64_t nonce[2] = {};     // random, proves that whoever connects has heard it through the bootstrap
  uint64_t boot_hash = 0;     // of the kernel's boot id: another machine, another value
  uint64_t network_namespace = 0;
  uint32_t user = 0;
  uint32_t process = 0;  // for messages only
};
static_assert(sizeof(Address) == 56);

// A connection to one peer context and its memory.
class Peer {
 public:
  ~Peer();
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  const Address& address() const { return address_; }
  std::byte* base() const { return region_->base(); }
  size_t limit() const { return region_->limit(); }
  // False once the peer's process has ended or its context was destroyed. A system call: not for fast paths.
  bool is_alive() const;

 private:
  friend class Rendezvous;
  Peer() = default;
  Address address_;
  int socket_ = -1;
  std::shared_ptr<MappedRegion> region_;
};

class Rendezvous {
 public:
  static Result<std::unique_ptr<Rendezvous>> create(std::shared_ptr<SharedRegion> region);
  ~Rendezvous();

  const Address& address() const { return address_; }
  // Whether a connection can be expected to work at all, and why not ("" if it can).
  std::string why_unreachable(const Address& other) const;

  // Connects with every address in `others` (own address: skipped, gives nullptr) not yet connected; every one of them
  // must be calling connect_all with this one's address at about the same time. Peers known from earlier calls
  // are given again. Result[i] belongs to others[i]. Fails with kTimeout, naming the process that didn't answer.
  Result<std::vector<std::shared_ptr<Peer>>> connect_all(const std::vector<Address>& others, int64_t timeout_ms);

 private:
  Rendezvous() = default;
  struct State;
  Address address_;
  std::unique_ptr<State> state_;
};

}  // namespace hocket::platform
