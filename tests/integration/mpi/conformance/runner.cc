// SPDX-License-Identifier: BSD-3-Clause
#include "runner.h"

#include <atomic>
#include <cstdio>
#include <cstring>

#include "flaws.h"
#include "last_words.h"
#include "random.h"

namespace conformance {
namespace {

constexpr int kMostReports = 50;

void append(std::string& text, const std::string& more) {
  if (!text.empty() && !more.empty()) text += "; ";
  text += more;
}

std::string error_text(const char* whose, int error) {
  if (error == MPI_SUCCESS) return {};
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(error, text, &length);
  return std::string(whose) + ": " + std::string(text).substr(0, std::strcspn(text, ",\n"));
}

// Where a case may be corrupted: bytes that are compared.
std::vector<size_t> compared_bytes(const Image& image) {
  std::vector<size_t> all;
  for (size_t i = 0; i < image.meaning.size(); ++i) {
    if (image.meaning[i] != Byte::kUndefined) all.push_back(i);
  }
  return all;
}

}  // namespace

Runner::Runner(const Switch& which, const Places& places, const std::vector<Communicator>& communicators,
               const Rules& rules)
    : switch_(which),
      places_(places),
      communicators_(communicators),
      rules_(rules),
      scores_(static_cast<size_t>(kForms * kCollectives)),
      arrivals_(communicators.size()) {
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank_);
}

Score& Runner::score_of(const Case& which) {
  return scores_[static_cast<size_t>(which.form) * kCollectives + static_cast<size_t>(which.collective)];
}

void Runner::fail(const Case& which, const Communicator& communicator, const std::string& what) {
  ++score_of(which).failures;
  if (reported_++ >= kMostReports) return;
  std::fprintf(stderr, "FAILED on rank %d: %s: %s\n", world_rank_, description(which, communicator).c_str(),
               what.c_str());
}

void Runner::run(const Case& which) {
  const Communicator& communicator = communicators_[which.communicator];
  const std::vector<Form> forms = forms_of(which, rules_.forms);
  for (const Form form : forms) ++score_of(in_form(which, form)).cases;
  if (communicator.comm == MPI_COMM_NULL) return;
  const std::vector<Case> made = made_in(forms, which, communicator);
  if (made.empty()) return;
  if (which.collective == Collective::kBarrier) {
    run_barriers(which, communicator, made);
  } else {
    run_data(which, communicator, made);
  }
}

std::vector<Case> Runner::made_in(const std::vector<Form>& forms, const Case& which,
                                  const Communicator& communicator) const {
  std::vector<Case> all;
  for (const Form form : forms) {
    Case one = in_form(which, form);
    const bool is_hosts = form != Form::kBlocking && (!switch_.is_there() || is_passed_by_design(one, communicator));
    if (!is_hosts || spare_host(one)) all.push_back(one);
  }
  return all;
}

bool Runner::count_call(const Case& which, const Communicator& communicator, uint64_t before) {
  const bool is_carried_out = switch_.carried_out() != before;
  Score& score = score_of(which);
  ++score.calls;
  uint64_t& by_hocket = communicator.size == 1 ? score.alone : score.carried_out;
  ++(is_carried_out ? by_hocket : is_passed_by_design(which, communicator) ? score.by_design : score.passed_through);
  return !is_carried_out;
}

// --- barriers --------------------------------------------------------------------------------------------------------

void Runner::run_barriers(const Case& which, const Communicator& communicator, const std::vector<Case>& made) {
  if (!which.is_hocket_first) run_barrier(in_form(which, Form::kBlocking), communicator, false);
  for (const Case& one : made) run_barrier(one, communicator, true);
  if (which.is_hocket_first) run_barrier(in_form(which, Form::kBlocking), communicator, false);
}

// Nobody leaves before all have come: each counts itself first.
void Runner::run_barrier(const Case& which, const Communicator& communicator, bool by_hocket) {
  announce(description(which, communicator), world_rank_);
  unsigned char* common = places_.common();
  const size_t index = which.communicator * 64 + static_cast<size_t>(communicator.first_in_world);
  // Sequentially consistent, so that the order is not this program's affair: who sees too little has left too early.
  auto* count = common == nullptr ? nullptr : reinterpret_cast<std::atomic<uint32_t>*>(common) + index;
  const char* whose = by_hocket ? "hocket" : "host";
  switch_.turn(by_hocket);
  const uint64_t before = switch_.carried_out();
  const Part part;
  MadeCall call(which, part, communicator, nullptr, nullptr);
  int error = which.form == Form::kPersistent ? call.make() : MPI_SUCCESS;
  for (int i = 0; i < which.starts && error == MPI_SUCCESS; ++i) {
    if (count != nullptr) count->fetch_add(1);
    ++arrivals_[which.communicator];
    error = which.form == Form::kPersistent ? call.start() : call.make();
    if (error == MPI_SUCCESS && which.form != Form::kBlocking) error = call.end();
    if (by_hocket) count_call(which, communicator, before);
    if (count != nullptr && count->load() < arrivals_[which.communicator] * static_cast<uint32_t>(communicator.size))
      fail(which, communicator, std::string(whose) + ": left before all had come");
  }
  if (error == MPI_SUCCESS && which.form == Form::kPersistent) error = call.free();
  switch_.turn(true);
  std::string wrong = error_text(whose, error);
  append(wrong, call.complaint());
  if (!wrong.empty()) fail(which, communicator, wrong);
}

// --- data ------------------------------------------------------------------------------------------------------------

void Runner::corrupt(const Case& which, Trial& trial, const Round& round) {
  if (trial.is_corrupted || rules_.corrupt_each == 0 || which.number % rules_.corrupt_each != 0) return;
  const bool is_input = which.salt % 4 == 0;
  const Image& image = is_input ? round.input : round.output;
  const std::vector<size_t> bytes = compared_bytes(image);
  // Data rather than what lies around it, half of the times.
  size_t at = bytes[which.salt / 4 % bytes.size()];
  for (size_t i = 0; which.salt % 8 < 4 && i < bytes.size(); ++i) {
    const size_t other = bytes[(which.salt / 8 + i) % bytes.size()];
    if (image.meaning[other] != Byte::kData) continue;
    at = other;
    break;
  }
  (is_input ? trial.in : trial.out).data()[at] ^= static_cast<unsigned char>(1u << which.salt / 64 % 8);
  trial.is_corrupted = true;
  ++corrupted_;
}

Runner::Round Runner::make_round(const Case& which, const Part& part, bool has_host) const {
  Round round;
  round.input = input_image(which, part);
  round.output = output_image(which, part);
  round.is_host_asked = !has_host;
  round.host = has_host ? round.output.before : round.output.expected;
  return round;
}

void Runner::fill(const Trial& trial, const Round& round) const {
  std::memcpy(trial.in.data(), round.input.before.data(), round.input.before.size());
  std::memcpy(trial.out.data(), round.output.before.data(), round.output.before.size());
}

void Runner::check_input(const Case& which, Trial& trial, const Round& round) {
  corrupt(which, trial, round);
  const std::vector<unsigned char>& right = round.input.before;
  if (std::memcmp(trial.in.data(), right.data(), right.size()) != 0) append(trial.wrong, "the input has changed");
}

// By its blocking call, whatever hocket's form is.
void Runner::ask_host(const Case& which, Trial& trial, Round& round) {
  if (round.is_host_asked) return;
  const Case one = in_form(which, Form::kBlocking);
  announce(description(one, trial.communicator), world_rank_);
  std::memcpy(trial.in.data(), round.input.before.data(), round.input.before.size());
  const int foreign = foreign_operands();
  switch_.turn(false);
  expect_operands(trial.part.operands);
  MadeCall call(one, trial.part, trial.communicator, trial.in.data() + round.input.origin,
                round.host.data() + round.output.origin);
  append(trial.doubt, error_text("host", call.make()));
  forget_operands();
  switch_.turn(true);
  round.is_host_asked = true;
  if (foreign_operands() != foreign) append(trial.doubt, "the program's operation got operands of another type");
  if (std::memcmp(trial.in.data(), round.input.before.data(), round.input.before.size()) != 0)
    append(trial.wrong, "the input has changed by the host's call");
}

void Runner::judge(const Case& which, Trial& trial, const Round& round, bool is_passed_through) {
  const Comparison comparison = compare(round.output, trial.out.data(), round.host.data(), is_passed_through);
  Score& score = score_of(which);
  append(trial.wrong, comparison.text);
  if (comparison.is_host_wrong) append(trial.doubt, "the host's result is not what it should be");
  if (comparison.has_host_left_traces) ++score.host_traces;
  if (!trial.doubt.empty()) ++score.host_wrong;
  if (rules_.is_strict && !is_host_wrong(which)) append(trial.wrong, trial.doubt);
  if (!trial.wrong.empty()) fail(which, trial.communicator, trial.wrong);
  trial.wrong.clear();
  trial.doubt.clear();
}

void Runner::run_once(const Case& which, Trial& trial, Round& round) {
  announce(description(which, trial.communicator), world_rank_);
  fill(trial, round);
  expect_operands(trial.part.operands);
  const uint64_t before = switch_.carried_out();
  MadeCall call(which, trial.part, trial.communicator, trial.in.data() + round.input.origin,
                trial.out.data() + round.output.origin);
  int error = call.make();
  if (error == MPI_SUCCESS && which.form == Form::kStarted) error = call.end();
  const bool is_passed_through = count_call(which, trial.communicator, before) || !switch_.is_there();
  forget_operands();
  append(switch_.is_there() ? trial.wrong : trial.doubt, error_text("hocket", error));
  append(trial.wrong, call.complaint());
  check_input(which, trial, round);
  ask_host(which, trial, round);
  judge(which, trial, round, is_passed_through);
}

// Data lie in the buffers only when the call is started, and others in every second start.
void Runner::run_persistent(const Case& which, Trial& trial, Round& round, bool has_host) {
  Case changed = which;
  changed.round = 1;
  Round other = make_round(changed, trial.part, has_host);
  announce(description(which, trial.communicator), world_rank_);
  std::memset(trial.in.data(), 0xA5, round.input.before.size());
  std::memset(trial.out.data(), 0x5A, round.output.before.size());
  const uint64_t before = switch_.carried_out();
  MadeCall call(which, trial.part, trial.communicator, trial.in.data() + round.input.origin,
                trial.out.data() + round.output.origin);
  int error = call.make();
  for (int i = 0; i < which.starts && error == MPI_SUCCESS; ++i) {
    const Case& one = i % 2 == 0 ? which : changed;
    Round& now = i % 2 == 0 ? round : other;
    announce(description(one, trial.communicator), world_rank_);
    fill(trial, now);
    expect_operands(trial.part.operands);
    error = call.start();
    if (error == MPI_SUCCESS) error = call.end();
    forget_operands();
    const bool is_passed_through = count_call(which, trial.communicator, before) || !switch_.is_there();
    append(trial.wrong, call.complaint());
    check_input(which, trial, now);
    ask_host(one, trial, now);
    judge(one, trial, now, is_passed_through);
  }
  if (error == MPI_SUCCESS) error = call.free();
  std::string wrong = error_text("hocket", error);
  append(wrong, call.complaint());
  if (!wrong.empty()) fail(which, trial.communicator, wrong);
}

void Runner::run_data(const Case& which, const Communicator& communicator, const std::vector<Case>& made) {
  const bool has_host = !is_host_dangerous(which, communicator);
  const bool is_served = rules_.must[static_cast<size_t>(which.collective)] && switch_.is_there();
  if (!has_host && !is_served) return;
  const Part part = make_part(which, communicator);
  Round round = make_round(which, part, has_host);
  const Buffer in(places_, which.input, 0, round.input.before.size());
  const Buffer out(places_, which.output, 1, round.output.before.size());
  Trial trial{communicator, part, in, out, {}, {}, false};
  if (!which.is_hocket_first) ask_host(which, trial, round);
  for (const Case& one : made) {
    if (!has_host) {
      if (is_passed_by_design(one, communicator)) continue;
      ++score_of(one).without_host;
    }
    one.form == Form::kPersistent ? run_persistent(one, trial, round, has_host) : run_once(one, trial, round);
  }
}

}  // namespace conformance
