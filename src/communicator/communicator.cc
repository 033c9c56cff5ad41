// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/communicator.h"

#include <algorithm>
#include <utility>

#include "communicator/setup/setup.h"
#include "communicator/timing/call_times.h"
#include "communicator/timing/traced_call.h"
#include "platform/tracing/tracer.h"

namespace hocket::communicator {

using engines::Progress;
using engines::shared_memory::RankBlock;

Communicator::Communicator(Context& context, Parts parts)
    : context_(context),
      participants_(std::move(parts.participants)),
      engines_(std::move(parts.engines)),
      tracks_(participants_, engines_),
      planner_(std::move(parts.planner)),
      failure_(participants_, tracks_, engines_, context.vocabulary(), context.late_policy()),
      requests_(tracks_, failure_),
      wait_(context, participants_, tracks_, requests_, failure_, parts.policy),
      closing_(participants_, tracks_, failure_),
      block_(parts.block),
      own_tag_(parts.own_tag) {
  context_.communicator_made();
  participants_.noted = platform::note_communicator(participants_.number, participants_.rank, participants_.size, "");
  if (platform::is_traced()) announce_track(participants_);
  tracks_.make(0, std::move(parts.lane), std::move(parts.channel));
  if (participants_.span_nodes()) planner_->use(engines_);
  if (parts.checks_arguments) check_.emplace(participants_.rank, participants_.size, context.vocabulary());
}

void Communicator::rename(std::string_view name) {
  platform::rename_communicator(participants_.noted, name);
  name_in_trace(participants_, name);
}

Result<std::unique_ptr<Communicator>> Communicator::create(Context& context, const Bootstrap& bootstrap) {
  return Setup(context, bootstrap).run();
}

Communicator::~Communicator() {
  context_.communicator_gone();
  platform::forget_communicator(participants_.noted);
  if (!closing_.is_quiet()) {
    // Peers that have not noticed yet may still write here; the memory stays theirs until the context goes.
    tracks_.for_each([](Track& track) { track.lane().abandon(); });
    return;
  }
  tracks_.drop();
  engines_ = carriers::Engines();
  if (own_tag_) context_.tags()->give_back(*own_tag_);
  if (block_ != nullptr) context_.region().free(block_);
}

// Without what vector versions tell.
CallShape Communicator::shape_of(const Arguments& arguments) const {
  CallShape shape;
  shape.collective = arguments.collective;
  shape.keep_order = !arguments.combiner.commutative;
  shape.in_place = runs_in_place(arguments);
  shape.root = arguments.root;
  shape.count = arguments.count;
  shape.element_bytes = arguments.combiner.element_bytes;
  if (participants_.span_nodes() && schedule::combines(arguments.collective)) {
    shape.operation = arguments.combiner.operation;
    shape.type = static_cast<reduction::Type>(arguments.combiner.type);
  }
  return shape;
}

Status Communicator::prepare(const Arguments& arguments, Call& call, const Prepared*& prepared,
                             std::shared_ptr<const Prepared>* keep) {
  if (failure_.is_broken()) [[unlikely]]
    return failure_.broken();
  CallShape shape = shape_of(arguments);
  if (schedule::is_vector(arguments.collective)) [[unlikely]] {
    if (schedule::is_among_neighbors(arguments.collective)) {
      const Neighbourhoods::Shared neighbours = planner_->neighbourhoods()->find(arguments.root);
      if (neighbours != nullptr) call.read_blocks(arguments, *neighbours, participants_.rank, keep != nullptr);
      shape.count = 0;
    } else {
      call.read_blocks(arguments, participants_.size, keep != nullptr);
    }
    const bool agreed = schedule::lengths_are_agreed(arguments.collective);
    shape.count = agreed ? call.blocks().longest() : 0;
    shape.row = agreed ? call.blocks().total() : 0;
  }
  prepared = planner_->recent(shape);
  if (prepared != nullptr && keep == nullptr) return Status::ok();
  Result<std::shared_ptr<const Prepared>> made = planner_->prepare(shape);
  if (!made.is_ok()) return made.take_status();
  prepared = made.value().get();
  if (keep != nullptr) *keep = made.take();
  return Status::ok();
}

// Peers that are in the call already would wait for ever for a rank that fails alone.
void Communicator::break_after_exception(const char* what) {
  (void)failure_.fail(Status(Code::kBroken, "rank " + std::to_string(rank()) + " of " + std::to_string(size()) +
                                                " could not go on with a collective: " + what));
}

void Communicator::abort(const std::string& reason) {
  (void)failure_.fail(Status(Code::kBroken, "rank " + std::to_string(rank()) + " of " + std::to_string(size()) +
                                                " has given the communicator up: " + reason));
}

// --- blocking calls --------------------------------------------------------------------------------------------------

Status Communicator::run(const Arguments& arguments) {
  if (check_) [[unlikely]]
    HOCKET_TRY(check(arguments));
  if (calls_are_timed()) [[unlikely]]
    return run_timed(arguments);
  const Prepared* prepared = nullptr;
  HOCKET_TRY(prepare(arguments, blocking_, prepared, nullptr));
  blocking_.start(arguments, *prepared);
  note_call(*prepared);
  return complete(blocking_);
}

// Relaxed, all: see record.h.
void Communicator::note_call(const Prepared& prepared) {
  platform::ThreadLine* const line = platform::own_line();
  if (line == nullptr) return;
  line->communicator.store(participants_.number, std::memory_order_relaxed);
  line->number.store(tracks_.first().lane().announced() + 1, std::memory_order_relaxed);
  line->bytes.store(prepared.signature.bytes, std::memory_order_relaxed);
  line->root.store(prepared.shape.root, std::memory_order_relaxed);
  line->algorithm.store(prepared.algorithm_number, std::memory_order_relaxed);
}

Status Communicator::complete(Call& call) {
  Status failure;
  Track& track = tracks_.first();
  wait_.arrive();
  const auto is_done = [&] {
    track.poll();
    return call.advance(track, failure) == Progress::kDone;
  };
  if (!is_done()) {
    HOCKET_TRY(
        wait_.until(is_done, [&] { return requests_.running() == 0 ? call.awaits(track) : RankBlock::kAnything; }));
  }
  return failure.is_ok() ? Status::ok() : failure_.fail(std::move(failure));
}

// By a call of its own.
Status Communicator::gather(const void* mine, size_t bytes, void* all) {
  Arguments exchange;
  exchange.collective = schedule::Collective::kAllgather;
  exchange.input = static_cast<const std::byte*>(mine);
  exchange.output = static_cast<std::byte*>(all);
  exchange.count = bytes;
  const Prepared* prepared = nullptr;
  Call call;
  HOCKET_TRY(prepare(exchange, call, prepared, nullptr));
  call.start(exchange, *prepared);
  return complete(call);
}

// Before the call proper.
Status Communicator::check(const Arguments& arguments) {
  Status difference;
  const bool is_among_neighbors = schedule::is_among_neighbors(arguments.collective);
  const Neighbourhoods::Shared neighbours =
      is_among_neighbors ? planner_->neighbourhoods()->find(arguments.root) : nullptr;
  HOCKET_TRY(check_->compare(
      arguments, neighbours.get(),
      [this](const void* mine, size_t bytes, void* all) { return gather(mine, bytes, all); }, difference));
  return difference.is_ok() ? Status::ok() : failure_.fail(std::move(difference));
}

// --- non-blocking calls ----------------------------------------------------------------------------------------------

namespace {

// All ranks refuse it alike: nothing has been started.
Status refused_for_engines() { return {Code::kNotSupported, "NIC engines don't carry this call out by themselves"}; }

}  // namespace

bool Communicator::may_go_by_engines(const Arguments& arguments) const {
  return may_run_by_engines() && planner_->candidate_for(shape_of(arguments)) != nullptr;
}

bool Communicator::is_refused(const Arguments& arguments) const {
  return arguments.only_by_engines && !may_go_by_engines(arguments);
}

// From here on the request is the queue's, until it is retired.
void Communicator::launch(std::unique_ptr<Request> request, const Prepared& prepared,
                          std::shared_ptr<const Prepared> keep) {
  request->done.store(false, std::memory_order_relaxed);
  request->call.start(request->arguments, prepared, std::move(keep));
  requests_.advance(requests_.push(std::move(request))->track);
}

Result<Request*> Communicator::start(const Arguments& arguments) {
  const bool only_by_engines = arguments.only_by_engines;
  if (is_refused(arguments)) return refused_for_engines();
  if (check_ && !arguments.is_unchecked) HOCKET_TRY(check(arguments));
  std::unique_ptr<Request> request = requests_.take_spare();
  const Prepared* prepared = nullptr;
  std::shared_ptr<const Prepared> keep;
  Status planned = prepare(arguments, request->call, prepared, &keep);
  if (!planned.is_ok()) return only_by_engines && !failure_.is_broken() ? refused_for_engines() : std::move(planned);
  if (only_by_engines && !prepared->runs_by_itself) return refused_for_engines();
  request->track = requests_.next_track();
  if (Result<Track*> track = tracks_.open(request->track); !track.is_ok()) return failure_.fail(track.take_status());
  request->communicator = this;
  request->arguments = arguments;
  Request* const started = request.get();
  launch(std::move(request), *prepared, std::move(keep));
  return started;
}

Result<Request*> Communicator::plan(const Arguments& arguments, uint32_t track) {
  if (is_refused(arguments)) return refused_for_engines();
  auto request = std::make_unique<Request>();
  request->communicator = this;
  request->arguments = arguments;
  request->is_kept = true;
  request->own_track = track;
  request->done.store(true, std::memory_order_relaxed);
  const Prepared* prepared = nullptr;
  Status planned = prepare(request->arguments, request->call, prepared, &request->plan);
  if (!planned.is_ok())
    return arguments.only_by_engines && !failure_.is_broken() ? refused_for_engines() : std::move(planned);
  if (arguments.only_by_engines && !prepared->runs_by_itself) return refused_for_engines();
  if (schedule::is_vector(arguments.collective)) request->call.blocks().point_at_copies(request->arguments);
  return request.release();
}

// Who may force other algorithms may make engines forget those that were planned: then it is looked up anew. They carry
// no vector versions, whose arrays may have gone.
Status Communicator::start(Request* kept) {
  if (check_ && !kept->arguments.is_unchecked) HOCKET_TRY(check(kept->arguments));
  if (failure_.is_broken()) return failure_.broken();
  if (engines_.have_rules() && !schedule::is_vector(kept->arguments.collective)) {
    const Prepared* prepared = nullptr;
    HOCKET_TRY(prepare(kept->arguments, kept->call, prepared, &kept->plan));
  }
  kept->track = kept->own_track != 0 ? kept->own_track : requests_.next_track();
  if (Result<Track*> track = tracks_.open(kept->track); !track.is_ok()) return failure_.fail(track.take_status());
  kept->done.store(false, std::memory_order_relaxed);
  if (kept->call.keeps(*kept->plan))
    kept->call.start_again();
  else
    kept->call.start(kept->arguments, *kept->plan, kept->plan);
  requests_.advance(requests_.push(std::unique_ptr<Request>(kept))->track);
  return Status::ok();
}

void Communicator::look_for_failure() {
  if (!failure_.is_broken() && failure_.look_now_and_then()) requests_.advance();
}

void Communicator::advance_pending() {
  if (requests_.running() == 0) return;
  requests_.advance();
  if (requests_.running() != 0) look_for_failure();
}

bool Communicator::advance_pending_alone() {
  if (requests_.running() == 0) return false;
  const uint64_t before = requests_.moves();
  requests_.advance();
  if (requests_.running() != 0 && !participants_.span_nodes()) look_for_failure();
  return requests_.moves() != before;
}

bool Communicator::test(Request* request, Status& status) {
  if (!request->done) {
    requests_.advance();
    // A loop of tests without a wait: the library underneath must move and a dead peer be noticed all the same.
    context_.progress();
    if (!request->done) look_for_failure();
    if (!request->done) return false;
  }
  status = requests_.retire(request);
  return true;
}

Status Communicator::wait(Request* request) {
  await(request);
  return requests_.retire(request);
}

void Communicator::await(Request* request) {
  const auto is_done = [&] {
    if (!request->done) requests_.advance(request->track);
    return request->done.load(std::memory_order_acquire);
  };
  if (!is_done()) {
    requests_.await(1);
    const Status waited = wait_.until(is_done, [] { return RankBlock::kAnything; });
    requests_.await(0);
    if (!waited.is_ok()) requests_.advance();  // the communicator is broken: every request ends with the reason
  }
}

// --- the end ---------------------------------------------------------------------------------------------------------

Status Communicator::leave() {
  if (closing_.has_started()) return Status::ok();
  if (requests_.unretired() != 0) {
    return Status(Code::kInvalidArgument, "the communicator has " + std::to_string(requests_.unretired()) +
                                              " requests that have not been tested or waited for to their end");
  }
  const Prepared* barrier = nullptr;
  const bool has_barrier = closing_.needs_barrier() && prepare(last_, blocking_, barrier, nullptr).is_ok();
  if (has_barrier) blocking_.start(last_, *barrier);
  closing_.begin(has_barrier ? &blocking_ : nullptr);
  return Status::ok();
}

Status Communicator::close() {
  HOCKET_TRY(leave());
  wait_.poll_until([&] { return has_left(); });
  return Status::ok();
}

Status Communicator::force(schedule::Collective collective, std::string_view spec) {
  std::optional<selection::Spec> wanted;
  if (!spec.empty()) {
    Result<selection::Spec> parsed = selection::parse_spec(collective, spec);
    if (!parsed.is_ok()) return parsed.take_status();
    wanted = parsed.take();
  }
  if (!engines_.have_rules()) {
    planner_->force(collective, wanted);
    return Status::ok();
  }
  // Engines of all ranks, or of none.
  if (failure_.is_broken()) return failure_.broken();
  Status prepared = prepare_engines(collective, wanted);
  const std::byte mine{prepared.is_ok()};
  std::vector<std::byte> all(size());
  HOCKET_TRY(gather(&mine, sizeof mine, all.data()));
  const auto against = std::find(all.begin(), all.end(), std::byte{0});
  engines_.adopt(against == all.end());
  if (against == all.end()) planner_->force(collective, wanted);
  if (against == all.end() || !prepared.is_ok()) return prepared;
  const std::string rank = "rank " + std::to_string(against - all.begin());
  const std::string what = spec.empty() ? "what the table says" : std::string("`").append(spec).append("`");
  return {Code::kInvalidArgument, what + " is not forced: " + rank + "'s NIC engine can't hold it, or " + rank +
                                      " has calls under way; its own error says which"};
}

Status Communicator::prepare_engines(schedule::Collective collective, const std::optional<selection::Spec>& wanted) {
  if (requests_.unretired() != 0)
    return {Code::kInvalidArgument,
            "engines carry out the communicator's calls, of which some are under way; wait for "
            "them before another algorithm is forced"};
  const std::optional<selection::Spec> before = planner_->force(collective, wanted);
  Status prepared = engines_.prepare(*planner_);
  planner_->force(collective, before);
  return prepared;
}

}  // namespace hocket::communicator
