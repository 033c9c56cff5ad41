// SPDX-License-Identifier: BSD-3-Clause
// Collectives on memory that MPI_Win_allocate and MPI_Win_allocate_shared have given, and what the standard says of
// these windows. The argument names what is done; hocket's statistics tell whether peers have used the memory in place.
#define _GNU_SOURCE
#include <dirent.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"

// So much that peers come to look for the memory, and go on for a while.
enum { kLongs = 32 << 10, kRounds = 24 };

static uint64_t value_of(int rank, int round, size_t i) {
  return (uint64_t)rank * 1000003 + (uint64_t)round * 10007 + i;
}

static void fill(uint64_t* data, int rank, int round, size_t count) {
  for (size_t i = 0; i < count; ++i) data[i] = value_of(rank, round, i);
}

static int is_filled(const uint64_t* data, int rank, int round, size_t count) {
  for (size_t i = 0; i < count; ++i)
    if (data[i] != value_of(rank, round, i)) return 0;
  return 1;
}

static int is_sum(const uint64_t* data, int size, int round, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    uint64_t sum = 0;
    for (int rank = 0; rank < size; ++rank) sum += value_of(rank, round, i);
    if (data[i] != sum) return 0;
  }
  return 1;
}

// `one` and `other` have room for kLongs each.
static void combine(MPI_Comm comm, uint64_t* one, uint64_t* other, int round) {
  int rank = 0, size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  fill(one, rank, round, kLongs);
  MPI_Allreduce(one, other, kLongs, MPI_UINT64_T, MPI_SUM, comm);
  CHECK(is_sum(other, size, round, kLongs), "allreduce, round %d", round);
  CHECK(is_filled(one, rank, round, kLongs), "what allreduce was given, round %d", round);
  MPI_Allreduce(MPI_IN_PLACE, one, kLongs, MPI_UINT64_T, MPI_SUM, comm);
  CHECK(is_sum(one, size, round, kLongs), "allreduce in place, round %d", round);
}

static void move(MPI_Comm comm, uint64_t* one, uint64_t* other, int round) {
  int rank = 0, size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const int root = round % size, block = kLongs / size;
  fill(one, rank == root ? root : -1, round, kLongs);
  MPI_Bcast(one, kLongs, MPI_UINT64_T, root, comm);
  CHECK(is_filled(one, root, round, kLongs), "broadcast, round %d", round);
  fill(one, rank, round, (size_t)block);
  memset(other, 0, kLongs * sizeof *other);
  MPI_Gather(one, block, MPI_UINT64_T, other, block, MPI_UINT64_T, root, comm);
  for (int peer = 0; peer < size && rank == root; ++peer)
    CHECK(is_filled(other + (size_t)peer * block, peer, round, block), "gather of %d, round %d", peer, round);
  MPI_Allgather(one, block, MPI_UINT64_T, other, block, MPI_UINT64_T, comm);
  for (int peer = 0; peer < size; ++peer)
    CHECK(is_filled(other + (size_t)peer * block, peer, round, block), "allgather of %d, round %d", peer, round);
  MPI_Alltoall(other, block, MPI_UINT64_T, one, block, MPI_UINT64_T, comm);
  for (int peer = 0; peer < size; ++peer)
    CHECK(is_filled(one + (size_t)peer * block, rank, round, block), "alltoall of %d, round %d", peer, round);
  MPI_Scatter(other, block, MPI_UINT64_T, one, block, MPI_UINT64_T, root, comm);
  CHECK(is_filled(one, rank, round, block), "scatter, round %d", round);
}

static void work(MPI_Comm comm, uint64_t* one, uint64_t* other, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    combine(comm, one, other, round);
    move(comm, one, other, round);
  }
}

static void check_attributes(MPI_Win window, const void* base, MPI_Aint bytes, int unit, int flavour) {
  void* value = NULL;
  int found = 0;
  CHECK(MPI_Win_get_attr(window, MPI_WIN_SIZE, &value, &found) == MPI_SUCCESS && found, "size");
  CHECK(found && *(MPI_Aint*)value == bytes, "size %ld", (long)*(MPI_Aint*)value);
  MPI_Win_get_attr(window, MPI_WIN_DISP_UNIT, &value, &found);
  CHECK(found && *(int*)value == unit, "unit %d", *(int*)value);
  MPI_Win_get_attr(window, MPI_WIN_CREATE_FLAVOR, &value, &found);
  CHECK(found && *(int*)value == flavour, "flavour %d", *(int*)value);
  MPI_Win_get_attr(window, MPI_WIN_MODEL, &value, &found);
  CHECK(found && (*(int*)value == MPI_WIN_UNIFIED || *(int*)value == MPI_WIN_SEPARATE), "model %d", *(int*)value);
  MPI_Win_get_attr(window, MPI_WIN_BASE, &value, &found);
  CHECK(found && (bytes == 0 || value == base), "base %p instead of %p", value, base);
}

// One-sided work goes on beside collectives.
static void put_to_the_next(MPI_Win window, uint64_t* memory) {
  const uint64_t mine = 77 + (uint64_t)world_rank;
  MPI_Win_fence(0, window);
  MPI_Put(&mine, 1, MPI_UINT64_T, (world_rank + 1) % world_size, 1, 1, MPI_UINT64_T, window);
  MPI_Win_fence(0, window);
  const uint64_t before = 77 + (uint64_t)((world_rank + world_size - 1) % world_size);
  CHECK(memory[1] == before, "put: %llu", (unsigned long long)memory[1]);
}

static void allocated(void) {
  uint64_t* memory = NULL;
  MPI_Win window;
  const MPI_Aint bytes = 2 * kLongs * sizeof *memory;
  MPI_Win_allocate(bytes, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  check_attributes(window, memory, bytes, sizeof *memory, MPI_WIN_FLAVOR_ALLOCATE);
  work(MPI_COMM_WORLD, memory, memory + kLongs, kRounds);
  put_to_the_next(window, memory);
  work(MPI_COMM_WORLD, memory, memory + kLongs, 2);
  CHECK(MPI_Win_free(&window) == MPI_SUCCESS && window == MPI_WIN_NULL, "free");
}

// Where ranks' parts lie one behind the other, what is beyond a rank's own part is the next one's.
static void check_contiguity(MPI_Win window, uint64_t* memory, MPI_Aint bytes) {
  for (int rank = 0; rank < world_size; ++rank) {
    MPI_Aint its = 0;
    int unit = 0;
    char* base = NULL;
    MPI_Win_shared_query(window, rank, &its, &unit, &base);
    CHECK(its == bytes && unit == (int)sizeof *memory, "%ld bytes, unit %d", (long)its, unit);
    CHECK(base == (char*)memory + (rank - world_rank) * bytes, "rank %d at %p", rank, (void*)base);
  }
  MPI_Aint its = 0;
  int unit = 0;
  char* first = NULL;
  MPI_Win_shared_query(window, MPI_PROC_NULL, &its, &unit, &first);
  CHECK(its == bytes && first == (char*)memory - world_rank * bytes, "the first of all at %p", (void*)first);
}

static void shared(void) {
  uint64_t* memory = NULL;
  MPI_Win window;
  const MPI_Aint bytes = 2 * kLongs * sizeof *memory;
  MPI_Win_allocate_shared(bytes, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  check_attributes(window, memory, bytes, sizeof *memory, MPI_WIN_FLAVOR_SHARED);
  check_contiguity(window, memory, bytes);
  work(MPI_COMM_WORLD, memory, memory + kLongs, kRounds);
  put_to_the_next(window, memory);
  MPI_Win_free(&window);
}

static void apart(void) {
  uint64_t* memory = NULL;
  MPI_Win window;
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "alloc_shared_noncontig", "true");
  const MPI_Aint bytes = 2 * kLongs * sizeof *memory + 8 * world_rank;
  MPI_Win_allocate_shared(bytes, 1, info, MPI_COMM_WORLD, &memory, &window);
  MPI_Info_free(&info);
  check_attributes(window, memory, bytes, 1, MPI_WIN_FLAVOR_SHARED);
  work(MPI_COMM_WORLD, memory, memory + kLongs, kRounds);
  // Each rank's part is its own, and all see it.
  memory[0] = value_of(world_rank, 1, 0);
  MPI_Win_fence(0, window);
  for (int rank = 0; rank < world_size; ++rank) {
    MPI_Aint its = 0;
    int unit = 0;
    uint64_t* base = NULL;
    MPI_Win_shared_query(window, rank, &its, &unit, &base);
    // Open MPI rounds it up.
    CHECK(its >= (MPI_Aint)(2 * kLongs * sizeof *memory + 8 * rank), "%ld bytes", (long)its);
    CHECK(base[0] == value_of(rank, 1, 0), "rank %d", rank);
  }
  MPI_Win_fence(0, window);
  MPI_Win_free(&window);
}

// Rank 0 has all of it, for all.
static void of_rank_0(void) {
  uint64_t* memory = NULL;
  MPI_Win window;
  const MPI_Aint bytes = world_rank == 0 ? 2 * (MPI_Aint)sizeof *memory * kLongs * world_size : 0;
  MPI_Win_allocate_shared(bytes, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  check_attributes(window, memory, bytes, sizeof *memory, MPI_WIN_FLAVOR_SHARED);
  MPI_Aint all = 0;
  int unit = 0;
  MPI_Win_shared_query(window, MPI_PROC_NULL, &all, &unit, &memory);
  CHECK(all == 2 * (MPI_Aint)sizeof *memory * kLongs * world_size, "%ld bytes", (long)all);
  uint64_t* const mine = memory + 2 * (size_t)kLongs * world_rank;
  work(MPI_COMM_WORLD, mine, mine + kLongs, kRounds);
  MPI_Win_free(&window);
}

// Others have none and pass memory of their own.
static void allocated_by_rank_0(void) {
  uint64_t *memory = NULL, *own = malloc(2 * kLongs * sizeof *own);
  MPI_Win window;
  const MPI_Aint bytes = world_rank == 0 ? 2 * kLongs * (MPI_Aint)sizeof *memory : 0;
  MPI_Win_allocate(bytes, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  uint64_t* const mine = world_rank == 0 ? memory : own;
  work(MPI_COMM_WORLD, mine, mine + kLongs, kRounds);
  MPI_Win_free(&window);
  free(own);
}

static void empty(void) {
  uint64_t *memory = NULL, *own = malloc(2 * kLongs * sizeof *own);
  MPI_Win windows[2];
  MPI_Win_allocate_shared(0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &windows[0]);
  MPI_Win_allocate(0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &windows[1]);
  work(MPI_COMM_WORLD, own, own + kLongs, kRounds);
  MPI_Win_free(&windows[1]);
  MPI_Win_free(&windows[0]);
  free(own);
}

// A window of some ranks, whose memory they use among themselves and with others, who haven't mapped it.
static void of_some_ranks(void) {
  uint64_t *memory = NULL, *own = malloc(2 * kLongs * sizeof *own);
  MPI_Comm some;
  MPI_Win window = MPI_WIN_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, world_rank == 0 ? 0 : 1, world_rank, &some);
  if (world_rank != 0) {
    MPI_Win_allocate_shared(2 * kLongs * sizeof *memory, 1, MPI_INFO_NULL, some, &memory, &window);
    work(some, memory, memory + kLongs, kRounds);
  }
  uint64_t* const mine = world_rank == 0 ? own : memory;
  work(MPI_COMM_WORLD, mine, mine + kLongs, kRounds);
  if (world_rank != 0) work(some, memory, memory + kLongs, kRounds);
  if (window != MPI_WIN_NULL) MPI_Win_free(&window);
  MPI_Comm_free(&some);
  free(own);
}

// Two windows at a time, one of them gone early.
static void two(void) {
  uint64_t *one = NULL, *other = NULL;
  MPI_Win windows[2];
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Win_allocate(2 * kLongs * sizeof *one, 1, MPI_INFO_NULL, comm, &one, &windows[0]);
  MPI_Win_allocate_shared(kLongs * sizeof *other, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &other, &windows[1]);
  work(MPI_COMM_WORLD, one, other, kRounds);
  work(comm, other, one, 2);
  MPI_Win_free(&windows[1]);
  work(comm, one, one + kLongs, 2);
  MPI_Win_free(&windows[0]);
  MPI_Comm_free(&comm);
}

// What was a window's memory becomes something else.
static void other_memory_in_its_place(void) {
  const size_t bytes = 2 * kLongs * sizeof(uint64_t);
  uint64_t* memory = NULL;
  for (int i = 0; i < 4; ++i) {
    MPI_Win window;
    MPI_Win_allocate_shared((MPI_Aint)bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    work(MPI_COMM_WORLD, memory, memory + kLongs, kRounds / 2);
    MPI_Win_free(&window);
    uint64_t* const page = (uint64_t*)((uintptr_t)memory & ~(uintptr_t)4095);
    uint64_t* const other = mmap(page, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(other != MAP_FAILED, "mmap");
    work(MPI_COMM_WORLD, other, other + kLongs, 2);
    munmap(other, bytes);
  }
}

// Threads use their windows while others come and go.
enum { kThreads = 2 };
static struct {
  MPI_Comm comm;
  MPI_Win window;
  uint64_t* memory;
} of_thread[kThreads];

static void* use_own_window(void* argument) {
  const int me = (int)(intptr_t)argument;
  work(of_thread[me].comm, of_thread[me].memory, of_thread[me].memory + kLongs, 3 * kRounds);
  return NULL;
}

static void by_threads(void) {
  pthread_t threads[kThreads];
  MPI_Comm mine;
  MPI_Comm_dup(MPI_COMM_WORLD, &mine);
  for (int i = 0; i < kThreads; ++i) {
    MPI_Comm_dup(MPI_COMM_WORLD, &of_thread[i].comm);
    MPI_Win_allocate(2 * kLongs * sizeof(uint64_t), 1, MPI_INFO_NULL, of_thread[i].comm, &of_thread[i].memory,
                     &of_thread[i].window);
  }
  for (int i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, use_own_window, (void*)(intptr_t)i);
  for (int i = 0; i < 10; ++i) {
    MPI_Win window;
    uint64_t* memory = NULL;
    MPI_Win_allocate_shared(2 * kLongs * sizeof *memory, 1, MPI_INFO_NULL, mine, &memory, &window);
    work(mine, memory, memory + kLongs, i < 5 ? kRounds : 1);
    MPI_Win_free(&window);
  }
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  for (int i = 0; i < kThreads; ++i) {
    MPI_Win_free(&of_thread[i].window);
    MPI_Comm_free(&of_thread[i].comm);
  }
  MPI_Comm_free(&mine);
}

static int entries_of(const char* folder) {
  int number = 0;
  DIR* const list = opendir(folder);
  while (list != NULL && readdir(list) != NULL) ++number;
  if (list != NULL) closedir(list);
  return number;
}

static int mappings(void) {
  FILE* const maps = fopen("/proc/self/maps", "r");
  int lines = 0;
  for (int c = 0; maps != NULL && (c = fgetc(maps)) != EOF;) lines += c == '\n';
  if (maps != NULL) fclose(maps);
  return lines;
}

static void one_of_many(int i) {
  uint64_t *memory = NULL, sum = 0;
  MPI_Win window;
  MPI_Aint bytes = 2 * kLongs * sizeof *memory;
  if (i % 2 == 0)
    MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  else
    MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  // Every tenth is used until peers have found it.
  for (int call = 0; call < (i % 10 == 0 ? kRounds : 1); ++call) {
    fill(memory, world_rank, call, kLongs);
    MPI_Allreduce(memory, memory + kLongs, kLongs, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    sum += memory[kLongs + 5];
    uint64_t expected = 0;
    for (int rank = 0; rank < world_size; ++rank) expected += value_of(rank, call, 5);
    CHECK(memory[kLongs + 5] == expected, "window %d, call %d", i, call);
  }
  CHECK(sum != 0, "window %d", i);
  MPI_Win_free(&window);
}

static void many(int number) {
  for (int i = 0; i < 40; ++i) one_of_many(i);
  const int mapped = mappings(), open_files = entries_of("/proc/self/fd");
  for (int i = 0; i < number; ++i) one_of_many(i);
  // The heap and the MPI may grow by something, but not with each window.
  CHECK(mappings() <= mapped + 8, "%d mappings have become %d", mapped, mappings());
  CHECK(entries_of("/proc/self/fd") <= open_files + 2, "%d open files have become %d", open_files,
        entries_of("/proc/self/fd"));
}

int main(int argc, char** argv) {
  int provided = MPI_THREAD_SINGLE;
  const char* const what = argc > 1 ? argv[1] : "";
  const int has_threads = strcmp(what, "by_threads") == 0;
  MPI_Init_thread(&argc, &argv, has_threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  start_after_init();
  set_up(MPI_COMM_WORLD);
  if (strcmp(what, "allocated") == 0) allocated();
  if (strcmp(what, "shared") == 0) shared();
  if (strcmp(what, "apart") == 0) apart();
  if (strcmp(what, "of_rank_0") == 0) of_rank_0();
  if (strcmp(what, "allocated_by_rank_0") == 0) allocated_by_rank_0();
  if (strcmp(what, "empty") == 0) empty();
  if (strcmp(what, "of_some_ranks") == 0) of_some_ranks();
  if (strcmp(what, "two") == 0) two();
  if (strcmp(what, "other_memory_in_its_place") == 0) other_memory_in_its_place();
  if (has_threads && provided == MPI_THREAD_MULTIPLE) by_threads();
  if (strcmp(what, "many") == 0) many(atoi(argv[2]));
  return finish("windows");
}
