// SPDX-License-Identifier: BSD-3-Clause
// Calls in which a rank waits for another one: what they return, and that a rank that waits for long leaves its core to
// others. HAS_HOOK: the MPI calls hocket at its looks. IS_BUSY: ranks wait as the MPI does. With the argument
// "multiple" the program asks for MPI_THREAD_MULTIPLE, where that is not used.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

static double processor_seconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

// How often this thread has slept; a yield is none.
static long sleeps(void) {
  struct rusage usage;
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nvcsw;
}

static useconds_t late_us = 150000;
enum { kSleeps = 10 };  // at least, in a wait as long as that
// ... or this part of a core at most: on a busy machine a rank may wait for its core instead.
static const double kShare = 0.1;

// Rank 0 comes late to what the others wait in.
#define WAIT_FOR_RANK_0(what, ...)                                                                                \
  do {                                                                                                            \
    MPI_Barrier(MPI_COMM_WORLD);                                                                                  \
    if (world_rank == 0) usleep(late_us);                                                                         \
    const double before = processor_seconds(), began = MPI_Wtime();                                               \
    const long slept = sleeps();                                                                                  \
    __VA_ARGS__;                                                                                                  \
    const double used = processor_seconds() - before, took = MPI_Wtime() - began;                                 \
    if (world_rank != 0 && took > 0.5e-6 * (double)late_us) {                                                     \
      printf("%s: %.1f %% of a core, %ld sleeps\n", what, 100 * used / took, sleeps() - slept);                   \
      if (must_be_calm)                                                                                           \
        CHECK(sleeps() - slept >= kSleeps || used < kShare * took, "%s sleeps %ld times, and uses %.1f %%", what, \
              sleeps() - slept, 100 * used / took);                                                               \
    }                                                                                                             \
  } while (0)

static void send_to_all(int value, int tag) {
  for (int to = 1; to < world_size; ++to) MPI_Send(&value, 1, MPI_INT, to, tag, MPI_COMM_WORLD);
}

static void check_message(int value, int expected, const MPI_Status* status, int source, int tag) {
  int count = -1;
  MPI_Get_count(status, MPI_INT, &count);
  CHECK(value == expected && count == 1, "%d, %d elements", value, count);
  CHECK(status->MPI_SOURCE == source && status->MPI_TAG == tag, "from %d, tag %d", status->MPI_SOURCE, status->MPI_TAG);
}

static void receive(int must_be_calm) {
  int value = 0;
  MPI_Status status;
  WAIT_FOR_RANK_0("MPI_Recv", {
    if (world_rank == 0) {
      send_to_all(17, 1);
    } else {
      MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
      check_message(value, 17, &status, 0, 1);
    }
  });
  WAIT_FOR_RANK_0("MPI_Probe, MPI_Mprobe and MPI_Mrecv", {
    if (world_rank == 0) {
      send_to_all(18, 2);
      usleep(late_us);
      send_to_all(19, 2);
    } else {
      MPI_Message message;
      MPI_Probe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
      MPI_Recv(&value, 1, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, &status);
      check_message(value, 18, &status, 0, 2);
      MPI_Mprobe(MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &message, &status);
      MPI_Mrecv(&value, 1, MPI_INT, &message, &status);
      check_message(value, 19, &status, 0, 2);
    }
  });
  WAIT_FOR_RANK_0("MPI_Sendrecv", {
    const int next = (world_rank + 1) % world_size, last = (world_rank + world_size - 1) % world_size;
    MPI_Sendrecv(&world_rank, 1, MPI_INT, next, 3, &value, 1, MPI_INT, last, 3, MPI_COMM_WORLD, &status);
    check_message(value, last, &status, last, 3);
  });
}

static void send(int must_be_calm) {
  enum { kLong = 1 << 22 };
  char* buffer = calloc(kLong, 1);
  WAIT_FOR_RANK_0("MPI_Ssend", {
    if (world_rank == 0) {
      for (int from = 1; from < world_size; ++from)
        MPI_Recv(buffer, 1, MPI_CHAR, from, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Ssend(buffer, 1, MPI_CHAR, 0, 4, MPI_COMM_WORLD);
    }
  });
  WAIT_FOR_RANK_0("MPI_Send of 4 MiB", {
    if (world_rank == 0) {
      for (int from = 1; from < world_size; ++from) {
        memset(buffer, 0, kLong);
        MPI_Recv(buffer, kLong, MPI_CHAR, from, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(buffer[0] == from && buffer[kLong - 1] == from, "%d %d", buffer[0], buffer[kLong - 1]);
      }
    } else {
      memset(buffer, world_rank, kLong);
      MPI_Send(buffer, kLong, MPI_CHAR, 0, 5, MPI_COMM_WORLD);
    }
  });
  free(buffer);
}

static void wait_for_requests(int must_be_calm) {
  int values[3] = {0, 0, 0};
  MPI_Status statuses[3];
  WAIT_FOR_RANK_0("MPI_Wait and its like", {
    if (world_rank == 0) {
      // Each of the calls has something to wait for.
      for (int tag = 10; tag < 16; ++tag) {
        usleep(late_us / 4);
        send_to_all(tag, tag);
      }
    } else {
      MPI_Request requests[6];
      int more[3] = {0, 0, 0};
      for (int i = 0; i < 6; ++i)
        MPI_Irecv(i < 3 ? &values[i] : &more[i - 3], 1, MPI_INT, 0, 10 + i, MPI_COMM_WORLD, &requests[i]);
      MPI_Wait(&requests[0], &statuses[0]);
      check_message(values[0], 10, &statuses[0], 0, 10);
      MPI_Waitall(2, requests + 1, statuses + 1);
      check_message(values[2], 12, &statuses[2], 0, 12);
      int index = -1;
      MPI_Waitany(3, requests + 3, &index, &statuses[0]);
      CHECK(index >= 0 && index < 3 && more[index] == 13 + index, "index %d", index);
      int completed = 0, done = 1;
      while (done < 3) {
        int indices[3];
        MPI_Waitsome(3, requests + 3, &completed, indices, statuses);
        CHECK(completed > 0, "%d", completed);
        done += completed;
      }
      CHECK(more[0] == 13 && more[1] == 14 && more[2] == 15, "%d %d %d", more[0], more[1], more[2]);
      for (int i = 0; i < 6; ++i) CHECK(requests[i] == MPI_REQUEST_NULL, "request %d", i);
    }
  });
}

// What only the MPI's own looks can make calm.
static void wait_collectively(int must_be_calm) {
  WAIT_FOR_RANK_0("MPI_Comm_dup", {
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_free(&copy);
  });
  int* memory = NULL;
  MPI_Win window;
  MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  MPI_Win_fence(0, window);
  late_us = 400000;  // a rank with a window stays awake for longer
  WAIT_FOR_RANK_0("MPI_Win_fence", MPI_Win_fence(0, window));
  MPI_Win_free(&window);
}

// While a rank sleeps in the MPI, whoever sends looks whether it is the one that is sent to. Errors are those of the
// send.
static void send_beside_sleepers(void) {
  MPI_Comm part, bridge;
  int value = 21, error_class = MPI_SUCCESS;
  if (world_size < 3) return;
  MPI_Comm_split(MPI_COMM_WORLD, world_rank == 0, world_rank, &part);
  MPI_Intercomm_create(part, 0, MPI_COMM_WORLD, world_rank == 0 ? 1 : 0, 21, &bridge);
  MPI_Comm_set_errhandler(part, MPI_ERRORS_RETURN);
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank == 1) MPI_Recv(&value, 1, MPI_INT, 0, 22, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (world_rank == world_size - 1) MPI_Recv(&value, 1, MPI_INT, 0, 23, bridge, MPI_STATUS_IGNORE);
  if (world_rank == 0) {
    usleep(late_us);
    MPI_Send(&value, 1, MPI_INT, world_size - 2, 23, bridge);  // more than there are in its own group
    MPI_Error_class(MPI_Send(&value, 1, MPI_INT, world_size, 24, part), &error_class);
    CHECK(error_class == MPI_ERR_RANK, "class %d", error_class);
    MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 24, part);
    MPI_Send(&value, 1, MPI_INT, 1, 22, MPI_COMM_WORLD);
  }
  CHECK(value == 21, "value %d", value);
  MPI_Comm_free(&bridge);
  MPI_Comm_free(&part);
}

// Open MPI 5 has partitioned messages, but reports an earlier version of the standard.
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
// Partitioned messages around a ring, completed together with an ordinary receive.
static void wait_for_partitions(void) {
  enum { kPartitions = 4, kRounds = 3 };
  const int next = (world_rank + 1) % world_size, previous = (world_rank + world_size - 1) % world_size;
  int sent[kPartitions], received[kPartitions], value = -1;
  MPI_Request requests[3];
  MPI_Psend_init(sent, kPartitions, 1, MPI_INT, next, 25, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
  MPI_Precv_init(received, kPartitions, 1, MPI_INT, previous, 25, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < kPartitions; ++i) {
      sent[i] = 100 * world_rank + 10 * round + i;
      received[i] = -1;
    }
    MPI_Startall(2, requests);
    MPI_Irecv(&value, 1, MPI_INT, previous, 26, MPI_COMM_WORLD, &requests[2]);
    if (world_rank == 0) usleep(late_us / 10);
    for (int i = 0; i < kPartitions; ++i) MPI_Pready(i, requests[0]);
    for (int i = 0, has_arrived = 0; round == 0 && i < kPartitions; i += has_arrived)
      MPI_Parrived(requests[1], i, &has_arrived);
    MPI_Send(&round, 1, MPI_INT, next, 26, MPI_COMM_WORLD);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < kPartitions; ++i)
      CHECK(received[i] == 100 * previous + 10 * round + i, "partition %d of round %d: %d", i, round, received[i]);
    CHECK(value == round && requests[2] == MPI_REQUEST_NULL, "%d in round %d", value, round);
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
}
#else
static void wait_for_partitions(void) {}
#endif

// The second of three messages is longer than its receive buffer. Where hocket tests the requests itself, MPI_Waitall
// reports that also before the first message comes, and only messages are pending then. With a started collective among
// the requests, if wanted. MPICH itself waits for the first, and Open MPI 4.1.4 for ever if the second has failed
// before.
static void error_among_several(int with_collective) {
  enum { kNull = 3, kCollective = 4 };
  const int pair[2] = {1, 2};
  const int count = with_collective ? kCollective + 1 : kCollective;
  int values[3] = {0, 0, 0}, sum = 0;
  MPI_Request requests[5];
  MPI_Status statuses[5];
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  if (world_rank == 1)
    for (int i = 0; i < 3; ++i) MPI_Irecv(&values[i], 1, MPI_INT, 0, 27 + i, MPI_COMM_WORLD, &requests[i]);
  if (with_collective) MPI_Iallreduce(&world_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[kCollective]);
  if (world_rank == 0) {
    for (int i = 1; i < 3; ++i) MPI_Send(pair, i == 1 ? 2 : 1, MPI_INT, 1, 27 + i, MPI_COMM_WORLD);
    MPI_Recv(&values[0], 1, MPI_INT, 1, 30, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(pair, 1, MPI_INT, 1, 27, MPI_COMM_WORLD);
  }
  if (with_collective && world_rank != 1) MPI_Wait(&requests[kCollective], MPI_STATUS_IGNORE);
  if (world_rank == 1) {
    int error_class = MPI_SUCCESS;
    requests[kNull] = MPI_REQUEST_NULL;
    MPI_Error_class(MPI_Waitall(count, requests, statuses), &error_class);
    CHECK(error_class == MPI_ERR_IN_STATUS, "class %d", error_class);
    MPI_Send(pair, 1, MPI_INT, 0, 30, MPI_COMM_WORLD);
    for (int i = 0; i < count; ++i) {
      MPI_Error_class(statuses[i].MPI_ERROR, &error_class);
      const int is_pending = error_class == MPI_ERR_PENDING;
      CHECK(i == 1 ? error_class == MPI_ERR_TRUNCATE : error_class == MPI_SUCCESS || (is_pending && i < 3),
            "class %d of request %d", error_class, i);
      if (is_pending) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    }
    CHECK(values[0] == 1 && values[2] == 1, "%d %d", values[0], values[2]);
  }
  if (with_collective) CHECK(sum == world_size * (world_size - 1) / 2, "sum %d", sum);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

static void errors(int polls_one_by_one) {
  int value = 0, error = 0, error_class = MPI_SUCCESS;
  MPI_Status status;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const int pair[2] = {1, 2};
  if (world_rank == 0) MPI_Send(pair, 2, MPI_INT, 1, 6, MPI_COMM_WORLD);
  if (world_rank == 1) {
    error = MPI_Recv(&value, 1, MPI_INT, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Error_class(error, &error_class);
    CHECK(error_class == MPI_ERR_TRUNCATE, "class %d", error_class);
  }
  error = MPI_Send(&value, 1, MPI_INT, world_size, 0, MPI_COMM_WORLD);
  MPI_Error_class(error, &error_class);
  CHECK(error_class == MPI_ERR_RANK, "class %d", error_class);
  error = MPI_Recv(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status);
  CHECK(error == MPI_SUCCESS && status.MPI_SOURCE == MPI_PROC_NULL, "%d, from %d", error, status.MPI_SOURCE);
  error = MPI_Sendrecv(&world_rank, 1, MPI_INT, world_rank, 7, &value, 1, MPI_INT, world_rank, 7, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE);
  CHECK(error == MPI_SUCCESS && value == world_rank, "%d, %d", error, value);
  // One that is refused has not taken anything: the next message still comes to the next receive.
  int other = -1;
  error = MPI_Sendrecv(&world_rank, 1, MPI_INT, world_size, 8, &other, 1, MPI_INT, MPI_ANY_SOURCE, 8, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE);
  MPI_Error_class(error, &error_class);
  CHECK(error_class == MPI_ERR_RANK, "class %d", error_class);
  error = MPI_Sendrecv(&world_rank, 1, MPI_INT, world_rank, 8, &value, 1, MPI_INT, world_rank, 8, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE);
  CHECK(error == MPI_SUCCESS && value == world_rank && other == -1, "%d, %d, %d", error, value, other);
  // A message that is too long is an error of the receive alone.
  const int three[3] = {1, 2, 3};
  if (world_rank < 2) {
    error = MPI_Sendrecv(three, world_rank == 0 ? 3 : 1, MPI_INT, 1 - world_rank, 9, &value, 1, MPI_INT, 1 - world_rank,
                         9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    error_class = MPI_SUCCESS;
    if (error != MPI_SUCCESS) MPI_Error_class(error, &error_class);
    CHECK(error_class == (world_rank == 0 ? MPI_SUCCESS : MPI_ERR_TRUNCATE), "class %d", error_class);
  }
  for (int with_collective = 0; polls_one_by_one && with_collective < 2; ++with_collective)
    error_among_several(with_collective);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char** argv) {
  const int multiple = argc > 1 && strcmp(argv[1], "multiple") == 0;
  int level = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, multiple ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED, &level);
  start_after_init();
  const int has_hook = getenv("HAS_HOOK") != NULL && !multiple;
  // With a core each and no hook, blocking sends and receives stay the MPI's.
  const int shares_cores = sysconf(_SC_NPROCESSORS_ONLN) < world_size;
  const char* preloaded = getenv("LD_PRELOAD");
  const int is_busy = getenv("IS_BUSY") != NULL || preloaded == NULL || strstr(preloaded, "hocket-mpi") == NULL;
  receive(has_hook || (shares_cores && !is_busy));
  send(has_hook || (shares_cores && !is_busy));
  wait_for_requests(!is_busy);
  wait_collectively(has_hook);
  send_beside_sleepers();
  wait_for_partitions();
  errors(multiple && !is_busy);
  return finish("waits");
}
