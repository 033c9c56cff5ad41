// SPDX-License-Identifier: BSD-3-Clause
// Variants of a call, measured by turns in one process: blocks of calls that follow each other, the median of the
// blocks, each block as long as on its slowest rank.
//
// Where hocket is preloaded and the program wants it, each variant is measured with hocket switched off and on, by the
// same function; so the two sides share memory, cores and moment. A variant says by `mode` which of the two it is in.
// A program's words are NAME=VALUE, unknown ones are refused; its results are lines of JSON on rank 0. Times are in
// microseconds.
//
// Thread safety: none.
#pragma once

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../around/ranks.h"

// With so few calls a block, no communicator sees a million of them: so many can HOCKET_SETUP_CALLS pass through.
enum { kMostBlocks = 101, kMostVariants = 6, kMostCallsOfBlock = 10000 };

typedef struct {
  const char* name;
  void (*once)(int number);  // one call; the root, where there is one, moves with its number
} Variant;

typedef struct {
  int blocks;
  double block_us;
  int modes;  // 2: with hocket switched off and on
} Plan;

static int mode = 1;                 // 1: hocket carries calls out, if it is there
static int (*set_enabled)(int) = 0;  // null: hocket isn't preloaded
static unsigned long long (*carried_out)(void) = 0;

static inline const char* option(int argc, char** argv, const char* name, const char* usual) {
  const size_t length = strlen(name);
  for (int i = 1; i < argc; ++i)
    if (strncmp(argv[i], name, length) == 0 && argv[i][length] == '=') return argv[i] + length + 1;
  return usual;
}

// Whether one of the words of `list`, which has commas between them, is this one.
static inline int is_listed(const char* list, const char* word) {
  const size_t length = strlen(word);
  for (const char* at = list; (at = strstr(at, word)) != NULL; at += length)
    if ((at == list || at[-1] == ',') && (at[length] == ',' || at[length] == '\0')) return 1;
  return 0;
}

// Whether each word is NAME=VALUE of a known name; else rank 0 says which isn't.
static inline int are_options_known(int argc, char** argv, const char* names) {
  for (int i = 1; i < argc; ++i) {
    char name[32] = "";
    const char* const end = strchr(argv[i], '=');
    if (end != NULL && end - argv[i] < (long)sizeof name) memcpy(name, argv[i], (size_t)(end - argv[i]));
    if (name[0] != '\0' && is_listed(names, name)) continue;
    if (rank == 0)
      fprintf(stderr, "%s: unknown word '%s': NAME=VALUE, NAME being one of %s\n", argv[0], argv[i], names);
    return 0;
  }
  return 1;
}

// The numbers of a list with commas between them; how many.
static inline int read_numbers(const char* list, int* numbers, int capacity) {
  int count = 0;
  for (const char* at = list; at != NULL && *at != '\0' && count < capacity; ++count) {
    numbers[count] = atoi(at);
    at = strchr(at, ',');
    if (at != NULL) ++at;
  }
  return count;
}

// What rank 0 has, on all ranks.
static inline double agree(double value) {
  if (rank != 0) MPI_Recv(&value, 1, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int to = 1; rank == 0 && to < size; ++to) MPI_Send(&value, 1, MPI_DOUBLE, to, 3, MPI_COMM_WORLD);
  return value;
}

static inline double agreed_most(double mine) { return agree(most(mine)); }

// cores_each=K: to so many cores of those that the process may use, by its number on the node as its launcher tells it.
// Before MPI_Init, so that threads which that starts keep to them too. Whether it could.
static inline int keep_to_cores(int argc, char** argv) {
  const int cores = atoi(option(argc, argv, "cores_each", "0"));
  static const char* const kNumbers[] = {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "PMI_RANK"};
  const char* number = NULL;
  for (int i = 0; number == NULL && i < 3; ++i) number = getenv(kNumbers[i]);
  cpu_set_t allowed, mine;
  if (cores == 0) return 1;
  if (number == NULL || sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 0;
  CPU_ZERO(&mine);
  const int first = atoi(number) * cores;
  for (int core = 0, at = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &allowed)) continue;
    if (at >= first && at < first + cores) CPU_SET(core, &mine);
    ++at;
  }
  return CPU_COUNT(&mine) == cores && sched_setaffinity(0, sizeof mine, &mine) == 0;
}

// Whether all ranks could; else one that could not says so.
static inline int are_kept(int is_kept) {
  if (!is_kept) fprintf(stderr, "rank %d: there are not so many cores for each rank of the node: cores_each=0\n", rank);
  return agreed_most(is_kept ? 0 : 1) == 0;
}

// Up to where the program's work begins: its cores, the MPI, its words. Whether it may go on; MPI_Finalize follows in
// any case.
static inline int begin_program(int argc, char** argv, const char* words) {
  const int is_kept = keep_to_cores(argc, argv);
  MPI_Init(&argc, &argv);
  init_ranks();
  return are_kept(is_kept) && are_options_known(argc, argv, words);
}

static inline Plan read_plan(int argc, char** argv) {
  *(void**)&set_enabled = dlsym(RTLD_DEFAULT, "hocket_mpi_set_enabled");
  *(void**)&carried_out = dlsym(RTLD_DEFAULT, "hocket_mpi_carried_out");
  const int blocks = atoi(option(argc, argv, "blocks", "9"));
  const int switches = atoi(option(argc, argv, "switches", "1")) != 0 && set_enabled != NULL;
  Plan plan = {blocks < 1             ? 1
               : blocks > kMostBlocks ? kMostBlocks
                                      : blocks,
               1e3 * atof(option(argc, argv, "block_ms", "3")), switches ? 2 : 1};
  return plan;
}

// On all ranks at the same place. Leave it at 1 before MPI_Finalize.
static inline void set_mode(int value) {
  if (mode == value) return;
  mode = value;
  meet();
  if (set_enabled != NULL) set_enabled(value);
}

static inline const char* mode_name(const Plan* plan) {
  return set_enabled == NULL ? "alone" : plan->modes == 1 || mode == 1 ? "on" : "off";
}

// Microseconds a call on the slowest rank; on all ranks alike.
static inline double time_block(void (*once)(int number), int calls) {
  meet();
  const double before = clock_us(CLOCK_MONOTONIC);
  for (int i = 0; i < calls; ++i) once(i);
  return agreed_most(clock_us(CLOCK_MONOTONIC) - before) / calls;
}

// The shortest of three blocks: what other load adds is left out of estimates.
static inline double estimate(void (*once)(int number), int calls) {
  double shortest = time_block(once, calls);
  for (int i = 0; i < 2; ++i) {
    const double taken = time_block(once, calls);
    if (taken < shortest) shortest = taken;
  }
  return shortest;
}

// How many calls make a block. It warms up, too.
static inline int calls_of_block(void (*once)(int number), double block_us) {
  double each = estimate(once, 2);
  for (int calls = 4; calls < kMostCallsOfBlock && calls * each < 0.25 * block_us; calls *= 8)
    each = estimate(once, calls);
  const double calls = block_us / each;
  return calls < 2 ? 2 : calls > kMostCallsOfBlock ? kMostCallsOfBlock : (int)calls;
}

// A line for each variant and mode: `head` has the first fields.
static inline void measure(const Plan* plan, const char* head, const Variant* variants, int count) {
  static double times[2][kMostVariants][kMostBlocks];
  int calls[2][kMostVariants];
  const unsigned long long before = carried_out != NULL ? carried_out() : 0;
  for (int j = 0; j < plan->modes; ++j) {
    set_mode(plan->modes == 1 ? 1 : j);
    for (int i = 0; i < count; ++i) calls[j][i] = calls_of_block(variants[i].once, plan->block_us);
  }
  for (int block = 0; block < plan->blocks; ++block)
    for (int turn = 0; turn < plan->modes * count; ++turn) {
      const int at = block % 2 == 0 ? turn : plan->modes * count - 1 - turn;
      const int j = at / count, i = at % count;
      set_mode(plan->modes == 1 ? 1 : j);
      times[j][i][block] = time_block(variants[i].once, calls[j][i]);
    }
  const unsigned long long carried = carried_out != NULL ? carried_out() - before : 0;
  for (int j = 0; j < plan->modes; ++j) {
    set_mode(plan->modes == 1 ? 1 : j);
    for (int i = 0; rank == 0 && i < count; ++i)
      printf("{%s, \"variant\": \"%s\", \"mode\": \"%s\", \"us\": %.4f, \"calls\": %d, \"carried_out\": %llu}\n", head,
             variants[i].name, mode_name(plan), median(times[j][i], plan->blocks), calls[j][i], carried);
  }
  set_mode(1);
  fflush(stdout);
}
