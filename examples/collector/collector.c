// SPDX-License-Identifier: BSD-3-Clause
// Communicators in a language whose garbage collector frees them: what goes wrong, and the remedy.
//
// Freeing a communicator is collective: MPI_Comm_disconnect waits for all its ranks, and MPI_Comm_free may. A collector
// runs when memory is short, which each rank finds at another time. A finaliser that frees at once makes a rank wait in
// there for the others, which wait in their next collective for it: the program hangs, now and then.
//
//   --finaliser frees    does that. Under hocket, after HOCKET_LATE_S seconds, a rank says who is missing
//   --finaliser notes    is the remedy, and what runs by default: a finaliser only notes the communicator's number. At
//                        places where all ranks come together anyway, they agree which ones all of them have collected,
//                        and free these, in one order
//
//   collector [--steps N] [--finaliser notes|frees] [--give-up SECONDS]
//
// --give-up ends a rank that hangs.
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kMost = 64 };  // communicators at a time: the bits of a set
enum { kBytesBeforeCollection = 4000 };

// What a binding makes of a communicator: an object of the language.
struct object {
  MPI_Comm comm;
  int is_reachable;  // by the program, on this rank
  int is_there;
};

struct heap {
  struct object objects[kMost];  // by number, the same on all ranks, as making one is collective
  uint64_t collected;            // a set of numbers: the finaliser has been called, and the communicator is not freed
  long garbage_bytes;
  int finaliser_frees;
  int freed;
  int most;  // objects at a time
};

static void finalise(struct heap* heap, int number) {
  struct object* object = &heap->objects[number];
  if (heap->finaliser_frees) {
    MPI_Comm_disconnect(&object->comm);  // wrong: where are the others?
    object->is_there = 0;
    ++heap->freed;
  } else {
    heap->collected |= UINT64_C(1) << number;
  }
}

static void collect(struct heap* heap) {
  heap->garbage_bytes = 0;
  for (int number = 0; number < kMost; ++number) {
    const struct object* object = &heap->objects[number];
    const int is_noted = (heap->collected >> number & 1) != 0;
    if (object->is_there && !object->is_reachable && !is_noted) finalise(heap, number);
  }
}

static void allocate(struct heap* heap, long bytes) {
  heap->garbage_bytes += bytes;
  if (heap->garbage_bytes > kBytesBeforeCollection) collect(heap);
}

// Collective. What one rank still uses stays for all.
static void free_agreed(struct heap* heap) {
  uint64_t all = 0;
  MPI_Allreduce(&heap->collected, &all, 1, MPI_UINT64_T, MPI_BAND, MPI_COMM_WORLD);
  for (int number = 0; number < kMost; ++number) {
    if ((all >> number & 1) == 0) continue;
    MPI_Comm_disconnect(&heap->objects[number].comm);
    heap->objects[number].is_there = 0;
    ++heap->freed;
  }
  heap->collected &= ~all;
}

// Collective: -1 where there is no number left, on all ranks alike, as they have freed the same.
static int duplicate(struct heap* heap, MPI_Comm comm) {
  int number = 0, there = 0;
  while (number < kMost && heap->objects[number].is_there) ++number;
  if (number == kMost) return -1;
  MPI_Comm_dup(comm, &heap->objects[number].comm);
  heap->objects[number].is_there = heap->objects[number].is_reachable = 1;
  for (int i = 0; i < kMost; ++i) there += heap->objects[i].is_there;
  if (there > heap->most) heap->most = there;
  return number;
}

static long sum_over(MPI_Comm comm, long mine) {
  long sum = 0;
  MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, comm);
  return sum;
}

// A step of a program that keeps no communicator longer than it needs it. Ranks make more garbage than others.
static int step(struct heap* heap, int rank, int size, int number) {
  const int team = duplicate(heap, MPI_COMM_WORLD);
  if (team < 0) return 0;
  const long sum = sum_over(heap->objects[team].comm, rank + number);
  heap->objects[team].is_reachable = 0;
  allocate(heap, 1000L * (rank + 1));
  if (!heap->finaliser_frees) free_agreed(heap);
  const long expected = (long)size * (size - 1) / 2 + (long)size * number;
  return sum == expected && sum_over(MPI_COMM_WORLD, sum) == expected * size;
}

static int usage(const char* program, const char* word) {
  fprintf(stderr, "%s: `%s`? usage: %s [--steps N] [--finaliser notes|frees] [--give-up SECONDS]\n", program, word,
          program);
  return 2;
}

int main(int argc, char** argv) {
  struct heap* heap = calloc(1, sizeof *heap);
  int steps = 40, rank, size, right = 1;
  for (int i = 1; i < argc; i += 2) {
    const char* value = i + 1 < argc ? argv[i + 1] : "";
    if (strcmp(argv[i], "--steps") == 0 && atoi(value) > 0)
      steps = atoi(value);
    else if (strcmp(argv[i], "--give-up") == 0 && atoi(value) > 0)
      alarm((unsigned)atoi(value));
    else if (strcmp(argv[i], "--finaliser") == 0 && (strcmp(value, "frees") == 0 || strcmp(value, "notes") == 0))
      heap->finaliser_frees = strcmp(value, "frees") == 0;
    else
      return usage(argv[0], argv[i]);
  }
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int number = 0; number < steps; ++number) right = step(heap, rank, size, number) && right;
  collect(heap);
  free_agreed(heap);
  right = sum_over(MPI_COMM_WORLD, right && heap->freed == steps) == size;
  if (rank == 0)
    printf("ranks %d communicators %d freed %d at most %d at a time: %s\n", size, steps, heap->freed, heap->most,
           right ? "right" : "WRONG");
  free(heap);
  MPI_Finalize();
  return right ? 0 : 1;
}
