// SPDX-License-Identifier: BSD-3-Clause
// A group of ranks that communicate collectively: set-up, calls blocking and not, waiting, failure
// and calls that differ, and the end.
//
// Blocking calls use track 0; non-blocking calls take turns on the others, each track carrying out its calls in the
// order in which they were started, which is the same on every rank. One at a time communicates; of those that wait for
// a NIC engine only, as many as it takes.
//
// Ranks that share memory form a node. To the engine of shared memory a node is a group of its own, in which ranks go
// by their places; everything else counts ranks of the whole communicator.
//
// Thread safety: one thread at a time.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "communicator/attention.h"
#include "communicator/call.h"
#include "communicator/context.h"
#include "communicator/multicast_path.h"
#include "communicator/planner.h"
#include "communicator/track.h"
#include "communicator/word.h"
#include "engines/shared_memory/group.h"

namespace hocket::communicator {

struct Bootstrap {
  uint32_t rank = 0;
  uint32_t size = 1;
  // Blocking; 0 for success.
  int (*allgather)(const void* send, void* receive, size_t bytes, void* user) = nullptr;
  void* user = nullptr;
};

class Communicator;

struct Request {
  Communicator* communicator = nullptr;
  uint32_t track = 0;
  bool done = false;
  Status status;
  Arguments arguments;
  Call call;
};

class Communicator {
 public:
  // Collective. All ranks get the communicator, or all the reason why there is none.
  static Result<std::unique_ptr<Communicator>> create(Context& context, const Bootstrap& bootstrap);
  // The end, without waiting for anybody: no call comes after it. Requests must be complete.
  Status leave();
  // After leave(), whether the communicator may go, since no peer touches this rank's memory any more; or never will
  // be known not to, where one has failed. To be asked again and again, which is what brings it about.
  bool has_left();
  // Both, and waits in between.
  Status close();
  ~Communicator();
  // An exception that says `what` has ended a call on this rank.
  void break_after_exception(const char* what);
  // This rank can't take part in what its peers have begun.
  void abort(const std::string& reason);

  uint32_t rank() const { return rank_; }
  uint32_t size() const { return size_; }
  // More ranks than cores on some node: what one does while another waits keeps that one from its core.
  bool is_crowded() const { return planner_->is_crowded(); }
  const Context& context() const { return context_; }
  Context& context() { return context_; }

  Status run(const Arguments& arguments);
  // Of the blocking calls from now on; nullptr: of none.
  void serve(engines::OnDemand* on_demand) { blocking_.serve(on_demand); }
  Result<Request*> start(const Arguments& arguments);
  // Whether NIC engines may carry out calls by themselves (Prepared::runs_by_itself). The same on all ranks.
  bool may_run_by_engines() const;
  // From now on start() refuses, by kNotSupported and on all ranks alike, what NIC engines don't carry out by
  // themselves.
  void start_only_by_engines(bool only) { only_by_engines_ = only; }
  // Moves all requests, and looks now and then whether peers have failed.
  void advance_begun();
  // True when complete: the request is gone and `status` says how it ended.
  bool test(Request* request, Status& status);
  Status wait(Request* request);

  Status force(schedule::Collective collective, std::string_view spec);
  std::string explain(const CallShape& shape) const { return planner_->explain(shape); }

 private:
  friend class Setup;
  // How far this rank has come after leave(); see leaving.cc.
  enum class Ending : uint8_t {
    kOpen,
    kBarrier,     // of several nodes: messages may be under way
    kLeftovers,   // and some that no call has waited for
    kLeaving,     // is going to touch nobody's memory but the first rank's counter
    kAllLeaving,  // so are the others, it has heard
    kQuiet,       // nobody touches this rank's memory any more
    kLost,        // which will never be known: a peer has failed
  };
  // How often a rank that waits looks whether its peers are alive, and how soon first.
  static constexpr int64_t kFailureCheckNs = 100'000'000;
  static constexpr uint32_t kNobody = ~0u;
  static constexpr uint32_t kLooksPerFailureCheck = 1024;  // where the core is kept for looks at the library underneath
  explicit Communicator(Context& context) : context_(context), attention_(context.occasion()) {
    context.communicator_made();
  }

  CallShape shape_of(const Arguments& arguments) const;
  Status prepare(const Arguments& arguments, Call& call, const Prepared*& prepared,
                 std::shared_ptr<const Prepared>* keep);
  Status check_agreement(const Arguments& arguments);
  Status check_lengths(const Arguments& arguments);
  Status show_each_other(const void* mine, size_t bytes, void* all);
  // Advances `call` until it is done.
  Status complete(Call& call, Track& track);
  template <typename Look, typename Awaits>
  Status wait_until(const Look& is_done, const Awaits& awaits);
  static Status refused_for_engines();
  void advance_requests();
  bool advance(Request& request);
  Status advance_others();
  void progress();
  bool sleep(bool attends);
  bool is_quiet() const { return ending_ == Ending::kQuiet; }
  Ending after_barrier();
  Ending count_out(uint32_t needed, Ending next);
  bool has_leftovers();
  bool has_lost_peer();
  Status retire(Request* request);
  void look_for_failure_now_and_then();
  Status find_failure();
  Status what_broke() const;
  // The same while this rank is in a call, and ranks that are in another.
  Status find_trouble();
  std::string find_difference() const;
  Status agree_on_mismatch(Status status);
  Word new_word(Word::Kind kind) const;
  void tell_other_nodes(const Status& status);
  Status hear_other_nodes(uint32_t& failed);
  std::string compare(const Word& word) const;
  struct Waited {
    uint64_t number = 0;  // of the call that this rank has waited in
    uint64_t next_ns = 0, pause_ns = 0;
    size_t turn = 0;
    uint32_t stranger = kNobody;  // whose message of another call was there at the last look, and when
    uint64_t seen_ns = 0;
  };
  std::string ask_whom_it_waits_for();
  std::string find_stranger(Track& track, Waited& waited, uint64_t now) const;
  Result<std::unique_ptr<Track>> make_track(uint32_t index);
  // With the engines that there are by now.
  void equip(Track& track, uint32_t index) const;
  bool must_poll() const;
  uint32_t ranks_here() const { return group_->size(); }
  // Of the rank at a place of this node.
  uint32_t rank_at(uint32_t place) const {
    return nodes_ == nullptr ? place : nodes_->ranks_of(nodes_->node_of(rank_))[place];
  }
  Status fail(Status status);

  Context& context_;
  Attention attention_;
  uint32_t rank_ = 0;
  uint32_t size_ = 1;
  std::unique_ptr<const schedule::Nodes> nodes_;        // nullptr: all ranks are on one
  std::unique_ptr<const schedule::Nodes> domains_;      // of that one; nullptr: it has no other, or they are unknown
  std::vector<std::shared_ptr<platform::Peer>> peers_;  // by place on this node; nullptr for this rank
  std::vector<uint32_t> addresses_;                     // by rank, on the wire; empty on one node
  uint32_t tag_ = 0;                                    // the first of those that are this communicator's
  std::optional<uint32_t> own_tag_;                     // the same, where this rank has to give it back
  engines::shared_memory::RankBlock* block_ = nullptr;
  std::unique_ptr<engines::shared_memory::Group> group_;
  std::array<std::unique_ptr<Track>, engines::shared_memory::kLanes> tracks_;
  std::unique_ptr<NicPath> nic_;              // nullptr: not in use
  std::unique_ptr<MulticastPath> multicast_;  // the same; tracks use it
  std::unique_ptr<Planner> planner_;
  std::unique_ptr<platform::Turns> turns_;
  std::unique_ptr<platform::Waiter> waiter_;
  Call blocking_;
  Arguments last_;  // of the barrier that several nodes end with
  std::array<std::deque<Request*>, engines::shared_memory::kLanes> queues_;
  uint32_t outstanding_ = 0;  // requests that still run
  uint32_t unfinished_ = 0;   // and those that the caller has not heard of
  Ending ending_ = Ending::kOpen;
  int64_t next_look_ns_ = 0;
  uint64_t started_ = 0;  // non-blocking calls so far
  uint64_t checked_ = 0;  // calls whose arguments have been compared
  int64_t next_check_ns_ = 0;
  bool checks_arguments_ = false;
  bool only_by_engines_ = false;
  bool broken_ = false;
  bool others_know_ = false;            // of the failure: other nodes needn't be told by this rank
  bool mismatch_is_known_ = false;      // another node's word has said which calls differ
  std::unique_ptr<WordOfMouth> words_;  // with other nodes; nullptr: there are none
  uint64_t unique_number_ = 0;          // of the communicator, of several nodes
  std::array<Waited, engines::shared_memory::kLanes> waited_;
  std::string broken_reason_;
};

}  // namespace hocket::communicator
