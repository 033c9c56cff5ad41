// SPDX-License-Identifier: BSD-3-Clause
// The program around the sort: its options, the check of its result, and what it says about its time. What is special
// about a sample sort is in sort.h and sort.c.
//
//   mpicc -O2 samplesort.c sort.c -o samplesort && mpirun -n 4 ./samplesort --help
#include <limits.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sort.h"

static const char* const kKindNames[kKinds] = {"uniform", "skewed", "few", "ascending"};

static const struct {
  const char *what, *collective;
} kStepNames[kSteps] = {
    {"sort own keys", ""},
    {"gather samples", "MPI_Gatherv"},
    {"choose splitters", ""},
    {"share splitters", "MPI_Bcast"},
    {"cut at splitters", ""},
    {"exchange counts", "MPI_Alltoall"},
    {"exchange keys", "MPI_Alltoallv"},
    {"merge", ""},
};

// Sums that don't depend on the order of the keys: two sets of keys with the same sums are the same set but for one
// chance in 2^64 and more.
typedef struct {
  uint64_t count, sum, product;
} contents_t;

static contents_t contents_of(const uint64_t* keys, int64_t count) {
  contents_t mine = {.count = (uint64_t)count}, all;
  for (int64_t i = 0; i < count; i++) {
    mine.sum += mix(keys[i] + 1);
    mine.product += mix(keys[i]) * mix(~keys[i]);
  }
  MPI_Allreduce(&mine, &all, 3, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

// Says what is wrong with the result, or nothing; alike on all ranks. Gives the checksum of the keys in their order.
static const char* verify(sorter_t* sorter, uint64_t* checksum) {
  const int64_t count = sorter->sorted;
  const contents_t before = contents_of(sorter->input, sorter->count), after = contents_of(sorter->from, count);
  int ascending = 1, all_ascending = 0;
  for (int64_t i = 1; i < count; i++) ascending &= sorter->from[i - 1] <= sorter->from[i];

  // From rank to rank; a rank may have no keys.
  const uint64_t edges[3] = {(uint64_t)count, count > 0 ? sorter->from[0] : 0, count > 0 ? sorter->from[count - 1] : 0};
  uint64_t* all_edges = allocate(sorter->size, sizeof edges);
  MPI_Allgather(edges, 3, MPI_UINT64_T, all_edges, 3, MPI_UINT64_T, MPI_COMM_WORLD);
  uint64_t last = 0, first_place = 0;
  for (int rank = 0; rank < sorter->size; rank++) {
    const uint64_t* edge = &all_edges[(size_t)rank * 3];
    if (edge[0] == 0) continue;
    ascending &= last <= edge[1];
    last = edge[2];
    if (rank < sorter->rank) first_place += edge[0];
  }
  free(all_edges);
  MPI_Allreduce(&ascending, &all_ascending, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);

  uint64_t mine = 0;
  for (int64_t i = 0; i < count; i++) mine += mix(sorter->from[i] ^ mix(first_place + (uint64_t)i));
  MPI_Allreduce(&mine, checksum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  if (!all_ascending) return "the keys are not in order";
  if (memcmp(&before, &after, sizeof before) != 0) return "the keys are not those of the input";
  return NULL;
}

static void report(const parameters_t* parameters, sorter_t* sorter, double seconds, uint64_t checksum) {
  double sums[kSteps], slowest = 0, total = 0, collectives = 0;
  int64_t mine[2] = {-sorter->sorted, sorter->sorted}, extremes[2];
  MPI_Reduce(sorter->seconds, sums, kSteps, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Reduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  MPI_Reduce(mine, extremes, 2, MPI_INT64_T, MPI_MAX, 0, MPI_COMM_WORLD);
  if (sorter->rank != 0) return;
  const double runs = (double)sorter->size * (double)parameters->sorts;
  for (int step = 0; step < kSteps; step++) {
    total += sums[step];
    if (kStepNames[step].collective[0] != '\0') collectives += sums[step];
  }
  const double percent = total > 0 ? 100 / total : 0;
  const char* source = parameters->file[0] != '\0' ? parameters->file : kKindNames[parameters->kind];
  printf("%lld keys (%s, seed %llu) on %d ranks, sorted %lld times; time of a sort, mean over ranks\n\n",
         (long long)parameters->keys, source, (unsigned long long)parameters->seed, sorter->size,
         (long long)parameters->sorts);
  printf("%-18s%-15s%9s%10s\n", "step", "", "ms", "share");
  for (int step = 0; step < kSteps; step++) {
    printf("%-18s%-15s%9.3f%8.1f %%\n", kStepNames[step].what, kStepNames[step].collective, sums[step] / runs * 1e3,
           sums[step] * percent);
  }
  printf("%-33s%9.3f%8.1f %%\n", "all collectives", collectives / runs * 1e3, collectives * percent);
  printf("%-33s%9.3f%8.1f %%\n\n", "the whole sort", total / runs * 1e3, total * percent);
  printf("keys on a rank afterwards: %lld to %lld\n", (long long)-extremes[0], (long long)extremes[1]);
  printf("ranks %d keys %lld sorts %lld checksum %016llx collectives %.1f %% seconds %.6f\n", sorter->size,
         (long long)parameters->keys, (long long)parameters->sorts, (unsigned long long)checksum, collectives * percent,
         slowest);
}

static void usage(FILE* stream, const char* program) {
  fprintf(stream,
          "usage: %s [--keys N] [--kind NAME] [--seed N] [--file PATH] [--sorts N] [--samples N]\n"
          "Sorts 64-bit keys that are spread over the ranks, and checks the result. Run it by mpirun or mpiexec.\n"
          "  --keys N       keys of all ranks together, 1 to 2147483647 (default 1000000; all of a file)\n"
          "  --kind NAME    uniform, skewed (most are small), few (16 different ones), ascending (default uniform)\n"
          "  --seed N       another input of that kind (default 1)\n"
          "  --file PATH    unsigned 64-bit numbers in this machine's byte order, read by all ranks\n"
          "  --sorts N      sort the same input so often (default 5)\n"
          "  --samples N    of each rank, to guess where to cut (default 64)\n"
          "The last line is for scripts: checksum depends on the keys alone, seconds is the slowest rank's time.\n",
          program);
}

static int read_number(const char* text, int64_t lowest, int64_t highest, int64_t* number) {
  char* end = NULL;
  *number = strtoll(text, &end, 10);
  return end != text && *end == '\0' && *number >= lowest && *number <= highest;
}

// 0 if the value of an option is no good, or there is no such option.
static int read_option(const char* option, const char* value, parameters_t* parameters) {
  int64_t seed = 0;
  if (strcmp(option, "--keys") == 0) return read_number(value, 1, INT_MAX, &parameters->keys);
  if (strcmp(option, "--sorts") == 0) return read_number(value, 1, INT_MAX, &parameters->sorts);
  if (strcmp(option, "--samples") == 0) return read_number(value, 1, 100000, &parameters->samples);
  if (strcmp(option, "--file") == 0) {
    return snprintf(parameters->file, sizeof parameters->file, "%s", value) < (int)sizeof parameters->file;
  }
  if (strcmp(option, "--seed") == 0) {
    const int good = read_number(value, 0, INT64_MAX, &seed);
    parameters->seed = (uint64_t)seed;
    return good;
  }
  if (strcmp(option, "--kind") != 0) return 0;
  for (int kind = 0; kind < kKinds; kind++) {
    if (strcmp(value, kKindNames[kind]) != 0) continue;
    parameters->kind = (kind_t)kind;
    return 1;
  }
  return 0;
}

// Rank 0 reads the command line, as only it is promised one. Gives the exit status, or -1 to go on.
static int read_parameters(int argc, char** argv, parameters_t* parameters) {
  *parameters = (parameters_t){.keys = -1, .sorts = 5, .samples = 64, .seed = 1, .kind = kUniform};
  for (int i = 1; i < argc; i += 2) {
    if (strcmp(argv[i], "--help") == 0) {
      usage(stdout, argv[0]);
      return 0;
    }
    if (i + 1 < argc && read_option(argv[i], argv[i + 1], parameters)) continue;
    fprintf(stderr, "samplesort: can't understand %s %s\n", argv[i], i + 1 < argc ? argv[i + 1] : "without a value");
    usage(stderr, argv[0]);
    return 2;
  }
  if (parameters->file[0] != '\0') {
    FILE* file = fopen(parameters->file, "rb");
    if (file == NULL) {
      fprintf(stderr, "samplesort: can't open %s\n", parameters->file);
      return 2;
    }
    const int64_t there = fseeko(file, 0, SEEK_END) == 0 ? (int64_t)ftello(file) / 8 : 0;
    fclose(file);
    if (parameters->keys < 0) parameters->keys = there;
    if (there < 1 || there > INT_MAX || parameters->keys > there) {
      fprintf(stderr, "samplesort: %s holds %lld keys\n", parameters->file, (long long)there);
      return 2;
    }
  } else if (parameters->keys < 0) {
    parameters->keys = 1000000;
  }
  return -1;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, status = -1;
  parameters_t parameters;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) status = read_parameters(argc, argv, &parameters);
  MPI_Bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (status >= 0) {
    MPI_Finalize();
    return status;
  }
  MPI_Bcast(&parameters, (int)sizeof parameters, MPI_BYTE, 0, MPI_COMM_WORLD);

  sorter_t sorter;
  set_up(&parameters, &sorter);
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (int64_t i = 0; i < parameters.sorts; i++) sort_all(&parameters, &sorter);
  const double seconds = MPI_Wtime() - begin;

  uint64_t checksum = 0;
  const char* wrong = verify(&sorter, &checksum);
  if (wrong == NULL) {
    report(&parameters, &sorter, seconds, checksum);
  } else if (rank == 0) {
    fprintf(stderr, "samplesort: WRONG: %s\n", wrong);
  }
  tear_down(&sorter);
  MPI_Finalize();
  return wrong != NULL;
}
