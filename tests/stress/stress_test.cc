// SPDX-License-Identifier: BSD-3-Clause
// Seeded stress: processes call a random mix of collectives, blocking and not, on random communicators with random
// roots, counts and memory, some of them late on purpose; every result is checked to the last byte.
//
// STRESS_SECONDS (default 10) and STRESS_SEED (default: from the clock, printed) repeat a run.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <random>
#include <vector>

#include "support/exchange.h"
#include "support/team.h"

namespace hocket::test {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_to_run() {
  const char* text = std::getenv("STRESS_SECONDS");
  return text != nullptr ? std::atof(text) : 10.0;
}

uint64_t seed_of_run() {
  const char* text = std::getenv("STRESS_SEED");
  return text != nullptr ? std::strtoull(text, nullptr, 10)
                         : static_cast<uint64_t>(Clock::now().time_since_epoch().count());
}

uint64_t value_of(uint64_t call, int rank, size_t index) {
  return call * 0x9e3779b97f4a7c15ull + static_cast<uint64_t>(rank) * 1'000'003u + index * 31u;
}

// One collective call: what it is, drawn alike on all ranks, and the memory it uses on this one.
struct Job {
  uint64_t call = 0;
  int kind = 0;  // 0 barrier, 1 broadcast, 2 reduce, 3 allreduce
  int root = 0;
  size_t count = 0;
  bool non_blocking = false;
  bool in_place = false;
  hocket_comm_t* comm = nullptr;
  int rank = 0;
  int size = 1;
  std::vector<uint64_t> input;
  std::vector<uint64_t> output;
  hocket_request_t* request = nullptr;

  void prepare() {
    input.resize(count);
    for (size_t i = 0; i < count; ++i) input[i] = value_of(call, rank, i);
    output.assign(count, ~uint64_t{0});
    if (in_place || kind == 1) output = input;
  }

  hocket_status_t run() {
    const bool at_root = rank == root;
    const void* from = in_place && (kind == 3 || at_root) ? HOCKET_IN_PLACE : input.data();
    uint64_t* to = output.data();
    switch (kind) {
      case 0:
        return non_blocking ? hocket_barrier_start(comm, &request) : hocket_barrier(comm);
      case 1:
        return non_blocking ? hocket_broadcast_start(comm, to, count, HOCKET_UINT64, root, &request)
                            : hocket_broadcast(comm, to, count, HOCKET_UINT64, root);
      case 2:
        return non_blocking ? hocket_reduce_start(comm, from, at_root ? to : nullptr, count, HOCKET_UINT64, HOCKET_SUM,
                                                  root, &request)
                            : hocket_reduce(comm, from, at_root ? to : nullptr, count, HOCKET_UINT64, HOCKET_SUM, root);
      default:
        return non_blocking ? hocket_allreduce_start(comm, from, to, count, HOCKET_UINT64, HOCKET_SUM, &request)
                            : hocket_allreduce(comm, from, to, count, HOCKET_UINT64, HOCKET_SUM);
    }
  }

  void check() const {
    if (kind == 0 || (kind == 2 && rank != root)) return;
    for (size_t i = 0; i < count; ++i) {
      uint64_t expected = 0;
      if (kind == 1) {
        expected = value_of(call, root, i);
      } else {
        for (int r = 0; r < size; ++r) expected += value_of(call, r, i);
      }
      ASSERT_EQ(output[i], expected) << "call " << call << " kind " << kind << " root " << root << " count " << count
                                     << " element " << i << " rank " << rank << " of " << size;
    }
  }
};

// A started call of the kinds that blocks are exchanged by.
struct Pending {
  Exchange exchange;
  hocket_request_t* request;
};

// What all ranks of a communicator draw alike, from a generator that they share by its seed.
class Caller {
 public:
  Caller(const Place& place, uint64_t seed)
      : place_(place), comm_(place.comm), rank_(place.rank), size_(place.size), draw_(seed) {
    EXPECT_EQ(make_affine_op(true, op_), HOCKET_OK);
  }
  ~Caller() { hocket_op_destroy(op_); }
  Caller(const Caller&) = delete;

  void step() {
    ++calls_;
    // Half of the calls are of the four kinds without blocks, which are the quicker ones.
    if (draw_() % 2 == 0) {
      step_without_blocks();
    } else {
      step_with_blocks();
    }
  }

  void step_with_blocks() {
    const int kinds = schedule::kCollectives - static_cast<int>(schedule::Collective::kGather);
    ExchangeCase what;
    what.collective = static_cast<schedule::Collective>(static_cast<int>(schedule::Collective::kGather) +
                                                        static_cast<int>(draw_() % static_cast<uint64_t>(kinds)));
    what.root = static_cast<int>(draw_() % static_cast<uint64_t>(size_));
    what.in_place = draw_() % 3 == 0;
    what.mapped = draw_() % 4 == 0;
    what.op = op_;
    what.salt = static_cast<uint32_t>(calls_ * 0x9e3779b9u);
    const size_t count = draw_count() / 2;
    const uint64_t mix = draw_();
    const bool varies = schedule::is_vector(what.collective);
    what.length_of = [=](int from, int to) {
      // The same both ways, as a call in place needs it.
      const uint64_t hash = (mix ^ static_cast<uint64_t>(from + to) * 0x9e3779b97f4a7c15ull ^
                             static_cast<uint64_t>(from * to) * 0xc2b2ae3d27d4eb4full) >>
                            20;
      return !varies ? count : hash % 3 == 0 ? 0 : static_cast<size_t>(hash % (2 * count + 1));
    };
    Exchange exchange(what, place_);
    if (draw_() % 4 != 0) {
      ASSERT_EQ(exchange.run(nullptr), HOCKET_OK) << hocket_error_text();
      ASSERT_EQ(exchange.problem(), "") << "call " << calls_;
      return;
    }
    hocket_request_t* request = nullptr;
    ASSERT_EQ(exchange.run(&request), HOCKET_OK) << hocket_error_text();
    exchanges_.push_back({std::move(exchange), request});
    if (exchanges_.size() > 5) finish();
  }

  void step_without_blocks() {
    Job job;
    job.call = calls_;
    job.kind = static_cast<int>(draw_() % 4);
    job.root = static_cast<int>(draw_() % static_cast<uint64_t>(size_));
    job.count = draw_count();
    job.non_blocking = draw_() % 4 == 0;
    job.in_place = draw_() % 3 == 0;
    const bool drain = draw_() % 8 == 0;
    job.comm = comm_;
    job.rank = rank_;
    job.size = size_;
    job.prepare();
    ASSERT_EQ(job.run(), HOCKET_OK) << hocket_error_text();
    if (job.non_blocking) {
      pending_.push_back(std::move(job));
    } else {
      job.check();
    }
    if (drain || pending_.size() > 6) finish();
  }

  void finish() {
    // Waited for in another order than started, and differently on every rank.
    if (rank_ % 2 == 1) std::reverse(pending_.begin(), pending_.end());
    for (Job& job : pending_) {
      if (rank_ % 3 == 1) {
        while (hocket_test(&job.request) == HOCKET_IN_PROGRESS) usleep(10);
      }
      ASSERT_EQ(hocket_wait(&job.request), HOCKET_OK) << hocket_error_text();
      job.check();
    }
    pending_.clear();
    for (Pending& one : exchanges_) {
      ASSERT_EQ(hocket_wait(&one.request), HOCKET_OK) << hocket_error_text();
      ASSERT_EQ(one.exchange.problem(), "");
    }
    exchanges_.clear();
  }

  uint64_t calls() const { return calls_; }

 private:
  size_t draw_count() {
    switch (draw_() % 8) {
      case 0:
        return 0;
      case 1:
        return 1;
      case 2:
        return draw_() % 9;
      case 3:
        return draw_() % 600;
      case 4:
        return draw_() % 9'000;
      case 5:
        return draw_() % 100 == 0 ? 400'000 : 20'000;
      default:
        return 1 + draw_() % 64;
    }
  }

  Place place_;
  hocket_comm_t* comm_;
  int rank_;
  int size_;
  std::mt19937_64 draw_;
  hocket_op_t op_ = nullptr;
  uint64_t calls_ = 0;
  std::vector<Job> pending_;
  std::vector<Pending> exchanges_;
};

void run_mix(Rank& me, uint64_t seed, double seconds) {
  std::mt19937_64 shared(seed);
  std::mt19937_64 own(seed ^ static_cast<uint64_t>(me.rank + 1));
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  uint64_t calls = 0;
  for (;;) {
    // The team splits anew now and then; all agree when the time is over.
    const int parts = 1 + static_cast<int>(shared() % 3);
    const uint64_t salt = shared();
    SplitBootstrap split(me.bootstrap,
                         static_cast<int>((static_cast<uint64_t>(me.rank) * 7 + salt) % static_cast<uint64_t>(parts)));
    hocket_comm_t* part = nullptr;
    ASSERT_EQ(hocket_comm_create(me.context, &split.get(), &part), HOCKET_OK) << hocket_error_text();
    Caller whole({me.context, me.comm, me.rank, me.size}, shared());
    Caller some({me.context, part, split.get().rank, split.get().size}, salt + static_cast<uint64_t>(split.get().size));
    for (int step = 0; step < 400 && !testing::Test::HasFailure(); ++step) {
      // Only the calls on one communicator must be in the same order on all ranks; between them a rank may dawdle.
      whole.step();
      some.step();
      if (own() % 200 == 0) usleep(static_cast<useconds_t>(own() % 3000));
    }
    whole.finish();
    some.finish();
    calls += whole.calls() + some.calls();
    ASSERT_EQ(hocket_comm_destroy(part), HOCKET_OK) << hocket_error_text();
    int64_t go_on = Clock::now() < end ? 1 : 0;
    int64_t all_go_on = 0;
    ASSERT_EQ(hocket_allreduce(me.comm, &go_on, &all_go_on, 1, HOCKET_INT64, HOCKET_MIN), HOCKET_OK);
    if (all_go_on == 0 || testing::Test::HasFailure()) break;
  }
  if (me.rank == 0) std::printf("ranks %d: %lu calls checked\n", me.size, static_cast<unsigned long>(calls));
}

class Stress : public testing::TestWithParam<int> {};

TEST_P(Stress, RandomMixOfCallsOnRandomCommunicatorsHasNoWrongByte) {
  const uint64_t seed = seed_of_run();
  std::printf("STRESS_SEED=%lu\n", static_cast<unsigned long>(seed));
  const double seconds = seconds_to_run() / 4;
  EXPECT_EQ(run_processes(GetParam(), [&](Rank& me) { run_mix(me, seed, seconds); }), 0);
}

class StressOfThreads : public testing::TestWithParam<int> {};

TEST_P(StressOfThreads, RandomMixOfCallsOnRandomCommunicatorsHasNoWrongByte) {
  const uint64_t seed = seed_of_run();
  std::printf("STRESS_SEED=%lu\n", static_cast<unsigned long>(seed));
  run_threads(GetParam(), [&](Rank& me) { run_mix(me, seed, seconds_to_run() / 4); });
}

INSTANTIATE_TEST_SUITE_P(Ranks, Stress, testing::Values(2, 3, 5, 9), testing::PrintToStringParamName());
INSTANTIATE_TEST_SUITE_P(Ranks, StressOfThreads, testing::Values(2, 5), testing::PrintToStringParamName());

}  // namespace
}  // namespace hocket::test
