// SPDX-License-Identifier: BSD-3-Clause
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "bench/lab/run.h"
#include "words/median.h"

namespace hocket::lab_bench {
namespace {

double mean_us(const std::vector<uint64_t>& times) {
  if (times.empty()) return -1;
  return static_cast<double>(std::accumulate(times.begin(), times.end(), uint64_t{0})) /
         static_cast<double>(times.size()) / kNsPerUs;
}

void read_back_to_back(const Board& board, Measured& measured) {
  const Task& task = board.task;
  for (uint32_t rank = 0; rank < task.ranks; ++rank) {
    const double mean = static_cast<double>(board.end_ns[rank] - board.begin_ns[rank]) / task.rounds / kNsPerUs;
    measured.mean_us = std::max(measured.mean_us, mean);
  }
  for (uint32_t round = 0; round < task.rounds; ++round) measured.call_ns.push_back(board.time(0, round));
}

void read_latencies(const Board& board, Measured& measured) {
  const Task& task = board.task;
  std::vector<std::vector<uint64_t>> of_rank(task.ranks);
  for (uint32_t round = 0; round < task.rounds; ++round) {
    uint64_t last = 0;
    for (uint32_t rank = 0; rank < task.ranks; ++rank) {
      if (!task.work.gets(rank)) continue;
      last = std::max(last, board.time(rank, round));
      of_rank[rank].push_back(board.time(rank, round) - board.beginning(round));
    }
    measured.call_ns.push_back(last - board.beginning(round));
  }
  for (const std::vector<uint64_t>& times : of_rank) measured.rank_us.push_back(mean_us(times));
  measured.mean_us = mean_us(measured.call_ns);
}

void read_hosts_times(const Board& board, Measured& measured) {
  const Task& task = board.task;
  std::vector<uint64_t> root;
  std::vector<uint64_t> others;
  for (uint32_t round = 0; round < task.rounds; ++round) {
    uint64_t sum = 0;
    for (uint32_t rank = 0; rank < task.ranks; ++rank) {
      const uint64_t time = board.time(rank, round);
      sum += time;
      (rank == 0 ? root : others).push_back(time);
    }
    measured.call_ns.push_back(sum / task.ranks);
  }
  measured.mean_us = mean_us(measured.call_ns);
  measured.root_us = mean_us(root);
  measured.others_us = mean_us(others);
  measured.others_median_us = others.empty() ? -1 : median_of(std::move(others)) / kNsPerUs;
}

// Means over all ranks.
void read_overlap(const Board& board, Measured& measured) {
  const Task& task = board.task;
  std::array<std::vector<uint64_t>, kOverlapParts> times;
  for (uint32_t round = 0; round < task.rounds; ++round)
    for (uint32_t rank = 0; rank < task.ranks; ++rank) times[round % kOverlapParts].push_back(board.time(rank, round));
  measured.call_us = mean_us(times[static_cast<size_t>(OverlapPart::kCall)]);
  measured.computation_us = mean_us(times[static_cast<size_t>(OverlapPart::kComputation)]);
  measured.both_us = mean_us(times[static_cast<size_t>(OverlapPart::kBoth)]);
  measured.mean_us = measured.both_us;
  const double saved = measured.call_us + measured.computation_us - measured.both_us;
  measured.overlap = saved / measured.call_us;  // less than 0: both at once take longer than one after the other
  measured.call_ns = std::move(times[static_cast<size_t>(OverlapPart::kBoth)]);
}

}  // namespace

Measured result_of(const Board& board) {
  Measured measured;
  switch (board.task.timing) {
    case Timing::kLatency:
      read_latencies(board, measured);
      break;
    case Timing::kHostTime:
      read_hosts_times(board, measured);
      break;
    case Timing::kOverlap:
      read_overlap(board, measured);
      break;
    default:
      read_back_to_back(board, measured);
  }
  const uint32_t rounds = board.task.rounds;
  const auto a_call = [&](uint64_t Traffic::* what) {
    return static_cast<double>(board.traffic[1].*what - board.traffic[0].*what) / rounds;
  };
  measured.packets = a_call(&Traffic::packets);
  measured.bytes = a_call(&Traffic::bytes);
  measured.root_packets = a_call(&Traffic::root_packets);
  measured.root_bytes = a_call(&Traffic::root_bytes);
  // Ticks that a virtual machine has missed are made up for at some time.
  const double most_us = static_cast<double>(board.end_ns[0] - board.begin_ns[0]) / kNsPerUs / rounds * get_nprocs();
  const double busy_us =
      static_cast<double>(board.ticks[1] - board.ticks[0]) * 1e6 / static_cast<double>(sysconf(_SC_CLK_TCK));
  measured.processor_us = std::min(busy_us / rounds, most_us);
  return measured;
}

}  // namespace hocket::lab_bench
