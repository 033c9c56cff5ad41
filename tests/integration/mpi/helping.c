// SPDX-License-Identifier: BSD-3-Clause
// Ranks work on the window of one that waits in a barrier, and send to it what ends only when it has been received: so
// often that it takes minutes if that one looks at the MPI now and then only.
#include <unistd.h>

#include "check.h"

enum { kOperations = 4000, kMessages = 4000, kDoubles = 4096, kAccumulations = 200 };

static void work_on_a_window(void) {
  static double memory[kDoubles + 8], ones[kDoubles];
  MPI_Win window;
  MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  for (int i = 0; i < kDoubles; ++i) ones[i] = 1;
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank != 0) {
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
    for (int i = 0; i < kOperations; ++i) {
      const long one = 1;
      long before = -1;
      MPI_Fetch_and_op(&one, &before, MPI_LONG, 0, 0, MPI_SUM, window);
      MPI_Win_flush(0, window);
      CHECK(before >= i, "%ld before the one with number %d", before, i);
    }
    for (int i = 0; i < kAccumulations; ++i) {
      MPI_Accumulate(ones, kDoubles, MPI_DOUBLE, 0, 8, kDoubles, MPI_DOUBLE, MPI_SUM, window);
      MPI_Win_flush(0, window);
    }
    MPI_Win_unlock(0, window);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, world_rank, 0, window);
  if (world_rank == 0) {
    long operations = 0;
    memcpy(&operations, memory, sizeof operations);
    CHECK(operations == (long)kOperations * (world_size - 1), "%ld operations", operations);
    CHECK(memory[kDoubles] == (double)kAccumulations * (world_size - 1), "a sum of %g", memory[kDoubles]);
  }
  MPI_Win_unlock(world_rank, window);
  MPI_Win_free(&window);
}

static void send_to_who_waits(void) {
  const int number = kMessages * (world_size - 1);
  MPI_Request* requests = malloc((size_t)number * sizeof *requests);
  int* words = malloc((size_t)number * sizeof *words);
  for (int i = 0; i < number && world_rank == 0; ++i)
    MPI_Irecv(&words[i], 1, MPI_INT, 1 + i / kMessages, 1, MPI_COMM_WORLD, &requests[i]);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < kMessages && world_rank != 0; ++i) MPI_Ssend(&i, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank == 0) MPI_Waitall(number, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < number && world_rank == 0; ++i) CHECK(words[i] == i % kMessages, "word %d: %d", i, words[i]);
  free(requests);
  free(words);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  alarm(40);
  set_up(MPI_COMM_WORLD);
  work_on_a_window();
  send_to_who_waits();
  return finish("helping");
}
