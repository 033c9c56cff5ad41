// SPDX-License-Identifier: BSD-3-Clause
#include "batch_runner.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>

#include "flaws.h"
#include "last_words.h"

namespace conformance {

// One item of the batch on this rank.
struct BatchRunner::Running {
  Running(const BatchRunner& runner, const Case& from)
      : which(from), communicator(runner.communicators_[which.communicator]) {
    part = make_part(which, communicator);
    fill(0);
    in = std::make_unique<Buffer>(runner.places_, which.input, 0, input.before.size());
    out = std::make_unique<Buffer>(runner.places_, which.output, 1, output.before.size());
    call =
        std::make_unique<MadeCall>(which, part, communicator, in->data() + input.origin, out->data() + output.origin);
  }

  // What the buffers hold in this turn; they themselves stay where they are.
  void fill(uint64_t turn) {
    which.round = turn;
    input = input_image(which, part);
    output = output_image(which, part);
    if (in == nullptr) return;
    std::memcpy(in->data(), input.before.data(), input.before.size());
    std::memcpy(out->data(), output.before.data(), output.before.size());
  }
  std::string text() const { return description(which, communicator); }
  // Blocking scans may be left to the host by choice, which doesn't count.
  bool is_scan() const { return which.collective == Collective::kScan || which.collective == Collective::kExscan; }
  bool is_certainly_hockets() const { return is_carried_out && !is_scan(); }
  bool is_barrier() const { return which.collective == Collective::kBarrier; }
  bool is_persistent() const { return which.form == Form::kPersistent; }

  Case which;
  const Communicator& communicator;
  Part part;
  Image input, output;
  std::unique_ptr<Buffer> in, out;
  std::unique_ptr<MadeCall> call;
  bool has_host = true;
  bool is_served = false;
  bool is_carried_out = false;
  int error = MPI_SUCCESS;
  uint32_t arrivals = 0;  // of a barrier: how many must have come when it is over
};

namespace {

constexpr int kMostReports = 50;

// Who has come to the barriers of a communicator, where ranks share memory.
std::atomic<uint32_t>* arrivals_of(const Places& places, const Case& which, const Communicator& communicator) {
  unsigned char* common = places.common();
  const size_t index = which.communicator * 64 + static_cast<size_t>(communicator.first_in_world);
  return common == nullptr ? nullptr : reinterpret_cast<std::atomic<uint32_t>*>(common) + index;
}

}  // namespace

BatchRunner::BatchRunner(const Switch& which, const Places& places, const std::vector<Communicator>& communicators,
                         const Rules& rules)
    : switch_(which),
      places_(places),
      communicators_(communicators),
      rules_(rules),
      scores_(static_cast<size_t>(kForms * kCollectives)),
      arrivals_(communicators.size()) {
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank_);
}

BatchRunner::~BatchRunner() = default;

Score& BatchRunner::score_of(const Case& which) {
  return scores_[static_cast<size_t>(which.form) * kCollectives + static_cast<size_t>(which.collective)];
}

void BatchRunner::fail(const std::string& what) {
  ++other_failures_;
  report(what);
}

void BatchRunner::report(const std::string& what) {
  if (reported_++ >= kMostReports) return;
  std::fprintf(stderr, "FAILED on rank %d: %s (%s)\n", world_rank_, what.c_str(), where_.c_str());
}

bool BatchRunner::is_hockets(const Case& item, const Communicator& communicator) const {
  if (!rules_.must[static_cast<size_t>(item.collective)] || !switch_.is_there()) return false;
  return !is_passed_by_design(item, communicator);
}

void BatchRunner::prepare(const Batch& batch) {
  running_.clear();
  for (const Case& item : batch.items) {
    const Communicator& communicator = communicators_[item.communicator];
    ++score_of(item).cases;
    if (communicator.comm == MPI_COMM_NULL) continue;
    const bool is_served = is_hockets(item, communicator);
    const bool has_host = !is_host_dangerous_to_others(item, communicator);
    Case made = item;
    if (!is_served && !has_host) continue;
    if (!is_served && made.form != Form::kBlocking && !spare_host_among_others(made)) continue;
    running_.push_back(std::make_unique<Running>(*this, made));
    running_.back()->has_host = has_host;
    running_.back()->is_served = is_served;
  }
}

void BatchRunner::plan(Running& running) {
  running.error = running.call->make();
  if (running.error != MPI_SUCCESS) fail(running.text() + ": error " + std::to_string(running.error));
}

// In which this rank begins the calls of a turn: persistent ones where it likes.
std::vector<BatchRunner::Running*> BatchRunner::order(const Batch& batch) {
  std::vector<Running*> result;
  for (const auto& each : running_)
    if (!batch.starts_in_own_order || !each->is_persistent()) result.push_back(each.get());
  for (const auto& each : running_) {
    if (!batch.starts_in_own_order || !each->is_persistent()) continue;
    result.insert(result.begin() + static_cast<std::ptrdiff_t>(own_.below(result.size() + 1)), each.get());
  }
  return result;
}

// Persistent ones together, and the persistent message with them, or one by one.
void BatchRunner::start(const std::vector<Running*>& those, Messages* messages, std::vector<Pending>& pending) {
  std::vector<MPI_Request> requests;
  for (const Running* each : those) requests.push_back(each->call->request());
  if (messages != nullptr) {
    for (const MPI_Request request : messages->persistent()) {
      requests.insert(requests.begin() + static_cast<std::ptrdiff_t>(own_.below(requests.size() + 1)), request);
      pending.push_back({request, Pending::Sort::kPersistentMessage, 0, 0});
    }
  }
  if (requests.empty()) return;
  const std::vector<MPI_Request> before = requests;
  const bool are_several = requests.size() > 1 || own_.chance(30);
  const int error =
      are_several ? MPI_Startall(static_cast<int>(requests.size()), requests.data()) : MPI_Start(requests.data());
  if (error != MPI_SUCCESS) fail("MPI_Start or MPI_Startall: error " + std::to_string(error));
  for (const Running* each : those)
    pending.push_back({each->call->request(), Pending::Sort::kPersistentCollective, 0, 0});
  if (requests != before) fail("MPI_Start or MPI_Startall changes requests");
}

void BatchRunner::begin(Running& running, std::vector<Pending>& pending) {
  running.error = running.call->make();
  if (running.which.form == Form::kBlocking) return;
  const MPI_Request request = running.call->request();
  if (request == MPI_REQUEST_NULL)
    fail(running.text() + ": the request is null, error " + std::to_string(running.error));
  else
    pending.push_back({request, Pending::Sort::kCollective, 0, 0});
}

void BatchRunner::count_arrivals() {
  for (const auto& each : running_) {
    if (!each->is_barrier()) continue;
    std::atomic<uint32_t>* count = arrivals_of(places_, each->which, each->communicator);
    each->arrivals = ++arrivals_[each->which.communicator] * static_cast<uint32_t>(each->communicator.size);
    if (count != nullptr) count->fetch_add(1);
  }
}

std::vector<Pending> BatchRunner::begin_all(const Batch& batch, Messages& messages) {
  std::vector<Pending> pending;
  if (own_.chance(50)) pending.push_back({});
  const std::vector<Running*> calls = order(batch);
  bool has_started_message = messages.persistent().empty();
  int next_message = 0;
  for (size_t i = 0; i < calls.size();) {
    if (next_message < messages.count() && own_.chance(50)) messages.begin(next_message++, pending);
    if (own_.chance(5)) usleep(static_cast<useconds_t>(own_.below(300)));
    std::vector<Running*> together;
    const size_t most = 1 + own_.below(4);
    while (i < calls.size() && calls[i]->is_persistent() && together.size() < most) together.push_back(calls[i++]);
    if (together.empty()) {
      begin(*calls[i++], pending);
      continue;
    }
    start(together, has_started_message ? nullptr : &messages, pending);
    has_started_message = true;
  }
  if (!has_started_message) start({}, &messages, pending);
  while (next_message < messages.count()) messages.begin(next_message++, pending);
  for (size_t i = pending.size(); i > 1; --i) std::swap(pending[i - 1], pending[own_.below(i)]);
  return pending;
}

// Whether hocket has carried a call out it says when that is over: of several, if all are its own.
void BatchRunner::count_carried_out(uint64_t number) {
  uint64_t all = 0, must = 0;
  std::string text = "hocket has carried out " + std::to_string(number) + ", not";
  for (const auto& each : running_) {
    ++all;
    if (each->is_served && !each->is_scan()) ++must;
  }
  if (number < must) {
    text += " " + std::to_string(must) + ", of:";
    for (const auto& each : running_) text += " " + each->text() + ";";
    fail(text);
  }
  for (const auto& each : running_) each->is_carried_out = number >= all && number > 0;
}

void BatchRunner::look_at(const Ended& ended, const Messages& messages, uint64_t carried_out) {
  if (!ended.wrong.empty()) fail(ended.wrong);
  count_carried_out(carried_out);
  const bool are_all_hockets =
      std::all_of(running_.begin(), running_.end(), [](const auto& each) { return each->is_certainly_hockets(); });
  if (are_all_hockets && !ended.doubt.empty()) {
    std::string text = ended.doubt + " after " + std::to_string(carried_out) + " of:";
    for (const auto& each : running_) text += " " + each->text() + ";";
    fail(text);
  }
  const std::string wrong_message = messages.check();
  if (!wrong_message.empty()) fail(wrong_message);
}

void BatchRunner::run_turn(const Batch& batch, uint64_t turn, Messages& messages) {
  messages.fill(turn);
  for (const auto& each : running_) {
    each->fill(turn);
    each->error = MPI_SUCCESS;
  }
  count_arrivals();
  const uint64_t before = switch_.carried_out();  // the reckoning above calls MPI_Reduce_local, which counts, too
  std::vector<Pending> pending = begin_all(batch, messages);
  const Ended ended = complete(pending, own_);
  look_at(ended, messages, switch_.carried_out() - before);
}

void BatchRunner::corrupt(const Batch& batch, Running& running) {
  if (rules_.corrupt_each == 0 || batch.number % rules_.corrupt_each != 0 || &running != running_.back().get()) return;
  std::vector<size_t> bytes;
  for (size_t i = 0; i < running.output.meaning.size(); ++i)
    if (running.output.meaning[i] != Byte::kUndefined) bytes.push_back(i);
  running.out->data()[bytes[batch.salt % bytes.size()]] ^= 1;
  ++corrupted_;
}

// By its blocking call, in a buffer of its own.
void BatchRunner::judge_data(const Batch& batch, Running& running) {
  Score& score = score_of(running.which);
  const Image& output = running.output;
  std::string wrong, doubt;
  if (running.error != MPI_SUCCESS) wrong = "error " + std::to_string(running.error);
  if (running.which.round == 0) corrupt(batch, running);
  std::vector<unsigned char> by_host = running.has_host ? output.before : output.expected;
  if (running.has_host) {
    const Case one = in_form(running.which, Form::kBlocking);
    MadeCall host(one, running.part, running.communicator, running.in->data() + running.input.origin,
                  by_host.data() + output.origin);
    const int error = host.make();
    if (error != MPI_SUCCESS) doubt = "the host's blocking call: error " + std::to_string(error);
  } else {
    ++score.without_host;
  }
  const Comparison comparison = compare(output, running.out->data(), by_host.data(), !running.is_carried_out);
  wrong += comparison.text;
  if (std::memcmp(running.in->data(), running.input.before.data(), running.input.before.size()) != 0)
    wrong += " the input has changed";
  if (comparison.is_host_wrong) doubt += " the host's result is not what it should be";
  if (comparison.has_host_left_traces) ++score.host_traces;
  if (!doubt.empty()) ++score.host_wrong;
  if (rules_.is_strict && !is_host_wrong(running.which)) wrong += doubt;
  if (wrong.empty()) return;
  ++score.failures;
  report(running.text() + ", turn " + std::to_string(running.which.round) + ": " + wrong);
}

void BatchRunner::compare_with_host(const Batch& batch, Running& running) {
  Score& score = score_of(running.which);
  ++score.calls;
  uint64_t& by_hocket = running.communicator.size == 1 ? score.alone : score.carried_out;
  ++(running.is_carried_out                                       ? by_hocket
     : running.which.form == Form::kBlocking || running.is_served ? score.together
     : is_passed_by_design(running.which, running.communicator)   ? score.by_design
                                                                  : score.together);
  if (!running.is_barrier()) return judge_data(batch, running);
  const std::atomic<uint32_t>* count = arrivals_of(places_, running.which, running.communicator);
  const bool is_early = count != nullptr && count->load() < running.arrivals;
  if (!is_early && running.error == MPI_SUCCESS) return;
  ++score.failures;
  report(running.text() + ": " + (is_early ? "it was over before all had come" : "error") + " " +
         std::to_string(running.error));
}

void BatchRunner::run(const Batch& batch) {
  where_ = description(batch);
  own_ = Random(hash(batch.salt, 77, static_cast<uint64_t>(world_rank_)));
  prepare(batch);
  std::string text = where_ + ":";
  for (const auto& each : running_) text += " " + each->text() + ";";
  announce(text, world_rank_);
  const int foreign = foreign_operands();
  for (const auto& each : running_) expect_operands(each->part.operands);
  switch_.turn(true);
  Messages messages(batch.messages, batch.has_persistent_message, batch.salt);
  for (const auto& each : running_)
    if (each->is_persistent()) plan(*each);
  for (uint64_t turn = 0; turn < batch.turns; ++turn) {
    switch_.turn(true);
    run_turn(batch, turn, messages);
    switch_.turn(false);
    for (const auto& each : running_) compare_with_host(batch, *each);
  }
  switch_.turn(true);
  for (const auto& each : running_) {
    if (!each->is_persistent() || each->error != MPI_SUCCESS) continue;
    const int error = each->call->free();
    if (error != MPI_SUCCESS || !each->call->complaint().empty())
      fail("MPI_Request_free: error " + std::to_string(error) + " " + each->call->complaint() + " of " + each->text());
  }
  if (foreign_operands() != foreign) fail("the program's operation got operands of another type");
  forget_operands();
}

}  // namespace conformance
