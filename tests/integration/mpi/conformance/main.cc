// SPDX-License-Identifier: BSD-3-Clause
// Every blocking collective, made twice with the same arguments in one process: by hocket and, through its switch, by
// the MPI underneath; then whole buffers are compared, and both with what this program reckons by itself.
//
//   conformance [--cases N] [--seed S] [--first N] [--only NAME] [--must NAMES] [--off] [--strict] [--corrupt N]
//               [--limit SECONDS]
// --only: one collective ("Bcast"). --must: these collectives ("Bcast,Scan" or "all") must be carried out by hocket
// whenever there is more than one rank. --off: hocket stays switched off, which tests this program and the MPI.
// --strict: the MPI underneath being wrong is a failure. --corrupt: every N cases a byte is changed, which must be
// found.
// --limit: how long one case may take until the program says so and ends. The seed is TEST_SEED, or drawn, and
// printed. Ends with 0 if nothing has failed.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "last_words.h"
#include "random.h"
#include "runner.h"

namespace conformance {
namespace {

struct Options {
  uint64_t cases = 2000;
  uint64_t first = 0;
  uint64_t seed = 0;
  uint64_t corrupt_each = 0;
  std::string only;
  std::string must;
  unsigned limit_seconds = 120;
  bool stays_off = false;
  bool is_strict = false;
};

bool read_options(int argc, char** argv, Options& options) {
  const char* seed = std::getenv("TEST_SEED");
  options.seed = seed != nullptr ? std::strtoull(seed, nullptr, 10) : hash(static_cast<uint64_t>(time(nullptr))) >> 40;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--off") {
      options.stays_off = true;
      continue;
    }
    if (name == "--strict") {
      options.is_strict = true;
      continue;
    }
    const char* value = i + 1 < argc ? argv[++i] : nullptr;
    if (value == nullptr) return false;
    const uint64_t number = std::strtoull(value, nullptr, 10);
    if (name == "--cases") {
      options.cases = number;
    } else if (name == "--first") {
      options.first = number;
    } else if (name == "--seed") {
      options.seed = number;
    } else if (name == "--corrupt") {
      options.corrupt_each = number;
    } else if (name == "--limit") {
      options.limit_seconds = static_cast<unsigned>(number);
    } else if (name == "--only") {
      options.only = value;
    } else if (name == "--must") {
      options.must = value;
    } else {
      return false;
    }
  }
  return true;
}

bool is_named(const std::string& names, Collective collective) {
  return names == "all" || ("," + names + ",").find(std::string(",") + mpi_name(collective) + ",") != std::string::npos;
}

Score sum_over_ranks(const Score& mine) {
  Score all = mine;
  for (uint64_t* number : {&all.calls, &all.carried_out, &all.passed_through, &all.without_host, &all.alone,
                           &all.failures, &all.host_wrong, &all.host_traces}) {
    MPI_Allreduce(MPI_IN_PLACE, number, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  }
  return all;
}

void print(const char* name, const Score& score) {
  std::printf(
      "conformance: %-20s %7llu cases %8llu calls  carried out %8llu  alone %6llu  passed through %8llu  failed %llu",
      name, static_cast<unsigned long long>(score.cases), static_cast<unsigned long long>(score.calls),
      static_cast<unsigned long long>(score.carried_out), static_cast<unsigned long long>(score.alone),
      static_cast<unsigned long long>(score.passed_through), static_cast<unsigned long long>(score.failures));
  if (score.without_host > 0) std::printf("  without host %llu", static_cast<unsigned long long>(score.without_host));
  if (score.host_wrong > 0) std::printf("  host wrong %llu", static_cast<unsigned long long>(score.host_wrong));
  if (score.host_traces > 0) {
    std::printf("  host wrote into gaps %llu", static_cast<unsigned long long>(score.host_traces));
  }
  std::printf("\n");
}

// Whether everything is as it must be; the same on all ranks.
bool report(const Runner& runner, const Options& options, int rank) {
  uint64_t failures = 0, missing = 0, cases = 0;
  for (int i = 0; i < kCollectives; ++i) {
    const auto collective = static_cast<Collective>(i);
    const Score score = sum_over_ranks(runner.score(collective));
    failures += score.failures;
    cases += score.cases;
    if (score.cases == 0) continue;
    if (is_named(options.must, collective)) missing += score.passed_through;
    if (rank == 0) print(mpi_name(collective), score);
  }
  uint64_t corrupted = runner.corrupted();
  MPI_Allreduce(MPI_IN_PLACE, &corrupted, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  const bool is_good = failures == 0 && missing == 0 && cases > 0;
  if (rank != 0) return is_good;
  if (corrupted > 0) {
    std::printf("conformance: %llu corrupted, %llu found\n", static_cast<unsigned long long>(corrupted),
                static_cast<unsigned long long>(failures));
  }
  if (missing > 0) {
    std::printf("conformance: %llu calls that hocket should have carried out were passed through\n",
                static_cast<unsigned long long>(missing));
  }
  std::printf("conformance: %s: %llu cases, %llu failures on all ranks\n", is_good ? "passed" : "FAILED",
              static_cast<unsigned long long>(cases), static_cast<unsigned long long>(failures));
  return is_good;
}

bool run(const Options& options, unsigned char* stack) {
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  uint64_t seed = options.seed;
  MPI_Bcast(&seed, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  const Switch hocket(options.stays_off);
  Places places(stack);
  std::vector<Communicator> communicators = make_communicators();
  const Cases cases(seed, communicators, size);
  if (rank == 0) {
    std::printf("TEST_SEED=%llu, %d ranks, %llu cases of the core%s\n", static_cast<unsigned long long>(seed), size,
                static_cast<unsigned long long>(cases.core()), hocket.is_there() ? "" : "; the MPI alone");
    std::fflush(stdout);
  }
  prepare_last_words(options.limit_seconds);
  std::vector<bool> must;
  for (int i = 0; i < kCollectives; ++i) must.push_back(is_named(options.must, static_cast<Collective>(i)));
  Runner runner(hocket, places, communicators, must, options.corrupt_each, options.is_strict);
  for (uint64_t number = options.first; number < options.first + options.cases; ++number) {
    const Case one = cases.make(number);
    if (options.only.empty() || is_named(options.only, one.collective)) runner.run(one);
  }
  const bool is_good = report(runner, options, rank);
  free_communicators(communicators);
  forget_layouts();
  free_operations();
  places.close();
  return is_good;
}

}  // namespace
}  // namespace conformance

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  conformance::Options options;
  if (!conformance::read_options(argc, argv, options)) {
    std::fprintf(stderr, "conformance: what the options are is said at the top of its main.cc\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  alignas(64) unsigned char stack[2 * conformance::Places::kBytes];
  const bool is_good = conformance::run(options, stack);
  MPI_Finalize();
  return is_good ? 0 : 1;
}
