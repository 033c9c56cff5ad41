// SPDX-License-Identifier: BSD-3-Clause
// The groups of an engine over time: the keeper asks for what they miss, tells all members which of them is silent or
// has ended, and keeps groups that a job has left to answer the others' questions.
//
// Thread safety: one thread at a time, beside any number of processors that work on the groups' states.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "nic/engine.h"
#include "protocol/page.h"
#include "protocol/watch.h"

namespace hocket::nic {

// Where an engine keeps a group. All of it outlives the group.
struct GroupMemory {
  const nic_group* group = nullptr;
  nic_state* state = nullptr;
  nic_page* page = nullptr;
  uint64_t operands = 0;                    // where the first place of the first operation is
  const uint32_t* signs_of_life = nullptr;  // of member 0
  uint32_t signs_of_life_stride = 0;        // bytes to the next member's
};

class GroupKeeper {
 public:
  // `operand`: what the message carries.
  using Send = std::function<void(uint32_t group, const nic_message& message, const nic_operand& operand)>;
  using Free = std::function<void(uint32_t group)>;
  // `send` sends a message of a group's; `free`: no member will ask for the group any more.
  GroupKeeper(uint32_t groups, nic_backoff backoff, Send send, Free free);

  uint32_t free_groups() const { return free_groups_; }
  // Operations that look() found complete and that had not been counted.
  uint64_t found_operations() const { return found_operations_; }
  // Of what it has sent: questions, and messages once more.
  uint64_t asked() const { return asked_; }
  uint64_t repeated() const { return repeated_; }
  // A number that no group has, the one longest ago given first; -1: there is none.
  int64_t find_free() const;
  bool is_free(uint32_t number) const { return groups_[number] == nullptr; }
  void add(uint32_t number, const GroupMemory& memory, uint64_t silence_ns, uint32_t user);
  void leave(uint32_t number, uint64_t now_ns);
  void abandon(uint32_t number, uint64_t now_ns);
  struct Next {
    int64_t wait_ns = -1;        // -1: for ever
    bool unless_started = true;  // wants to be called at once when an operation begins
  };
  // Looks after all groups; tells when to do so again.
  Next look(uint64_t now_ns);
  std::vector<GroupReport> report() const;

 private:
  struct Kept {
    GroupMemory memory;
    nic_watch watch = {};
    std::vector<nic_watched_member> members;
    uint32_t number = 0;
    uint32_t user = 0;
    uint64_t silence_ns = 0;
    uint64_t seen_completed = 0;  // when this was last looked at
    uint64_t free_at_ns = 0;      // 0: in use
    GroupKeeper* keeper = nullptr;
  };
  static void emit(void* user, const nic_message* message);
  int64_t look_at(Kept& kept, uint64_t now_ns);
  static bool is_under_way(const Kept& kept);

  nic_backoff backoff_;
  Send send_;
  Free free_;
  uint32_t free_groups_;
  uint64_t found_operations_ = 0;
  uint64_t asked_ = 0;
  uint64_t repeated_ = 0;
  uint32_t next_ = 0;
  std::vector<std::unique_ptr<Kept>> groups_;
};

}  // namespace hocket::nic
