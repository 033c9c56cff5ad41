// SPDX-License-Identifier: BSD-3-Clause
// A page of memory that all ranks of the machine map: by it they meet, and agree on numbers, without the MPI. So no
// message and no collective takes part in what is measured between two meetings.
//
// For programs of one source. A program's words are NAME=VALUE, and board=FILE names an empty file of kBoardBytes.
// init_ranks() comes first. Times are in microseconds.
//
// Thread safety: none.
#pragma once

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <mpi.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../around/ranks.h"

enum { kBoardBytes = 4096, kMostRanks = 32 };

typedef struct {
  atomic_uint arrived;             // written by all ranks, read by them
  _Alignas(64) atomic_uint round;  // written by the last rank to arrive, released to the others
  _Alignas(64) double values[2][kMostRanks];
} Board;

static Board* board;
static unsigned turn;

static inline const char* word(int argc, char** argv, const char* name, const char* usual) {
  const size_t length = strlen(name);
  for (int i = 1; i < argc; ++i)
    if (strncmp(argv[i], name, length) == 0 && argv[i][length] == '=') return argv[i] + length + 1;
  return usual;
}

static inline double now_us(void) { return clock_us(CLOCK_MONOTONIC); }

// Ends the job where there is no such file.
static inline void open_board(int argc, char** argv) {
  const char* const path = word(argc, argv, "board", "");
  const int file = open(path, O_RDWR | O_CLOEXEC);
  board = file < 0 || size > kMostRanks
              ? MAP_FAILED
              : mmap(NULL, kBoardBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file, 0);
  if (board == MAP_FAILED) {
    fprintf(stderr, "%s: board=FILE names a file of %d bytes, not '%s', for %d ranks at most\n", argv[0], kBoardBytes,
            path, kMostRanks);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  close(file);
}

// All ranks have arrived when it returns. A wait of more than 50 us progresses the MPI, in case a peer needs it to
// arrive: to free a communicator, for one.
static inline void meet_at_board(void) {
  const unsigned round = atomic_load_explicit(&board->round, memory_order_acquire);
  if (atomic_fetch_add_explicit(&board->arrived, 1, memory_order_acq_rel) + 1 == (unsigned)size) {
    atomic_store_explicit(&board->arrived, 0, memory_order_relaxed);
    atomic_store_explicit(&board->round, round + 1, memory_order_release);
    return;
  }
  const double limit = now_us() + 50;
  while (atomic_load_explicit(&board->round, memory_order_acquire) == round) {
    sched_yield();
    if (now_us() < limit) continue;
    int is_there;
    MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_SELF, &is_there, MPI_STATUS_IGNORE);
  }
}

// The values of all ranks, until the next call but one.
static inline const double* all_values(double mine) {
  double* const values = board->values[turn++ % 2];
  values[rank] = mine;
  meet_at_board();
  return values;
}

static inline double largest(double mine) {
  const double* const values = all_values(mine);
  double most_of_all = values[0];
  for (int i = 1; i < size; ++i)
    if (values[i] > most_of_all) most_of_all = values[i];
  return most_of_all;
}

static inline void print_begin(const char* cell) {
  if (rank != 0) return;
  printf("{\"begin\": \"%s\"}\n", cell);
  fflush(stdout);
}

static inline void print_cell(const char* cell, double value) {
  printf("{\"cell\": \"%s\", \"value\": %.4f}\n", cell, value);
  fflush(stdout);
}

// bound=1: to one of the cores that the process may use, by its number on the node. Before MPI_Init.
static inline void bind_to_core(int argc, char** argv) {
  static const char* const kNumbers[] = {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "PMI_RANK"};
  const char* number = NULL;
  cpu_set_t allowed, mine;
  for (int i = 0; number == NULL && i < 3; ++i) number = getenv(kNumbers[i]);
  if (atoi(word(argc, argv, "bound", "0")) == 0 || number == NULL) return;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  int left = atoi(number) % CPU_COUNT(&allowed);
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &allowed) || left-- > 0) continue;
    CPU_ZERO(&mine);
    CPU_SET(core, &mine);
    sched_setaffinity(0, sizeof mine, &mine);
    return;
  }
}

// From the start of the process to where all ranks have a board. A rank ends itself after limit_s=SECONDS, whatever
// has become of its launcher.
static inline void begin_program(int argc, char** argv) {
  int provided;
  bind_to_core(argc, argv);
  alarm((unsigned)atoi(word(argc, argv, "limit_s", "120")));
  if (strcmp(word(argc, argv, "threads", "single"), "multiple") == 0)
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  else
    MPI_Init(&argc, &argv);
  init_ranks();
  open_board(argc, argv);
}
