// SPDX-License-Identifier: BSD-3-Clause
// Variants in one cell: verified, then timed in rounds in which every one of them has its turn.
//
// Everything is collective over the world, and what it finds is the same on all ranks. Throws std::runtime_error on a
// wrong result.
//
// Thread safety: none.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "bench/bench.h"

namespace hocket::bench {

class Contest {
 public:
  Contest(const Options& options, const Cell& cell, World& world, const Buffers& buffers,
          std::span<Variant* const> variants);

  size_t size() const { return contestants_.size(); }
  bool is_running(size_t index) const { return contestants_[index].why_not.empty(); }
  // Runs the variant from the first and the last root. With `results` what it leaves is checked, every byte.
  void verify(size_t index, bool results = true);
  // The shortest of some single calls: a first guess.
  double probe_us(size_t index);
  // Finds out how many calls make a batch. To be done before the first round.
  void calibrate(size_t index);
  // One batch of each that is running, there or back, so that no variant is always the first.
  void round(bool back);
  void drop(size_t index, std::string why) { contestants_[index].why_not = std::move(why); }

  uint64_t calls(size_t index) const { return contestants_[index].calls; }
  // Of all samples so far; 0 if there are none.
  double median_us(size_t index);
  // The least of them: what the variant can do when nothing comes between.
  double least_us(size_t index);
  // By what factor the medians of the first and the second half of the samples differ; 1 where there are too few.
  double wobble(size_t index);
  Summary summary(size_t index);

 private:
  struct Contestant {
    Variant* variant;
    std::string why_not = {};
    uint64_t batch_calls = 1;
    uint64_t calls = 0;
    std::vector<double> samples_us = {};
    size_t agreed = 0;  // how many of them are the slowest rank's
  };

  double agreed(double value);
  void call(Contestant& contestant, int root);
  std::string place(const Contestant& contestant) const;
  void begin_batch(Contestant& contestant);
  double timed(Contestant& contestant, uint64_t calls);
  void batch(Contestant& contestant);
  void agree(Contestant& contestant);

  const Options& options_;
  const Cell& cell_;
  World& world_;
  const Buffers& buffers_;
  std::vector<Contestant> contestants_;
};

}  // namespace hocket::bench
