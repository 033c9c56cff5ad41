// SPDX-License-Identifier: BSD-3-Clause
// Collectives of every kind, on the world, a duplicate and halves of it, with their results checked: for whoever wants
// to see what becomes of a job in which set-up is refused something.
// With the argument "addresses" each rank may map only a GiB more than it has when MPI_Init is over (`ulimit -v`); with
// "locked" it locks all its memory, and all of it together must not be more than that. With "user" rank 1 becomes
// another user's.
#define _GNU_SOURCE
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

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

// Of what /proc/self/status says.
static unsigned long long kilobytes(const char* what) {
  char line[256];
  unsigned long long value = 0;
  FILE* file = fopen("/proc/self/status", "r");
  while (file != NULL && fgets(line, sizeof line, file) != NULL) {
    if (strncmp(line, what, strlen(what)) == 0) sscanf(line + strlen(what), ": %llu", &value);
  }
  if (file != NULL) fclose(file);
  return value;
}

enum { kCopies = 16 };
static const unsigned long long kMoreKilobytes = 1 << 20;

static int limit_addresses(void) {
  const rlim_t bytes = (kilobytes("VmSize") + kMoreKilobytes) << 10;
  const struct rlimit limit = {bytes, bytes};
  return setrlimit(RLIMIT_AS, &limit) == 0;
}

static void limit_and_call_all(const char* what) {
  MPI_Comm copies[kCopies];
  const int is_locked = strcmp(what, "locked") == 0;
  const unsigned long long before = kilobytes("VmSize");
  const int here = is_locked ? mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) == 0 : limit_addresses();
  int everywhere;
  MPI_Allreduce(&here, &everywhere, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (!everywhere) return (void)printf("skipped: %s: not allowed here\n", what);
  for (int i = 0; i < kCopies; ++i) {
    MPI_Comm_dup(MPI_COMM_WORLD, &copies[i]);
    call_all(copies[i]);
  }
  for (int i = 0; i < kCopies; ++i) MPI_Comm_free(&copies[i]);
  const unsigned long long now = kilobytes(is_locked ? "VmLck" : "VmSize");
  CHECK(now < before + kMoreKilobytes, "%s: %llu KiB, of %llu before", what, now, before);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  if (argc > 1 && strcmp(argv[1], "user") == 0) {
    if (geteuid() != 0) printf("skipped: only root may become another user\n");
    if (world_rank == 1) CHECK(seteuid(65534) == 0, "seteuid");
  } else if (argc > 1) {
    limit_and_call_all(argv[1]);
  }
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
