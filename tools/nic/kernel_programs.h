// SPDX-License-Identifier: BSD-3-Clause
// The BPF programs of the NIC engine (bpf/nic.bpf.c) on an interface, and their maps.
//
// They stay as long as the object lives: where the kernel has links (6.6 and later), the kernel itself takes them off
// when the process ends, however it does.
//
// Thread safety: one thread at a time, beside the programs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "bpf/nic.h"
#include "nic/engine.h"
#include "nic/filters.h"
#include "nic/hook.h"
#include "nic/next_hop.h"
#include "platform/descriptor.h"

namespace hocket::nic {

class KernelPrograms {
 public:
  static Result<std::unique_ptr<KernelPrograms>> load(const Interface& interface, uint16_t port, Hook hook);
  ~KernelPrograms();
  KernelPrograms(const KernelPrograms&) = delete;
  KernelPrograms& operator=(const KernelPrograms&) = delete;

  // Where they are and why, as a sentence.
  const std::string& place() const { return place_; }

  // Mapped: what is written is in force at once.
  nic_state& state(uint32_t slot) const { return states_[slot]; }
  nic_member& member(uint32_t number) const { return members_[number]; }
  nic_operand& operand(uint32_t number) const { return operands_[number]; }
  Status set_slot(uint32_t number, const nic_slot& slot);
  // A page of its own for the slot, which starts empty. Pages are made for many slots at a time: each change of the map
  // waits until no program can be running that knows the old ones, some 10 ms. `is_free`: whose may be made anew.
  Result<platform::Descriptor> take_page(uint32_t number, const std::function<bool(uint32_t)>& is_free);
  Status set_id(uint64_t id, uint32_t slot);
  void forget_id(uint64_t id);
  Status set_doorbell(const nic_doorbell& doorbell);
  void forget_doorbell(const nic_doorbell& doorbell);
  Counters counters() const;
  // From now on the next operation that begins makes news() readable, once.
  void ask_for_news();
  int news() const { return news_; }
  void take_news();

  // For tests (BPF_PROG_TEST_RUN): what the program for packets that come in, or for those that go out, does with a
  // frame that was not sent over any network, as its action (TC_ACT_...). The frame becomes what the program makes of
  // it, of whatever length.
  Result<int> try_arriving(std::vector<std::byte>& frame) const { return try_frame("nic_arriving", frame); }
  Result<int> try_leaving(std::vector<std::byte>& frame) const { return try_frame("nic_leaving", frame); }

 private:
  KernelPrograms() = default;
  Status open_maps();
  Status make_pages(const std::vector<uint32_t>& slots);
  Status attach(const Interface& interface, Hook hook);
  Status attach_early(const Interface& interface, Hook hook);
  Status attach_link(int interface, const char* program, uint32_t kind, uint32_t flags = 0);
  int program(const char* name) const;
  int map(const char* name) const;
  Result<int> try_frame(const char* name, std::vector<std::byte>& frame) const;

  void* object_ = nullptr;  // a bpf_object
  std::string place_ = "tc, by tcx";
  Filters filters_;  // where there are no links
  platform::Descriptor links_[3];
  nic_state* states_ = nullptr;
  nic_member* members_ = nullptr;
  nic_operand* operands_ = nullptr;
  uint64_t* sleeps_ = nullptr;
  void* ring_ = nullptr;  // a ring_buffer
  int news_ = -1;
  std::vector<platform::Descriptor> pages_;  // that no job has got
};

}  // namespace hocket::nic
