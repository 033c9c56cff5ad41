// SPDX-License-Identifier: BSD-3-Clause
// A job's way to the NIC engine of its machine: a service lends it groups, each with a doorbell and a page.
//
// Thread safety: one thread at a time.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "engines/nic/call.h"
#include "engines/nic/service_client.h"
#include "platform/descriptor.h"
#include "protocol/page.h"

namespace hocket::engines::nic {

class NicPort;

// A process's share in one group. Operations are started in the order of their numbers, from 1, and end in it.
//
// Invariant: lives no longer than its port.
class NicGroup {
 public:
  ~NicGroup();
  NicGroup(const NicGroup&) = delete;
  NicGroup& operator=(const NicGroup&) = delete;

  // Begins the next operation: rings. An error: the engine can't be reached, or NIC_IN_FLIGHT are under way. Every so
  // often the program is replaced by the one that synchronizes, so that no member is ever too far ahead of the others.
  Status start(const NicCall& call);
  Status start(uint32_t program) { return start(NicCall{.program = program}); }
  // What came of an operation that is done: there until the one behind it by NIC_IN_FLIGHT is started. Of collectives
  // with a root, nothing where it goes to another.
  const nic_operand& result(uint64_t operation) const { return page_->result[operation % NIC_IN_FLIGHT]; }
  uint64_t started() const { return started_; }
  // How many operations are complete. Acquire: pairs with the engine's store, so that a thread that sees an operation
  // done also sees its result.
  uint64_t done() const { return std::atomic_ref(page_->done).load(std::memory_order_acquire); }
  bool is_idle() const { return done() == started_; }
  // Relaxed, as in culprit() and health(): the word says all, and the engine writes nothing else for it.
  bool is_broken() const { return std::atomic_ref(page_->broken).load(std::memory_order_relaxed) != 0; }
  // The member that broke it; all ones: the group is not broken, or the member is unknown.
  uint32_t culprit() const;
  // Why the group is broken and by whom; ok: it is not. Asks the system whether the engine lives.
  Status health() const;
  // Rings again for what is under way, in case that a doorbell was lost; those that were not are not heard twice.
  Status ring_again();
  // The other members shall know that this one doesn't go on. False: the engine's service has ended. Nothing may be
  // started after it.
  bool abandon();
  // Sleeps until something has been completed, or `limit_ns` are over. Returns at once if done() isn't `seen` any more.
  // Gives whether it isn't.
  bool sleep(uint64_t seen, int64_t limit_ns);

 private:
  friend class NicPort;
  struct Ring {
    std::array<std::byte, NIC_MOST_DOORBELL_BYTES + sizeof(nic_operand)> bytes;
    size_t length;
  };
  Ring& ring_of(uint64_t operation) { return rings_[operation % NIC_IN_FLIGHT]; }
  Status ring(const Ring& ring);
  void write_ring(const NicCall& call);
  NicGroup(NicPort& port, uint32_t number) : port_(port), number_(number) {}
  Status map(const platform::Descriptor& page);
  bool leave(bool is_failure);

  NicPort& port_;
  uint32_t number_;  // at the service
  nic_page* page_ = nullptr;
  std::vector<Address> members_;
  std::shared_ptr<const platform::Descriptor> doorbell_;  // may be that of other groups as well
  platform::Descriptor wakeup_socket_;
  std::array<Ring, NIC_IN_FLIGHT> rings_;  // of the operations under way: what is sent to the doorbell
  size_t words_at_ = 0;
  bool is_ring_refused_ = false;  // the engine did not take the newest ring
  std::vector<uint8_t> synchronizing_;
  uint64_t started_ = 0;
  bool has_left_ = false;
};

class NicPort {
 public:
  // To the service of an interface; "": the only one there is. kNotSupported: there is none, and how to have one; or
  // its name belongs to a process of neither root nor this user, and no other process may learn the keys of groups.
  static Result<std::unique_ptr<NicPort>> open(const std::string& interface);
  // Connects to a service of any user and any version: to ask for a report or to end it, not to join.
  static Result<std::unique_ptr<NicPort>> open_any(const std::string& interface);

  const std::string& engine() const { return engine_; }  // "kernel" or "agent"
  const std::string& interface() const { return service_.interface(); }
  Address address() const { return address_; }

  // As ServiceClient::is_alive().
  bool is_alive() const { return service_.is_alive(); }

  // To be called by all members, in any order.
  Result<std::unique_ptr<NicGroup>> join(const GroupDescription& description);

  // The engine, its groups and its counters, as JSON.
  Result<std::string> report();
  // Ends the service, and the engine with it; for root and its own user.
  Status end_service();

 private:
  friend class NicGroup;
  explicit NicPort(ServiceClient service) : service_(std::move(service)) {}

  ServiceClient service_;
  std::shared_ptr<const platform::Descriptor> doorbell_;  // for all groups that share one
  std::string engine_;
  Address address_;
};

// The interfaces of this network namespace that have a service.
std::vector<std::string> interfaces_with_service();

}  // namespace hocket::engines::nic
