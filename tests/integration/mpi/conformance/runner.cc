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
               const std::vector<bool>& must, uint64_t corrupt_each, bool is_strict)
    : switch_(which),
      places_(places),
      communicators_(communicators),
      must_(must),
      corrupt_each_(corrupt_each),
      is_strict_(is_strict),
      scores_(kCollectives),
      arrivals_(communicators.size()) {
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank_);
}

void Runner::fail(const Case& which, const Communicator& communicator, Score& score, const std::string& what) {
  ++score.failures;
  if (reported_++ >= kMostReports) return;
  std::fprintf(stderr, "FAILED on rank %d: %s: %s\n", world_rank_, description(which, communicator).c_str(),
               what.c_str());
}

void Runner::run(const Case& which) {
  const Communicator& communicator = communicators_[which.communicator];
  Score& score = scores_[static_cast<size_t>(which.collective)];
  ++score.cases;
  if (communicator.comm == MPI_COMM_NULL) return;
  announce(description(which, communicator), world_rank_);
  if (which.collective == Collective::kBarrier) {
    run_barrier(which, communicator, score);
  } else {
    run_data(which, communicator, score);
  }
}

Runner::Call Runner::call_counted(const Case& which, const Part& part, const Communicator& communicator, bool by_hocket,
                                  unsigned char* input, unsigned char* output) {
  switch_.turn(by_hocket);
  const uint64_t before = switch_.carried_out();
  expect_operands(part.operands);
  const int error = call(which, part, communicator, input, output);
  expect_operands(nullptr);
  const uint64_t carried_out = switch_.carried_out() - before;
  switch_.turn(true);
  Score& score = scores_[static_cast<size_t>(which.collective)];
  if (by_hocket) {
    ++score.calls;
    ++(communicator.size == 1 ? score.alone : carried_out > 0 ? score.carried_out : score.passed_through);
  }
  return {error, by_hocket && communicator.size > 1 && carried_out == 0};
}

// Nobody leaves before all have come: each counts itself first.
void Runner::run_barrier(const Case& which, const Communicator& communicator, Score& score) {
  unsigned char* common = places_.common();
  const size_t index = which.communicator * 64 + static_cast<size_t>(communicator.first_in_world);
  // Sequentially consistent, so that the order is not this program's affair: who sees too little has left too early.
  auto* count = common == nullptr ? nullptr : reinterpret_cast<std::atomic<uint32_t>*>(common) + index;
  for (const bool by_hocket : {which.is_hocket_first, !which.is_hocket_first}) {
    if (count != nullptr) count->fetch_add(1);
    ++arrivals_[which.communicator];
    const int error = call_counted(which, Part(), communicator, by_hocket, nullptr, nullptr).error;
    const char* whose = by_hocket ? "hocket" : "host";
    if (error != MPI_SUCCESS) fail(which, communicator, score, error_text(whose, error));
    if (count != nullptr && count->load() < arrivals_[which.communicator] * static_cast<uint32_t>(communicator.size)) {
      fail(which, communicator, score, std::string(whose) + ": left before all had come");
    }
  }
}

bool Runner::corrupt(const Case& which, const Image& input, const Image& output, unsigned char* in,
                     unsigned char* out) {
  if (corrupt_each_ == 0 || which.number % corrupt_each_ != 0) return false;
  const bool is_input = which.salt % 4 == 0;
  const std::vector<size_t> bytes = compared_bytes(is_input ? input : output);
  // Data rather than what lies around it, half of the times.
  size_t at = bytes[which.salt / 4 % bytes.size()];
  for (size_t i = 0; which.salt % 8 < 4 && i < bytes.size(); ++i) {
    const size_t other = bytes[(which.salt / 8 + i) % bytes.size()];
    if ((is_input ? input : output).meaning[other] != Byte::kData) continue;
    at = other;
    break;
  }
  (is_input ? in : out)[at] ^= static_cast<unsigned char>(1u << which.salt / 64 % 8);
  ++corrupted_;
  return true;
}

void Runner::run_data(const Case& which, const Communicator& communicator, Score& score) {
  const bool has_host = !is_host_dangerous(which, communicator);
  if (!has_host) {
    const bool is_served = must_[static_cast<size_t>(which.collective)] && switch_.is_there();
    if (!is_served) return;
    ++score.without_host;
  }
  const Part part = make_part(which, communicator);
  const Image input = input_image(which, part);
  const Image output = output_image(which, part);
  const size_t bytes = output.before.size();
  const Buffer in(places_, which.input, 0, input.before.size());
  const Buffer by_hocket(places_, which.output, 1, bytes);
  const Buffer by_host(places_, Memory::kHeap, 1, bytes);
  std::memcpy(in.data(), input.before.data(), input.before.size());
  std::memcpy(by_hocket.data(), output.before.data(), bytes);
  std::memcpy(by_host.data(), (has_host ? output.before : output.expected).data(), bytes);
  const int foreign = foreign_operands();

  std::string wrong, doubt;
  bool is_passed_through = false;
  for (const bool is_hocket : {which.is_hocket_first, !which.is_hocket_first}) {
    if (!is_hocket && !has_host) continue;
    unsigned char* result = (is_hocket ? by_hocket : by_host).data() + output.origin;
    const Call made = call_counted(which, part, communicator, is_hocket, in.data() + input.origin, result);
    if (is_hocket) is_passed_through = made.is_passed_through || !switch_.is_there();
    append(is_hocket && switch_.is_there() ? wrong : doubt, error_text(is_hocket ? "hocket" : "host", made.error));
  }
  corrupt(which, input, output, in.data(), by_hocket.data());

  const Comparison comparison = compare(output, by_hocket.data(), by_host.data(), is_passed_through);
  append(wrong, comparison.text);
  if (std::memcmp(in.data(), input.before.data(), input.before.size()) != 0) append(wrong, "the input has changed");
  if (comparison.is_host_wrong) append(doubt, "the host's result is not what it should be");
  if (foreign_operands() != foreign) append(doubt, "the program's operation got operands of another type");
  if (comparison.has_host_left_traces) ++score.host_traces;
  if (!doubt.empty()) ++score.host_wrong;
  if (is_strict_ && !is_host_wrong(which)) append(wrong, doubt);
  if (!wrong.empty()) fail(which, communicator, score, wrong);
}

}  // namespace conformance
