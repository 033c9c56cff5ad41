// SPDX-License-Identifier: BSD-3-Clause
// Collectives of every kind, on the world, a duplicate and halves of it, with their results checked: for whoever wants
// to see what becomes of a job in which set-up is refused something.
#include "check.h"

enum { kLong = 1 << 17 };

static void call_all(MPI_Comm comm) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  for (int round = 0; round < 3; ++round) {
    int sum = 0;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK(sum == size * (size - 1) / 2, "%d", sum);
    MPI_Barrier(comm);
    int* numbers = malloc(kLong * sizeof *numbers);
    for (int i = 0; i < kLong; ++i) numbers[i] = rank == 0 ? i + round : -1;
    MPI_Bcast(numbers, kLong, MPI_INT, 0, comm);
    CHECK(numbers[kLong - 1] == kLong - 1 + round, "%d", numbers[kLong - 1]);
    int* out = malloc(kLong * sizeof *out);
    MPI_Allreduce(numbers, out, kLong, MPI_INT, MPI_SUM, comm);
    CHECK(out[1] == size * (1 + round), "%d", out[1]);
    int *send = malloc(sizeof(int) * size), *receive = malloc(sizeof(int) * size);
    for (int i = 0; i < size; ++i) send[i] = rank * 1000 + i;
    MPI_Alltoall(send, 1, MPI_INT, receive, 1, MPI_INT, comm);
    for (int i = 0; i < size; ++i) CHECK(receive[i] == i * 1000 + rank, "%d: %d", i, receive[i]);
    MPI_Allgather(&rank, 1, MPI_INT, receive, 1, MPI_INT, comm);
    for (int i = 0; i < size; ++i) CHECK(receive[i] == i, "%d: %d", i, receive[i]);
    free(send);
    free(receive);
    free(out);
    free(numbers);
  }
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  call_all(MPI_COMM_WORLD);
  MPI_Comm copy, half;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  call_all(copy);
  MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, world_rank, &half);
  call_all(half);
  MPI_Comm_free(&half);
  MPI_Comm_free(&copy);
  return finish("set_up");
}
