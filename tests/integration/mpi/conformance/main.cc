// SPDX-License-Identifier: BSD-3-Clause
// Every collective, made twice with the same arguments in one process: by hocket, blocking, non-blocking or persistent,
// and, through its switch, by the MPI underneath, always blocking; then whole buffers are compared, and both with what
// this program reckons by itself. Persistent ones are started two or three times, by turns with other data.
//
// With --batches: calls in all forms, several at a time and on several communicators, among messages, ended by every
// function that ends requests, in an order of each rank's.
//
//   conformance [--cases N] [--seed S] [--first N] [--only NAME] [--must NAMES] [--forms FORMS] [--batches] [--off]
//               [--strict] [--corrupt N] [--limit SECONDS]
// --only: one collective ("Bcast"). --must: these collectives ("Bcast,Scan" or "all") must be carried out by hocket
// whenever there is more than one rank, but for started ones by the program's own operations. --forms: "blocking",
// "started" or "persistent", or "all": each case in the blocking form, and one in four in each of the others besides.
// The form changes nothing else about a case. --off: hocket stays switched off, which tests this program and the MPI.
// --strict: the MPI underneath being wrong is a failure. --corrupt: every N cases a byte is changed, which must be
// found.
// --limit: how long one case may take until the program says so and ends. The seed is TEST_SEED, or drawn, and
// printed. Ends with 0 if nothing has failed.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "batch_runner.h"
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
  bool has_batches = false;
  Forms forms = Forms::kAll;
};

bool read_forms(const std::string& name, Forms& forms) {
  static const struct {
    const char* name;
    Forms forms;
  } known[] = {{"blocking", Forms::kBlocking},
               {"started", Forms::kStarted},
               {"persistent", Forms::kPersistent},
               {"all", Forms::kAll}};
  for (const auto& each : known) {
    if (name != each.name) continue;
    forms = each.forms;
    return true;
  }
  return false;
}

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
    if (name == "--batches") {
      options.has_batches = true;
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
    } else if (name == "--forms") {
      if (!read_forms(value, options.forms)) return false;
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
  for (uint64_t* number : {&all.calls, &all.carried_out, &all.passed_through, &all.by_design, &all.together,
                           &all.without_host, &all.alone, &all.failures, &all.host_wrong, &all.host_traces}) {
    MPI_Allreduce(MPI_IN_PLACE, number, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  }
  return all;
}

void print(const std::string& name, const Score& score) {
  std::printf(
      "conformance: %-25s %7llu cases %8llu calls  carried out %8llu  alone %6llu  passed through %8llu  failed %llu",
      name.c_str(), static_cast<unsigned long long>(score.cases), static_cast<unsigned long long>(score.calls),
      static_cast<unsigned long long>(score.carried_out), static_cast<unsigned long long>(score.alone),
      static_cast<unsigned long long>(score.passed_through), static_cast<unsigned long long>(score.failures));
  if (score.by_design > 0) std::printf("  by design %llu", static_cast<unsigned long long>(score.by_design));
  if (score.together > 0) std::printf("  with the host's %llu", static_cast<unsigned long long>(score.together));
  if (score.without_host > 0) std::printf("  without host %llu", static_cast<unsigned long long>(score.without_host));
  if (score.host_wrong > 0) std::printf("  host wrong %llu", static_cast<unsigned long long>(score.host_wrong));
  if (score.host_traces > 0) {
    std::printf("  host wrote into gaps %llu", static_cast<unsigned long long>(score.host_traces));
  }
  std::printf("\n");
}

void add(Score& sum, const Score& more) {
  sum.cases += more.cases;
  sum.calls += more.calls;
  sum.carried_out += more.carried_out;
  sum.passed_through += more.passed_through;
  sum.by_design += more.by_design;
  sum.together += more.together;
  sum.alone += more.alone;
  sum.failures += more.failures;
}

// Of all functions of a form. What must be and is not is added to `missing`.
template <class AnyRunner>
Score report_form(const AnyRunner& runner, const Options& options, Form form, int rank, uint64_t& missing) {
  static const char* const names[] = {"all blocking", "all non-blocking", "all persistent"};
  Score sum;
  for (int i = 0; i < kCollectives; ++i) {
    const auto collective = static_cast<Collective>(i);
    const Score score = sum_over_ranks(runner.score(form, collective));
    if (score.cases == 0) continue;
    add(sum, score);
    if (is_named(options.must, collective)) missing += score.passed_through;
    if (rank == 0) print(function_name(form, collective), score);
  }
  if (sum.cases != 0 && rank == 0) print(names[static_cast<int>(form)], sum);
  return sum;
}

uint64_t sum_of(uint64_t mine) {
  MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  return mine;
}

uint64_t other_failures(const Runner&) { return 0; }
uint64_t other_failures(const BatchRunner& runner) { return runner.other_failures(); }

// Whether everything is as it must be; the same on all ranks.
template <class AnyRunner>
bool report(const AnyRunner& runner, const Options& options, int rank) {
  uint64_t failures = sum_of(other_failures(runner)), missing = 0, cases = 0;
  for (const Form form : {Form::kBlocking, Form::kStarted, Form::kPersistent}) {
    const Score score = report_form(runner, options, form, rank, missing);
    failures += score.failures;
    cases += score.cases;
  }
  const uint64_t corrupted = sum_of(runner.corrupted());
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

struct Scene {
  const Switch& hocket;
  const Places& places;
  const std::vector<Communicator>& communicators;
  const Rules& rules;
  const Cases& cases;
};

bool run_cases(const Scene& scene, const Options& options, int rank) {
  Runner runner(scene.hocket, scene.places, scene.communicators, scene.rules);
  for (uint64_t number = options.first; number < options.first + options.cases; ++number) {
    const Case one = scene.cases.make(number);
    if (options.only.empty() || is_named(options.only, one.collective)) runner.run(one);
  }
  return report(runner, options, rank);
}

bool run_batches(const Scene& scene, const Options& options, uint64_t seed, int rank) {
  BatchRunner runner(scene.hocket, scene.places, scene.communicators, scene.rules);
  const Batches batches(seed, scene.cases);
  for (uint64_t number = options.first; number < options.first + options.cases; ++number) {
    Batch one = batches.make(number);
    if (!options.only.empty())
      std::erase_if(one.items, [&](const Case& item) { return !is_named(options.only, item.collective); });
    runner.run(one);
  }
  return report(runner, options, rank);
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
  Rules rules;
  for (int i = 0; i < kCollectives; ++i) rules.must.push_back(is_named(options.must, static_cast<Collective>(i)));
  rules.corrupt_each = options.corrupt_each;
  rules.is_strict = options.is_strict;
  rules.forms = options.forms;
  const Scene scene{hocket, places, communicators, rules, cases};
  const bool is_good = options.has_batches ? run_batches(scene, options, seed, rank) : run_cases(scene, options, rank);
  std::fflush(stdout);  // before others write about MPI_Finalize
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
