// SPDX-License-Identifier: BSD-3-Clause
// A ring exchange of 100 messages each way whose requests are waited for one by one, by MPI_Waitany over all of them:
// alone, while the program holds 41 inactive persistent collectives, and while it has a non-blocking collective under
// way. Prints lines of a name and microseconds an exchange.
//   many_requests EXCHANGES
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "ranks.h"

enum { kMessages = 100, kHeld = 41, kRepetitions = 9 };

static void exchange(void) {
  static int in[kMessages], out[kMessages];
  MPI_Request requests[2 * kMessages];
  const int next = (rank + 1) % size, last = (rank + size - 1) % size;
  for (int i = 0; i < kMessages; ++i) MPI_Irecv(&in[i], 1, MPI_INT, last, 3, MPI_COMM_WORLD, &requests[i]);
  for (int i = 0; i < kMessages; ++i) MPI_Isend(&out[i], 1, MPI_INT, next, 3, MPI_COMM_WORLD, &requests[kMessages + i]);
  for (int i = 0; i < 2 * kMessages; ++i) {
    int index = 0;
    MPI_Waitany(2 * kMessages, requests, &index, MPI_STATUS_IGNORE);
  }
}

static void measure(const char* name, int exchanges) {
  double times[kRepetitions];
  for (int i = 0; i < kRepetitions; ++i) {
    meet();
    const double before = clock_us(CLOCK_MONOTONIC);
    for (int j = 0; j < exchanges; ++j) exchange();
    times[i] = most(clock_us(CLOCK_MONOTONIC) - before) / exchanges;
  }
  const double middle = median(times, kRepetitions);
  if (rank == 0) printf("%s %.3f\n", name, middle);
}

int main(int argc, char** argv) {
  const int exchanges = argc > 1 ? atoi(argv[1]) : 100;
  MPI_Init(&argc, &argv);
  init_ranks();
  for (int i = 0; i < 300; ++i) MPI_Barrier(MPI_COMM_WORLD);
  measure("nothing_held", exchanges);
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
  static double in[kHeld], out[kHeld];
  MPI_Request held[kHeld], request;
  for (int i = 0; i < kHeld; ++i)
    MPI_Allreduce_init(&in[i], &out[i], 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &held[i]);
  measure("persistent_held", exchanges);
  for (int i = 0; i < kHeld; ++i) MPI_Request_free(&held[i]);
#else
  MPI_Request request;
#endif
  // The last rank starts it when the exchanges are over.
  if (rank != size - 1) MPI_Ibarrier(MPI_COMM_WORLD, &request);
  measure("one_under_way", exchanges);
  if (rank == size - 1) MPI_Ibarrier(MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
