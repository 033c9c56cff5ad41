// SPDX-License-Identifier: BSD-3-Clause
// How a communicator comes to be: who is there, whose memory can be mapped, and what all of them agree on.
//
// Two rounds of the bootstrap's all-gather. The first tells addresses and where each rank's block of shared memory
// lies; then everybody connects with everybody on its node that it doesn't know yet; the second tells whether that
// worked for all. Everything that ranks must decide alike is decided from what these rounds brought, or read from rank
// 0's memory; where there are several nodes, a round in between brings that.
//
// Thread safety: one object by one thread; several threads may set up communicators of one context at the same time.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "communicator/communicator.h"
#include "communicator/cross_memory_trial.h"

namespace hocket::communicator {

class Setup {
 public:
  // Of what a rank tells in one round.
  static constexpr size_t kLongestMessage = 2040;

  Setup(Context& context, const Bootstrap& bootstrap)
      : context_(context), bootstrap_(bootstrap), trial_(context.rendezvous().address().nonce[0]) {}
  ~Setup();
  Result<std::unique_ptr<Communicator>> run();

 private:
  static constexpr size_t kReasonBytes = 504;  // an outcome has four
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
    uint8_t has_tag = 0;           // the same
    uint32_t serial = 0;           // the same: how many communicators its context has had
    uint64_t settings_offset = 0;  // rank 0's only
    uint64_t settings_bytes = 0;
    uint64_t trial_address = 0;
    CrossMemoryTrial::Wish cross_memory = CrossMemoryTrial::Wish::kAutomatic;  // rank 0's counts
    uint64_t cpus[2] = {};
    double quota = 0;
    uint8_t asymmetric_barrier = 0;
    uint8_t crowded = 0;
    int32_t domain = -1;           // NUMA, of its machine; -1: not bound to one
    uint8_t checks_arguments = 0;  // rank 0's counts
    NicPath::Offer nic;
    MulticastPath::Offer multicast;
    int32_t code = 0;                 // of the failure
    char failure[kReasonBytes] = {};  // "": none
  };
  struct Outcome {  // second round
    uint8_t cross_memory = 0;
    char no_cross_memory[kReasonBytes] = {};  // why not
    char no_nic[kReasonBytes] = {};           // "": no reason against it on this rank
    char no_multicast[kReasonBytes] = {};     // the same
    uint32_t multicast_bytes = ~uint32_t{0};  // of its datagrams
    int32_t code = 0;
    char failure[kReasonBytes] = {};
  };
  static_assert(sizeof(SettingsPiece) <= kLongestMessage && sizeof(Introduction) <= kLongestMessage &&
                sizeof(Outcome) <= kLongestMessage);

  Status prepare_own();
  Status write_settings();
  template <typename T, typename Body>
  void attempt(T& message, const Body& body);
  template <typename T>
  Status gather(const T& mine, std::vector<T>& all);
  // The first failure that any rank tells, as everybody's status; rather a cause than that somebody waited in vain.
  template <typename T>
  Status agree(const std::vector<T>& all) const;
  Status find_nodes();
  void find_domains();
  Status check_wire() const;
  static std::string describe_wire(const Introduction& one);
  Status gather_settings();
  // NIC engines: as far as what was heard says, then by what all have come to.
  void find_nic();
  Status join_nic(Outcome& outcome);
  // Of the first rank that tells one: "rank 3: ..."; "": nobody does.
  static std::string first_reason(const std::vector<Outcome>& outcomes, const char (Outcome::*reason)[kReasonBytes]);
  void agree_on_nic(const std::vector<Outcome>& outcomes);
  // Multicast, in the same way, and then whether it gets through.
  Status join_multicast(Outcome& outcome);
  Status agree_on_multicast(const std::vector<Outcome>& outcomes);
  static constexpr uint32_t kNotMet = ~uint32_t{0};
  Status gather_heard(std::vector<uint32_t>& heard);
  Status connect();
  // Ranks on other nodes that are parts of this machine.
  bool has_other_nodes_here() const;
  bool find_crowded() const;
  Status build(bool crowded, bool asymmetric);
  // "" if this rank can and should read its neighbour's memory, else why not.
  std::string judge_cross_memory();
  Status read_settings(selection::Table& table);
  void let_go();
  // Of the communicator's ranks, those on this node in their order.
  std::vector<uint32_t> ranks_here() const;

  Context& context_;
  Bootstrap bootstrap_;
  std::unique_ptr<Communicator> communicator_;
  CrossMemoryTrial trial_;
  Introduction mine_;
  std::vector<Introduction> all_;
  std::byte* settings_ = nullptr;    // rank 0's, until everybody has read them
  std::optional<uint32_t> own_tag_;  // rank 0's, until the communicator has it
  platform::Descriptor reserve_;     // a number for the next
  platform::Descriptor farewell_;    // lives until all have heard why
  std::string settings_text_;        // of several nodes: what rank 0 has told
  std::vector<std::pair<schedule::Collective, selection::Spec>> forced_;
  std::unique_ptr<NicPath> nic_;  // until all have agreed on it
  std::string why_no_nic_;
  std::unique_ptr<MulticastPath> multicast_;
  std::string why_no_multicast_;
};

}  // namespace hocket::communicator
