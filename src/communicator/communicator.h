// SPDX-License-Identifier: BSD-3-Clause
// A group of ranks that communicate collectively: calls, blocking and not. What a communicator is made of stands in
// files of its own: participants, tracks, requests, waiting, failure, closing; Setup makes them.
//
// Blocking calls use track 0; non-blocking calls take turns on the others.
//
// Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "communicator/calls/argument_check.h"
#include "communicator/calls/call.h"
#include "communicator/calls/planner.h"
#include "communicator/calls/requests.h"
#include "communicator/closing.h"
#include "communicator/context.h"
#include "communicator/failure/failure.h"
#include "communicator/wait.h"

namespace hocket::communicator {

struct Bootstrap {
  uint32_t rank = 0;
  uint32_t size = 1;
  // Blocking; 0 for success.
  int (*allgather)(const void* send, void* receive, size_t bytes, void* user) = nullptr;
  void* user = nullptr;
};

// What set-up has come to on this rank; see Setup.
struct Parts {
  Participants participants;
  carriers::Engines engines;
  // Of the first track.
  std::unique_ptr<engines::shared_memory::MemoryTransport> lane;
  std::unique_ptr<engines::wire::Channel> channel;  // nullptr within a node
  std::unique_ptr<Planner> planner;
  platform::WaitPolicy policy;
  engines::shared_memory::RankBlock* block = nullptr;  // this rank's, of the context's region
  std::optional<uint32_t> own_tag;                     // the first of the communicator's, where this rank gives it back
  bool checks_arguments = false;
};

class CallTimer;

class Communicator {
 public:
  // Collective. All ranks get the communicator, or all the reason why there is none.
  static Result<std::unique_ptr<Communicator>> create(Context& context, const Bootstrap& bootstrap);
  Communicator(Context& context, Parts parts);
  // The end, without waiting for anybody: no call comes after it. Requests must be complete.
  Status leave();
  // After leave(), whether the communicator may go; see Closing.
  bool has_left() { return closing_.is_over(); }
  // Both, and waits in between.
  Status close();
  // In place of these, of one on which no rank has made a call, and of which none knows any more: it may go.
  void end_unused() { closing_.end_unused(); }
  ~Communicator();
  // An exception that says `what` has ended a call on this rank.
  void break_after_exception(const char* what);
  // This rank can't take part in what its peers have started.
  void abort(const std::string& reason);

  uint32_t rank() const { return participants_.rank; }
  uint32_t size() const { return participants_.size; }
  // More ranks than cores on some node: what one does while another waits keeps that one from its core.
  bool is_oversubscribed() const { return planner_->is_oversubscribed(); }
  const Context& context() const { return context_; }
  Context& context() { return context_; }

  const Participants& participants() const { return participants_; }

  Status run(const Arguments& arguments);
  Result<Request*> start(const Arguments& arguments);
  // A request that is kept: planned now, and started, tested or waited for as often as its owner likes. What vector
  // versions tell of blocks is copied. `track`: its own, so that ranks may start it in any order beside those of other
  // tracks, the same number on all ranks; 0: it takes turns with the others, in the order in which all ranks start.
  Result<Request*> plan(const Arguments& arguments, uint32_t track);
  // One that is kept and not under way.
  Status start(Request* kept);
  // It must not be under way.
  static void drop(Request* kept) { delete kept; }
  // Whether engines may carry out calls by themselves (Prepared::runs_by_itself). The same on all ranks.
  bool may_run_by_engines() const { return engines_.may_run_by_itself() && !check_; }
  // Whether they may this one, as far as its collective, operation and length say. The same.
  bool may_go_by_engines(const Arguments& arguments) const;
  // Whether start() of what is unchecked waits for nobody, and no rank needs anything but the memory that all share.
  // The same on all ranks.
  bool may_run_in_memory() const { return !participants_.span_nodes(); }
  // Moves all requests, and looks now and then whether peers have failed.
  void advance_pending();
  // The same without a look at the library underneath: not even for failures between nodes. Whether any has come
  // further.
  bool advance_pending_alone();
  // True when complete: the request is gone, unless it is kept, and `status` says how it ended.
  bool test(Request* request, Status& status);
  Status wait(Request* request);
  // The same without taking the result.
  void await(Request* request);
  // Of one that is done, in any thread.
  Status take_result(Request* request) { return requests_.take_result(request); }

  Status force(schedule::Collective collective, std::string_view spec);
  const std::shared_ptr<Neighbourhoods>& neighbourhoods() const { return planner_->neighbourhoods(); }
  // By which sentences and records name it.
  void rename(std::string_view name);
  std::string explain(const CallShape& shape) const { return planner_->explain(shape); }
  std::optional<selection::Measured> best_measured(const CallShape& shape) const {
    return planner_->best_measured(shape);
  }
  selection::ByMpi by_mpi(bool only_forced) const { return planner_->by_mpi(only_forced || check_); }

 private:
  Status run_timed(const Arguments& arguments);
  Status complete_timed(CallTimer& timer);
  CallShape shape_of(const Arguments& arguments) const;
  Status prepare(const Arguments& arguments, Call& call, const Prepared*& prepared,
                 std::shared_ptr<const Prepared>* keep);
  // Nothing has been started: only by engines, which don't carry it out.
  bool is_refused(const Arguments& arguments) const;
  void launch(std::unique_ptr<Request> request, const Prepared& prepared, std::shared_ptr<const Prepared> keep);
  Status gather(const void* mine, size_t bytes, void* all);
  Status check(const Arguments& arguments);
  // Has engines make what they need for it, if it is forced.
  Status prepare_engines(schedule::Collective collective, const std::optional<selection::Spec>& wanted);
  // Advances `call`, of the first track, until it is done.
  Status complete(Call& call);
  void look_for_failure();
  // In this process's record.
  void note_call(const Prepared& prepared);

  Context& context_;
  Participants participants_;
  carriers::Engines engines_;
  Tracks tracks_;
  std::unique_ptr<Planner> planner_;
  FailureDetector failure_;
  RequestQueue requests_;
  Wait wait_;
  Closing closing_;
  std::optional<ArgumentCheck> check_;
  Call blocking_;
  Arguments last_;  // of the barrier that several nodes end with
  engines::shared_memory::RankBlock* block_;
  std::optional<uint32_t> own_tag_;
};

}  // namespace hocket::communicator
