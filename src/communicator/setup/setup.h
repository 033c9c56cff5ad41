// SPDX-License-Identifier: BSD-3-Clause
// How a communicator comes to be: which ranks there are, whose memory can be mapped, and what all of them agree on.
// What comes of it are the Parts that the communicator is made of.
//
// Two rounds of the bootstrap's all-gather, or one (below). The first brings addresses and where each rank's block of
// shared memory lies; then each rank connects with those on its node that it doesn't know yet; the second brings
// whether that worked for all. Everything that ranks must decide alike is decided from what these rounds brought, or
// read from rank 0's memory; where there are several nodes, a round in between brings that, and engines may have rounds
// of their own.
//
// Ranks of one node that have all met in a communicator of the whole job have nothing to do between the rounds that
// could fail, so that the first is all that it takes. Then a rank need not wait for the others: it says what it has to,
// and goes on when it has heard them all (introduce() and meet()).
//
// Thread safety: one object by one thread; several threads may set up communicators of one context at the same time.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "carriers/engine_setup.h"
#include "communicator/communicator.h"
#include "communicator/setup/common_settings.h"
#include "communicator/setup/cross_memory_trial.h"
#include "communicator/setup/places.h"
#include "engines/shared_memory/notices.h"
#include "engines/shared_memory/takeovers.h"

namespace hocket::communicator {

class Setup final : private carriers::Rounds {
 public:
  // Of what a rank tells in one round.
  static constexpr size_t kLongestMessage = 2040;
  // Of what it tells in the first.
  static size_t first_message_bytes() { return sizeof(Introduction); }

  Setup(Context& context, const Bootstrap& bootstrap);
  ~Setup() override;
  Result<std::unique_ptr<Communicator>> run();

  // The same without a bootstrap, where the job has met. What this rank tells the others, in first_message_bytes();
  // and, when it has heard them all, one after the other in `all`, the communicator.
  Result<const void*> introduce();
  Result<std::unique_ptr<Communicator>> meet(const void* all);
  // After introduce(): nobody knows of it any more, or has ever known. Otherwise what others may know of stays theirs.
  void end_unused() { is_announced_ = false; }

 private:
  static constexpr size_t kReasonBytes = 504;
  struct SettingsPiece {
    char text[1024];
  };
  struct Introduction {  // first round
    platform::Address address;
    uint64_t address_limit = 0;
    uint64_t number = 0;  // of this set-up among those of its context; rank 0's counts
    uint64_t block_offset = 0;
    uint32_t wire_rank = 0;
    uint32_t wire_size = 0;  // 0: it has no wire
    uint32_t wire_tags = 0;
    char wire_name[16] = {};       // rank 0's counts
    uint32_t tag = 0;              // rank 0's counts
    uint32_t serial = 0;           // the same: how many communicators its context has had
    uint64_t settings_offset = 0;  // rank 0's only
    uint64_t settings_bytes = 0;
    uint64_t trial_address = 0;
    CrossMemoryTrial::Wish cross_memory = CrossMemoryTrial::Wish::kAutomatic;  // rank 0's counts
    uint64_t cpus[2] = {};
    double quota = 0;
    uint8_t asymmetric_barrier = 0;
    uint8_t oversubscribed = 0;
    uint8_t has_tag = 0;           // rank 0's counts
    uint8_t checks_arguments = 0;  // the same
    uint8_t has_met_all = 0;       // Context::met_all() is known
    RankPlace place;
    uint32_t job = 0;  // Context::job()
    carriers::EngineOffers offers;
    int32_t code = 0;  // of the failure
    // What it calls itself, or the beginning of that, where it has a wire. From here on zeros are left out.
    char host[64] = {};
    char failure[kReasonBytes] = {};  // "": none. Up to the end: what is left out of a message are zeros
  };
  struct Outcome {  // second round
    uint8_t cross_memory = 0;
    char no_cross_memory[kReasonBytes] = {};  // why not
    carriers::EngineReports engines;
    int32_t code = 0;
    char failure[kReasonBytes] = {};
  };
  static_assert(sizeof(SettingsPiece) <= kLongestMessage && sizeof(Introduction) <= kLongestMessage &&
                sizeof(Outcome) <= kLongestMessage);
  static_assert(sizeof(Introduction) == offsetof(Introduction, failure) + sizeof(Introduction::failure));
  static_assert(offsetof(Introduction, host) <= engines::shared_memory::TakeoverPlace::kTextBytes);
  // With what the interposer adds.
  static_assert(sizeof(Introduction) + 64 <= engines::shared_memory::kNoticeBytes, "a notice has room for it");

  // --- first round
  Status prepare_own();
  Status reserve_descriptor();
  Status write_settings();
  Status introduce_wire();
  // --- what it has brought
  Status take_introductions();
  void agree_on_policy();
  Status find_nodes();
  void find_places();
  // That any rank may use, on the machine that has most.
  uint32_t cores_of_ranks() const;
  Status check_wire() const;
  static std::string describe_wire(const Introduction& one);
  Status gather_settings();
  bool find_oversubscribed() const;
  // --- between the rounds (setup_build.cc)
  Status build();
  Status connect();
  Status map_group();
  Status make_planner();
  Status read_settings();
  Status join_and_judge(Outcome& outcome);
  // "" if this rank can and should read its neighbour's memory, else why not.
  std::string judge_cross_memory();
  // --- second round, or none. The same on all ranks.
  static bool is_known(const Introduction& one);
  bool needs_one_round() const;
  Result<std::unique_ptr<Communicator>> build_without_asking();
  Result<std::unique_ptr<Communicator>> build_and_agree();
  // --- what that has brought
  void agree_on_cross_memory(const std::vector<Outcome>& outcomes);
  void use_cross_memory(bool is_used, const char* why_not);
  void note_meeting(bool is_used);
  Status agree_on_engines(const std::vector<Outcome>& outcomes);
  Result<std::unique_ptr<Communicator>> finish();
  void give_back();

  template <typename T, typename Body>
  void attempt(T& message, const Body& body);
  template <typename T>
  Status gather_all(const T& mine, std::vector<T>& all);
  Status gather(const void* mine, void* all, size_t bytes) override;
  // The first failure that any rank reports, as all ranks' status; rather a cause than that a rank waited in vain.
  template <typename T>
  Status agree(const std::vector<T>& all) const;
  carriers::EngineMeeting meeting() const;
  // Ranks on other nodes that are parts of this machine.
  bool has_other_nodes_here() const;
  // Of the communicator's ranks, those on this node in their order.
  std::vector<uint32_t> ranks_here() const;
  std::vector<platform::Address> addresses_here() const;
  // By the number of its ranks, which is all that is known at first.
  bool may_be_whole_job() const { return bootstrap_.size == context_.expected_ranks(); }
  bool is_within_job() const;
  bool is_whole_job() const { return may_be_whole_job() && is_within_job(); }
  size_t block_bytes(bool is_of_whole_job) const;
  uint64_t meeting_number() const { return all_[0].address.identity[0] + all_[0].number; }

  Context& context_;
  Bootstrap bootstrap_;
  std::optional<CrossMemoryTrial> trial_;
  carriers::EngineSetup engines_;
  Parts parts_;
  Introduction mine_;
  std::vector<Introduction> all_;
  bool waits_for_none_ = false;    // introduce() and meet()
  bool is_announced_ = false;      // all ranks know of the others' blocks
  bool has_promise_ = false;       // of memory for the first track
  std::string settings_text_;      // what rank 0 has told, of several nodes
  platform::Descriptor reserve_;   // a number for the next
  platform::Descriptor farewell_;  // lives until all have heard why
  bool is_finished_ = false;       // the communicator has the parts
};

}  // namespace hocket::communicator
