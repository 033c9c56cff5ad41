// SPDX-License-Identifier: BSD-3-Clause
// The launcher's side of the ranks' all-gather: listens, collects what each rank gives, hands all of it to everyone.
//
// The k-th connection of each rank belongs to meeting k. A meeting fails for all its ranks, those that come later too,
// once one of them can't come any more, leaves in the middle of a round, or makes the others wait too long. Connections
// of other users, and those that don't know the key, are refused.
//
// Thread safety: one thread at a time. Nothing blocks: the caller polls. Times are of base/clock.h, in milliseconds.
#pragma once

#include <poll.h>

#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "platform/bootstrap/launch_place.h"
#include "platform/descriptor.h"

namespace hocket::platform {

class LaunchHub {
 public:
  static constexpr int64_t kNever = INT64_MAX;

  static Result<std::unique_ptr<LaunchHub>> create(uint32_t ranks);

  LaunchPlace place(uint32_t rank) const;
  // Adds all descriptors of which news should make the caller call serve().
  void watch(std::vector<pollfd>& watched) const;
  // When serve() should be called even without news.
  int64_t next_deadline_ms() const;
  // Does what can be done now.
  void serve(int64_t now_ms);

  void rank_started(uint32_t rank, int process) { ranks_[rank].process = process; }
  // `how`: "has ended with exit code 0", for messages. The other ranks stop waiting for it.
  void rank_ended(uint32_t rank, std::string how, int64_t now_ms);

 private:
  using Message = std::shared_ptr<const std::vector<std::byte>>;
  struct Guest {
    Descriptor socket;
    bool has_joined = false;
    bool is_refused = false;  // once `out` is empty it goes
    bool has_gone = false;
    uint32_t rank = 0;
    uint64_t meeting = 0;
    int64_t timeout_ms = 0;
    std::deque<Message> out;
  };
  struct Seat {  // of one rank in one meeting
    Guest* guest = nullptr;
    bool has_come = false;
    bool has_given = false;  // in the current round
    std::vector<std::byte> data;
  };
  struct Meeting {
    std::vector<Seat> seats;
    uint32_t given = 0;
    uint32_t gone = 0;  // have come and left
    int64_t deadline_ms = kNever;
    int64_t timeout_ms = 0;
    Status failure;
  };
  struct Rank {
    int process = 0;
    std::string ended;  // how; "": not yet
    uint64_t meetings = 0;
  };

  explicit LaunchHub(uint32_t ranks) : ranks_(ranks) {}
  void accept_guests();
  void serve_guest(Guest& guest, int64_t now_ms);
  void receive(Guest& guest, std::span<const std::byte> message, int64_t now_ms);
  void welcome(Guest& guest, std::span<const std::byte> message);
  void take_part(Guest& guest, std::span<const std::byte> data, int64_t now_ms);
  void finish_round(Meeting& meeting);
  void leave(Guest& guest);
  void refuse(Guest& guest, const Status& why);
  void fail(Meeting& meeting, Status why);
  void fail_overdue(int64_t now_ms);
  // The rank that the current round needs but that will not come; "" if there is none.
  std::string who_is_lost(const Meeting& meeting) const;
  std::string name_of(uint32_t rank) const;
  static void flush(Guest& guest);

  Descriptor listener_;
  LaunchPlace place_;
  uint32_t user_ = 0;
  std::vector<Rank> ranks_;
  std::list<Guest> guests_;
  std::map<uint64_t, Meeting> meetings_;
};

}  // namespace hocket::platform
