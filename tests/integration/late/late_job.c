// SPDX-License-Identifier: BSD-3-Clause
// A job in which a rank doesn't come to a collective, for a reason that is drawn for it, or in which ranks come late
// again and again. Built with an MPI (WITH_MPI), or with hocket's C API for `hocket run`.
//
//   late_job hang KIND CULPRIT CALLS COLLECTIVE SEED    after CALLS calls; see hang() for the kinds. "silent": all from
//                                                       CULPRIT on are stopped
//   late_job sound SEED STEPS LONGEST_MS                in each step one rank comes up to so much late
// Where a rank begins to wait it says "waits"; of a sound job rank 0 says who was late, and by how much.
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { kMost = 4096 };
static int world_rank = 0, world_size = 1;
static int64_t sent[kMost], received[kMost];

#ifdef WITH_MPI
#include <mpi.h>
typedef MPI_Comm comm_t;
static comm_t world, first, second;
static void begin(int* argc, char*** argv) {
  MPI_Init(argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  world = MPI_COMM_WORLD;
  MPI_Comm_dup(world, &first);
  MPI_Comm_dup(world, &second);
  MPI_Comm_set_name(first, "first");
  MPI_Comm_set_name(second, "second");
}
static void end(void) { MPI_Finalize(); }
static void barrier(comm_t comm) { MPI_Barrier(comm); }
static void call(int collective, comm_t comm) {
  MPI_Request request;
  switch (collective) {
    case 0:
      MPI_Barrier(comm);
      return;
    case 1:
      MPI_Allreduce(sent, received, 3, MPI_INT64_T, MPI_SUM, comm);
      return;
    case 2:
      MPI_Allgather(sent, 2, MPI_INT64_T, received, 2, MPI_INT64_T, comm);
      return;
    case 3:
      MPI_Alltoall(sent, 2, MPI_INT64_T, received, 2, MPI_INT64_T, comm);
      return;
    default:
      MPI_Iallreduce(sent, received, 3, MPI_INT64_T, MPI_SUM, comm, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}
static void receive(int from) { MPI_Recv(received, 1, MPI_INT64_T, from, 7, first, MPI_STATUS_IGNORE); }
#else
#include <hocket/hocket.h>
typedef hocket_comm_t* comm_t;
static hocket_context_t* context;
static comm_t world, first, second;
static void must(int code) {
  if (code == HOCKET_OK) return;
  fprintf(stderr, "late_job: %s\n", hocket_error_text());
  exit(3);
}
static void begin(int* argc, char*** argv) {
  (void)argc;
  (void)argv;
  must(hocket_context_create(NULL, &context));
  must(hocket_comm_world(context, &world));
  hocket_comm_rank(world, &world_rank);
  hocket_comm_size(world, &world_size);
  must(hocket_comm_dup(world, &first));
  must(hocket_comm_dup(world, &second));
}
static void end(void) {
  hocket_comm_destroy(first);
  hocket_comm_destroy(second);
  hocket_comm_destroy(world);
  hocket_context_destroy(context);
}
static void barrier(comm_t comm) { must(hocket_barrier(comm)); }
static void call(int collective, comm_t comm) {
  switch (collective) {
    case 0:
      must(hocket_barrier(comm));
      return;
    case 1:
    case 4:
      must(hocket_allreduce(comm, sent, received, 3, HOCKET_INT64, HOCKET_SUM));
      return;
    case 2:
      must(hocket_allgather(comm, sent, received, 2, HOCKET_INT64));
      return;
    default:
      must(hocket_alltoall(comm, sent, received, 2, HOCKET_INT64));
  }
}
static void receive(int from) {
  (void)from;
  pause();
}
#endif

static void say(const char* what) {
  fprintf(stderr, "late_job: rank %d %s\n", world_rank, what);
  fflush(stderr);
}

static void block_in_read(void) {
  int ends[2];
  char byte;
  if (pipe(ends) == 0 && read(ends[0], &byte, 1) < 0) say("could not read");
}

// What the culprit does instead of coming to the call.
static void hang(const char* kind, int collective) {
  if (strcmp(kind, "never") == 0)
    for (;;) usleep(10000);
  if (strcmp(kind, "loop") == 0)
    for (volatile long i = 0;; ++i) continue;
  if (strcmp(kind, "stopped") == 0 || strcmp(kind, "silent") == 0) raise(SIGSTOP);
  if (strcmp(kind, "blocked") == 0) block_in_read();
  if (strcmp(kind, "receive") == 0) receive((world_rank + 1) % world_size);
  if (strcmp(kind, "communicator") == 0 || strcmp(kind, "deadlock") == 0) call(collective, second);
  if (strcmp(kind, "collective") == 0) call((collective + 1) % 4, first);
  if (strcmp(kind, "launcher") == 0) {
    kill(getppid(), SIGKILL);
    for (;;) usleep(10000);
  }
}

static uint64_t state;
static int draw(int below) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (int)(state % (uint64_t)below);
}

static int run_sound(int steps, int longest_ms) {
  for (int step = 0; step < steps; ++step) {
    const int late = draw(world_size), ms = draw(3) == 0 ? draw(longest_ms) : 0, collective = draw(5), which = draw(3);
    if (world_rank == late && ms > 0) {
      fprintf(stderr, "late_job: rank %d is late by %d ms\n", late, ms);
      usleep((useconds_t)ms * 1000);
    }
    call(collective, which == 0 ? world : which == 1 ? first : second);
  }
  return 0;
}

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  begin(&argc, &argv);
  if (strcmp(argv[1], "sound") == 0) {
    state = (uint64_t)atol(argv[2]) * 2654435761u + 1;
    run_sound(atoi(argv[3]), atoi(argv[4]));
    if (world_rank == 0) say("is right");
    end();
    return 0;
  }
  const char* const kind = argv[2];
  const int culprit = atoi(argv[3]), calls = atoi(argv[4]), collective = atoi(argv[5]);
  state = (uint64_t)atol(argv[6]) * 2654435761u + 1;
  for (int i = 0; i < calls; ++i) {
    const int which = draw(3);
    call(draw(5), which == 0 ? world : which == 1 ? first : second);
  }
  const int is_culprit = world_rank == culprit || (strcmp(kind, "silent") == 0 && world_rank > culprit);
  if (is_culprit) {
    say("is the culprit");
    hang(kind, collective);
  } else {
    say("waits");
    call(collective, first);
  }
  barrier(world);
  end();
  return 0;
}
