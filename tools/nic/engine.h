// SPDX-License-Identifier: BSD-3-Clause
// A NIC engine as its service sees it: lends groups, looks after them as time passes, and is counted.
//
// Thread safety: one thread at a time, beside the packets of a kernel's engine.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "nic/hook.h"
#include "nic/next_hop.h"
#include "platform/descriptor.h"
#include "protocol/counters.h"
#include "protocol/service.h"
#include "protocol/watch.h"

namespace hocket::nic {

struct EngineOptions {
  Interface interface;
  std::string name;  // the interface's
  uint16_t port = NIC_DEFAULT_PORT;
  Hook hook = Hook::kAutomatic;      // of a kernel's engine
  uint16_t unexpected = NIC_WINDOW;  // operations ahead of a host whose operands are kept; those beyond are rejected
  nic_backoff backoff = {.ask_ns = 1'000'000, .most_ns = 64'000'000, .silence_ns = 10'000'000'000};
};

struct JoinRequest {
  nic_group group = {};
  std::vector<nic_peer> members;
  uint64_t silence_ns = 0;
  bool is_privileged = false;    // may send raw packets anyway
  bool has_doorbell = false;     // says that it has the doorbell for all groups of its connection
  uint64_t doorbell_cookie = 0;  // of the doorbell that the connection has for all of its groups; 0: none
  uint32_t user = 0;
};

// What a job gets of its group.
struct Lent {
  uint32_t group = 0;
  platform::Descriptor page;
  platform::Descriptor wakeup_socket;
  platform::Descriptor doorbell;  // -1: the connection's
  uint64_t doorbell_cookie = 0;   // of one that is for all groups of the connection; 0: it is this group's alone
  std::vector<std::byte> ring;    // what the job sends to the doorbell, with a packet's words at words_at
  size_t words_at = 0;
};

struct GroupReport {
  uint32_t group = 0;
  uint64_t id = 0;
  uint32_t user = 0;
  uint32_t self = 0;
  uint32_t size = 0;
  uint32_t operands = 0;  // places that it has for them
  uint64_t started = 0;
  uint64_t completed = 0;
  uint64_t broken = 0;
  bool is_leaving = false;
};

using Counters = std::array<uint64_t, NIC_COUNTERS>;

class Engine {
 public:
  virtual ~Engine() = default;
  virtual const char* kind() const = 0;  // "kernel" or "agent"
  // One sentence on where it sits and why there.
  virtual std::string place() const = 0;
  virtual const std::string& interface() const = 0;
  virtual nic_peer address() const = 0;
  virtual uint32_t free_groups() const = 0;

  virtual Result<Lent> join(const JoinRequest& request) = 0;
  // The job needs it no more. Others may: their questions are answered for a while.
  virtual void leave(uint32_t group) = 0;
  // The job has ended without leaving.
  virtual void abandon(uint32_t group) = 0;

  // Descriptors to be polled for reading; work() when one of them has something.
  virtual std::vector<int> sources() const = 0;
  virtual void work() = 0;
  // Looks after all groups; in how many nanoseconds again, -1: when work() is due.
  virtual int64_t look(uint64_t now_ns) = 0;

  virtual Counters counters() const = 0;
  virtual std::vector<GroupReport> groups() const = 0;
};

}  // namespace hocket::nic
