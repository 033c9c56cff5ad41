// SPDX-License-Identifier: BSD-3-Clause
#include "bench/contest.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "base/clock.h"
#include "words/median.h"

namespace hocket::bench {
namespace {

constexpr uint64_t kLongestBatch = 2000;
constexpr uint64_t kIsolatedCalls = 10;  // of one variant in one round
constexpr int kProbes = 3;

double time_us() { return static_cast<double>(now_ns()) / 1000; }

}  // namespace

Contest::Contest(const Options& options, const Cell& cell, World& world, const Buffers& buffers,
                 std::span<Variant* const> variants)
    : options_(options), cell_(cell), world_(world), buffers_(buffers) {
  for (Variant* variant : variants) contestants_.push_back({variant});
}

double Contest::agreed(double value) {
  world_.maximum({&value, 1});
  return value;
}

void Contest::call(Contestant& contestant, int root) {
  const int code = contestant.variant->run({cell_.collective, buffers_.input, buffers_.output, cell_.count, root});
  if (code != 0) throw std::runtime_error(place(contestant) + ": " + contestant.variant->error(code));
}

std::string Contest::place(const Contestant& contestant) const {
  return std::string(name(cell_.collective)) + " of " + std::to_string(cell_.bytes) + " bytes on " +
         std::to_string(world_.size()) + " ranks, " + contestant.variant->name() + ", rank " +
         std::to_string(world_.rank());
}

void Contest::verify(size_t index, bool results) {
  Contestant& contestant = contestants_[index];
  contestant.why_not = contestant.variant->activate(cell_.collective);
  if (!contestant.why_not.empty()) return;
  const int last = schedule::has_root(cell_.collective) ? world_.size() - 1 : 0;
  for (int root : {0, last}) {
    if (results) fill(options_, cell_, world_, root, buffers_);
    const int code = contestant.variant->run({cell_.collective, buffers_.input, buffers_.output, cell_.count, root});
    if (code != 0) {
      // Not for this size, or not on that many ranks: the same on all ranks, since choices are.
      contestant.why_not = contestant.variant->error(code);
      return;
    }
    const std::string wrong = results ? check(options_, cell_, world_, root, buffers_) : "";
    if (!wrong.empty()) throw std::runtime_error(place(contestant) + ": wrong result: " + wrong);
    // A slower rank may still be reading what the next fill() changes.
    world_.synchronize();
  }
  contestant.why_not = contestant.variant->doubt();
}

double Contest::probe_us(size_t index) {
  Contestant& contestant = contestants_[index];
  begin_batch(contestant);
  double shortest_us = 0;
  for (int probe = 0; probe < kProbes; ++probe) {
    world_.synchronize();
    const double begin = time_us();
    call(contestant, 0);
    const double took_us = agreed(time_us() - begin);
    shortest_us = probe == 0 ? took_us : std::min(shortest_us, took_us);
  }
  return shortest_us;
}

// As many calls as make a batch long enough; the same number on all ranks, for it comes from an agreed time.
void Contest::calibrate(size_t index) {
  Contestant& contestant = contestants_[index];
  uint64_t calls = 1;
  double took_us = timed(contestant, 1);  // caches and plans are filled
  while ((took_us = timed(contestant, calls)) < options_.batch_us / 10 && calls < kLongestBatch) calls *= 4;
  const double wanted = options_.batch_us * static_cast<double>(calls) / std::max(took_us, 0.01);
  const auto ranks = static_cast<uint64_t>(world_.size());
  uint64_t batch = std::clamp<uint64_t>(static_cast<uint64_t>(wanted), 1, kLongestBatch);
  // Every rank is the root equally often.
  if (schedule::has_root(cell_.collective)) batch = (batch + ranks - 1) / ranks * ranks;
  contestant.batch_calls = batch;
}

void Contest::begin_batch(Contestant& contestant) {
  if (!contestant.variant->activate(cell_.collective).empty() || !contestant.variant->starts_cold()) return;
  // Every root has a plan of its own.
  const int roots = schedule::has_root(cell_.collective) && cell_.timing == Timing::kBackToBack ? world_.size() : 1;
  for (int root = 0; root < roots; ++root) call(contestant, root);
}

// The slowest rank's time of that many calls.
double Contest::timed(Contestant& contestant, uint64_t calls) {
  begin_batch(contestant);
  world_.synchronize();
  const int size = world_.size();
  const bool rooted = schedule::has_root(cell_.collective);
  int root = 0;
  const double begin = time_us();
  for (uint64_t i = 0; i < calls; ++i) {
    call(contestant, root);
    if (rooted && ++root == size) root = 0;
  }
  const double took_us = time_us() - begin;
  // A rank that has finished waits lightly: in an MPI's own call it might keep the core from those that have not.
  world_.synchronize();
  return agreed(took_us);
}

void Contest::batch(Contestant& contestant) {
  if (!contestant.why_not.empty()) return;
  if (cell_.timing == Timing::kBackToBack) {
    const double took_us = timed(contestant, contestant.batch_calls);
    contestant.samples_us.push_back(took_us / static_cast<double>(contestant.batch_calls));
    contestant.calls += contestant.batch_calls;
    return;
  }
  begin_batch(contestant);
  for (uint64_t i = 0; i < kIsolatedCalls; ++i) {
    // A barrier is preceded by one of its own kind: how unevenly another kind lets its ranks go, above all when the
    // machine is busy, would be counted as this one's.
    if (cell_.collective == Collective::kBarrier)
      call(contestant, 0);
    else
      world_.synchronize();
    const double begin = time_us();
    call(contestant, 0);
    contestant.samples_us.push_back(time_us() - begin);
  }
  contestant.calls += kIsolatedCalls;
}

void Contest::round(bool back) {
  for (size_t i = 0; i < contestants_.size(); ++i) batch(contestants_[back ? contestants_.size() - 1 - i : i]);
}

void Contest::agree(Contestant& contestant) {
  // Back-to-back samples are agreed already.
  if (cell_.timing == Timing::kIsolated) world_.maximum(std::span(contestant.samples_us).subspan(contestant.agreed));
  contestant.agreed = contestant.samples_us.size();
}

double Contest::median_us(size_t index) {
  agree(contestants_[index]);
  return summarize(contestants_[index].samples_us, contestants_[index].calls).median_us;
}

double Contest::least_us(size_t index) {
  agree(contestants_[index]);
  const std::vector<double>& samples = contestants_[index].samples_us;
  return samples.empty() ? 0 : *std::min_element(samples.begin(), samples.end());
}

double Contest::wobble(size_t index) {
  agree(contestants_[index]);
  const std::vector<double>& samples = contestants_[index].samples_us;
  if (samples.size() < 4) return 1;
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  const double first = summarize({samples.begin(), middle}, 0).median_us;
  const double second = summarize({middle, samples.end()}, 0).median_us;
  return first > 0 && second > 0 ? std::max(first / second, second / first) : 1;
}

Summary Contest::summary(size_t index) {
  Contestant& contestant = contestants_[index];
  if (!contestant.why_not.empty()) {
    Summary none;
    none.why_not = contestant.why_not;
    return none;
  }
  agree(contestant);
  return summarize(contestant.samples_us, contestant.calls);
}

Summary summarize(std::vector<double> samples_us, uint64_t iterations) {
  Summary summary;
  summary.iterations = iterations;
  if (samples_us.empty()) return summary;
  std::sort(samples_us.begin(), samples_us.end());
  const auto at = [&](double fraction) {
    const auto last = static_cast<double>(samples_us.size() - 1);
    return samples_us[static_cast<size_t>(std::lround(fraction * last))];
  };
  summary.median_us = median_of(samples_us);
  summary.p10_us = at(0.1);
  summary.p90_us = at(0.9);
  summary.p99_us = at(0.99);
  summary.max_us = samples_us.back();
  return summary;
}

}  // namespace hocket::bench
