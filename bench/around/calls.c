// SPDX-License-Identifier: BSD-3-Clause
// What a program meets around its collectives: messages between ranks, a long wait, the first collective of the job,
// and communicators that come and go. Prints lines of a name and a number: microseconds, or percent of a core.
//   calls pingpong|ring|halo ITERATIONS [BYTES]
//   calls wait SECONDS
//   calls late MILLISECONDS
//   calls communicators COUNT
//   calls come_and_go COUNT ALIVE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ranks.h"

enum { kRepetitions = 9, kMostBytes = 1 << 20 };

static char out[2][kMostBytes], in[2][kMostBytes];

static double us(void) { return MPI_Wtime() * 1e6; }

static void print(const char* name, double value) {
  if (rank == 0) printf("%s %.3f\n", name, value);
}

static void pingpong(int bytes) {
  const int peer = rank ^ 1;
  if (peer >= size) return;
  if (rank % 2 == 0) MPI_Send(out[0], bytes, MPI_CHAR, peer, 0, MPI_COMM_WORLD);
  MPI_Recv(in[0], bytes, MPI_CHAR, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank % 2 != 0) MPI_Send(out[0], bytes, MPI_CHAR, peer, 0, MPI_COMM_WORLD);
}

static void ring(int bytes) {
  const int next = (rank + 1) % size, last = (rank + size - 1) % size;
  if (rank == 0) MPI_Send(out[0], bytes, MPI_CHAR, next, 0, MPI_COMM_WORLD);
  MPI_Recv(in[0], bytes, MPI_CHAR, last, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank != 0) MPI_Send(out[0], bytes, MPI_CHAR, next, 0, MPI_COMM_WORLD);
}

static void halo(int bytes) {
  const int next = (rank + 1) % size, last = (rank + size - 1) % size;
  MPI_Request requests[4];
  MPI_Irecv(in[0], bytes, MPI_CHAR, last, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(in[1], bytes, MPI_CHAR, next, 1, MPI_COMM_WORLD, &requests[1]);
  MPI_Isend(out[0], bytes, MPI_CHAR, next, 0, MPI_COMM_WORLD, &requests[2]);
  MPI_Isend(out[1], bytes, MPI_CHAR, last, 1, MPI_COMM_WORLD, &requests[3]);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

static void exchange(const char* name, void (*once)(int bytes), int iterations, int bytes) {
  double times[kRepetitions];
  for (int i = 0; i < kRepetitions; ++i) {
    meet();
    const double before = us();
    for (int j = 0; j < iterations; ++j) once(bytes);
    times[i] = most(us() - before) / iterations;
  }
  print(name, median(times, kRepetitions));
}

// All ranks but one wait for a message that comes late.
static void wait_long(double seconds) {
  meet();
  const double before = clock_us(CLOCK_PROCESS_CPUTIME_ID), began = us();
  if (rank == 0) {
    usleep((useconds_t)(1e6 * seconds));
    for (int to = 1; to < size; ++to) MPI_Send(out[0], 1, MPI_CHAR, to, 0, MPI_COMM_WORLD);
  } else {
    MPI_Recv(in[0], 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  print("core_percent", most(rank == 0 ? 0 : 100 * (clock_us(CLOCK_PROCESS_CPUTIME_ID) - before) / (us() - began)));
}

// All ranks but one wait for a message that comes after so many milliseconds of work: how long after it was sent.
static void come_late(double milliseconds) {
  enum { kRounds = 40 };
  double sum = 0;
  MPI_Barrier(MPI_COMM_WORLD);  // as nearly all programs call a collective once
  for (int round = 0; round < kRounds; ++round) {
    meet();
    double stamp = clock_us(CLOCK_MONOTONIC);
    if (rank == 0) {
      for (const double until = stamp + 1e3 * milliseconds; stamp < until;) stamp = clock_us(CLOCK_MONOTONIC);
      for (int to = 1; to < size; ++to) {
        stamp = clock_us(CLOCK_MONOTONIC);
        MPI_Send(&stamp, 1, MPI_DOUBLE, to, 0, MPI_COMM_WORLD);
      }
    } else {
      MPI_Recv(&stamp, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      sum += clock_us(CLOCK_MONOTONIC) - stamp;
    }
  }
  char name[40];
  snprintf(name, sizeof name, "late_after_%.0f_ms", milliseconds);
  print(name, most(sum / kRounds));
}

static double timed_barrier(MPI_Comm comm) {
  meet();
  const double before = us();
  MPI_Barrier(comm);
  return most(us() - before);
}

// "Rss", what is mapped and there, or "Pss", in which what processes share counts once for all of them together.
static double resident_kib(const char* what) {
  char line[256];
  double kib = 0;
  FILE* file = fopen("/proc/self/smaps_rollup", "r");
  while (file != NULL && fgets(line, sizeof line, file) != NULL)
    if (strncmp(line, what, 3) == 0 && line[3] == ':') kib = atof(line + 4);
  if (file != NULL) fclose(file);
  return kib;
}

static void communicators(int count) {
  print("first_barrier", timed_barrier(MPI_COMM_WORLD));
  double dups[kRepetitions], barriers[kRepetitions], frees[kRepetitions];
  for (int i = 0; i < kRepetitions; ++i) {
    MPI_Comm copy;
    meet();
    double before = us();
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    dups[i] = most(us() - before);
    barriers[i] = timed_barrier(copy);
    meet();
    before = us();
    MPI_Comm_free(&copy);
    frees[i] = most(us() - before);
  }
  print("dup", median(dups, kRepetitions));
  print("dup_first_barrier", median(barriers, kRepetitions));
  print("free", median(frees, kRepetitions));
  if (count == 0) return;
  MPI_Comm* all = malloc((size_t)count * sizeof *all);
  const double rss = resident_kib("Rss"), pss = resident_kib("Pss");
  meet();
  const double before = us();
  for (int i = 0; i < count; ++i) {
    MPI_Comm_dup(MPI_COMM_WORLD, &all[i]);
    MPI_Barrier(all[i]);
  }
  print("each_of_many", most(us() - before) / count);
  meet();
  const double more_rss = resident_kib("Rss") - rss, more_pss = resident_kib("Pss") - pss;
  print("kib_each_of_many", most(more_rss) / count);
  print("pss_kib_each_of_many", most(more_pss) / count);
  for (int i = 0; i < count; ++i) MPI_Comm_free(&all[i]);
  free(all);
}

// `total` duplicates, each used once; the oldest goes once `alive` of them are there. Whether the second half of those
// takes longer than the first, and whether memory still grows.
static void come_and_go(int total, int alive) {
  MPI_Comm* all = malloc((size_t)total * sizeof *all);
  double before = 0, rss = 0;
  const int part = (total - alive) / 2;
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < total; ++i) {
    if (i == alive || i == total - part) {
      meet();
      before = us();
      if (i == alive) rss = resident_kib("Rss");
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &all[i]);
    MPI_Barrier(all[i]);
    if (i >= alive) MPI_Comm_free(&all[i - alive]);
    if (i == alive + part - 1) print("each_at_first", most(us() - before) / part);
  }
  print("each_at_last", most(us() - before) / part);
  print("kib_more", most(resident_kib("Rss") - rss));
  for (int i = total - alive; i < total; ++i) MPI_Comm_free(&all[i]);
  free(all);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  init_ranks();
  const char* what = argc > 2 ? argv[1] : "";
  const int bytes = argc > 3 ? atoi(argv[3]) : 8;
  int known = bytes >= 0 && bytes <= kMostBytes;
  if (known && strcmp(what, "pingpong") == 0) {
    exchange(what, pingpong, atoi(argv[2]), bytes);
  } else if (known && strcmp(what, "ring") == 0) {
    exchange(what, ring, atoi(argv[2]), bytes);
  } else if (known && strcmp(what, "halo") == 0) {
    exchange(what, halo, atoi(argv[2]), bytes);
  } else if (strcmp(what, "wait") == 0) {
    wait_long(atof(argv[2]));
  } else if (strcmp(what, "late") == 0) {
    come_late(atof(argv[2]));
  } else if (strcmp(what, "come_and_go") == 0 && argc > 3 && atoi(argv[3]) > 0 && atoi(argv[2]) >= 2 + atoi(argv[3])) {
    come_and_go(atoi(argv[2]), atoi(argv[3]));
  } else if (strcmp(what, "communicators") == 0) {
    communicators(atoi(argv[2]));
  } else {
    known = 0;
  }
  if (!known && rank == 0)
    fprintf(stderr,
            "calls: pingpong|ring|halo ITERATIONS [BYTES], wait S, late MS, communicators N, come_and_go N ALIVE (of\n"
            "which N is two more, at least)\n");
  MPI_Finalize();
  return known ? 0 : 2;
}
