// SPDX-License-Identifier: BSD-3-Clause
// Helpers of the MPI test programs, which run under the preloaded interposer and compare its results with those of the
// MPI underneath. That one's functions are taken out of its library by hand, as both their names are caught.
#ifndef HOCKET_TESTS_INTEGRATION_MPI_CHECK_H
#define HOCKET_TESTS_INTEGRATION_MPI_CHECK_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;
static int world_rank = 0, world_size = 1;

#define CHECK(condition, ...)                                                                            \
  do {                                                                                                   \
    if (!(condition)) {                                                                                  \
      if (failures++ < 20) {                                                                             \
        fprintf(stderr, "FAILED on rank %d at %s:%d: %s: ", world_rank, __FILE__, __LINE__, #condition); \
        fprintf(stderr, __VA_ARGS__);                                                                    \
        fputc('\n', stderr);                                                                             \
      }                                                                                                  \
    }                                                                                                    \
  } while (0)

static inline void* native_function(const char* name) {
  static const char* const libraries[] = {"libmpi_abi.so.1", "libmpich.so.12", "libmpi.so.12", "libmpi.so.40"};
  for (size_t i = 0; i < sizeof libraries / sizeof *libraries; ++i) {
    void* library = dlopen(libraries[i], RTLD_LAZY | RTLD_NOLOAD);
    void* symbol = library != NULL ? dlsym(library, name) : NULL;
    if (symbol != NULL) return symbol;
  }
  fprintf(stderr, "no native %s\n", name);
  exit(3);
}

typedef int bcast_function(void*, int, MPI_Datatype, int, MPI_Comm);
typedef int reduce_function(const void*, void*, int, MPI_Datatype, MPI_Op, int, MPI_Comm);
typedef int allreduce_function(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm);
static bcast_function* native_bcast;
static reduce_function* native_reduce;
static allreduce_function* native_allreduce;

// The same sequence on all ranks.
static uint64_t random_state = 1;
static inline uint64_t random_number(void) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return random_state;
}

// From here on hocket carries out what is called on the communicator: the first call that waits for all ranks sets it
// up.
static inline void set_up(MPI_Comm comm) {
  const int code = MPI_Barrier(comm);
  CHECK(code == MPI_SUCCESS, "barrier: %d", code);
}

static inline void start_after_init(void) {
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  native_bcast = (bcast_function*)native_function("PMPI_Bcast");
  native_reduce = (reduce_function*)native_function("PMPI_Reduce");
  native_allreduce = (allreduce_function*)native_function("PMPI_Allreduce");
  const char* seed = getenv("TEST_SEED");
  if (seed != NULL) random_state = strtoull(seed, NULL, 10) | 1;
  native_bcast(&random_state, 8, MPI_BYTE, 0, MPI_COMM_WORLD);
  if (world_rank == 0) printf("TEST_SEED=%llu\n", (unsigned long long)random_state);
}

// All ranks wait for each other, and hocket doesn't hear of it.
static inline void meet_unseen(void) {
  const int mine = 0;
  int all = 0;
  native_allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static inline void start(int* argc, char*** argv) {
  MPI_Init(argc, argv);
  start_after_init();
}

// Ends the program; success only if no rank has failed.
static inline int finish(const char* what) {
  int all = 0;
  native_allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (world_rank == 0) printf("%s: %s\n", what, all == 0 ? "passed" : "FAILED");
  MPI_Finalize();
  return all == 0 ? 0 : 1;
}

#endif
