// SPDX-License-Identifier: BSD-3-Clause
// A communicator that ranks of one node make beside calls that wait for nobody, and that something else carries out
// meanwhile: each looks, before its next call, whether it has heard the others, and makes the communicator when it has.
// From which call on the communicator carries them out they agree by promises (engines/shared_memory/takeovers.h). No
// rank ever waits for another.
//
// The job meets in a communicator of all its ranks on one node, in whose memory they tell each other what they have to;
// a rank may find that at another call than its peers. A rank that can't take part, because there is no room or no
// memory, leaves all of them to what carries their calls out now; so does one in which the communicator can't be made.
//
// Thread safety: one object by one thread at a time; several threads may be at work on different ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "communicator/communicator.h"
#include "communicator/setup/setup.h"
#include "engines/shared_memory/takeovers.h"

namespace hocket::communicator {

class Takeover {
 public:
  struct Joining {
    Communicator* job;   // in which all have met, and which outlives this; nullptr: not yet
    bool may_take_part;  // this rank, as far as its owner knows
  };
  // Asked until there is a job; `wants_part`: whether the second answer matters.
  using Join = std::function<Joining(bool wants_part)>;
  // This rank among those of the communicator that is to be made. `in_job`: of each rank, which it is there. `number`:
  // the communicator's, odd, and no other's in the job, the same on all ranks. `calls`: that have come before, the same
  // on all ranks.
  Takeover(uint32_t rank, std::vector<uint32_t> in_job, uint64_t number, uint64_t calls, Join join);
  ~Takeover();
  Takeover(const Takeover&) = delete;
  Takeover& operator=(const Takeover&) = delete;

  // Before each call that waits for nobody: whether the communicator carries it out, as all further ones of any kind.
  // The same on all ranks.
  bool take_next();
  // Before a call in which all ranks wait for each other: whether the communicator carries out that and all further
  // ones. The same on all ranks, for good.
  bool settle();
  // Where they have taken over: the communicator, once.
  std::unique_ptr<Communicator> take() { return std::move(communicator_); }

  // This rank makes no further call, or wants no takeover any more. True: there is one all the same, and the
  // communicator is to be taken, and closed as others are.
  bool leave();
  // After that, whether no rank looks for what this one has left any more, so that the object may go. Ask repeatedly.
  bool may_go();

 private:
  using Place = engines::shared_memory::TakeoverPlace;
  // Once the job has met.
  void begin();
  void introduce();
  // Makes the communicator when all have been heard, and asks whether all have made it.
  void look();
  bool hear_others();
  void make();
  bool have_all_made() const;
  // Seals what is open.
  void find_answer();

  const Join join_;
  Context* context_ = nullptr;                              // from the beginning on
  std::optional<engines::shared_memory::Takeovers> board_;  // the same
  const uint32_t rank_;
  const std::vector<uint32_t> in_job_;
  const uint64_t number_;
  std::unique_ptr<Setup> setup_;  // until the communicator has been made
  std::vector<std::byte> introductions_;
  std::vector<Place*> places_;  // of all ranks that have been heard, and this one's; nullptr
  uint32_t heard_ = 0;          // ranks below have been
  uint64_t calls_;
  uint32_t looks_ = 0;
  bool takes_part_ = false;  // whether it has a place
  bool is_settled_ = false, has_taken_over_ = false;
  uint64_t first_call_ = 0;  // that the communicator carries out
  std::unique_ptr<Communicator> communicator_;
  bool has_left_ = false;
  // Ranks whose place has not been seen, and that haven't been told that this one has left.
  std::vector<uint32_t> untold_;
};

}  // namespace hocket::communicator
