// SPDX-License-Identifier: BSD-3-Clause
#include "sort.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void give_up(const char* reason) {
  fprintf(stderr, "samplesort: %s\n", reason);
  MPI_Abort(MPI_COMM_WORLD, 1);
  exit(1);
}

void* allocate(int64_t count, size_t bytes) {
  void* memory = malloc((count > 0 ? (size_t)count : 1) * bytes);
  if (memory == NULL) give_up("no memory for the keys");
  return memory;
}

// The last part of splitmix64 by Steele, Lea and Flood (2014).
uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// The key at a place does not depend on how keys are spread over ranks.
static uint64_t make_key(const parameters_t* parameters, int64_t place) {
  const uint64_t random = mix(parameters->seed * 0x9e3779b97f4a7c15u + mix((uint64_t)place + 1));
  switch (parameters->kind) {
    case kSkewed:
      return random >> (mix(random) % 60);
    case kFew:
      return random % 16;
    case kAscending:
      return (uint64_t)place * 1000;
    default:
      return random;
  }
}

static int64_t begin_of(int64_t keys, int rank, int size) {
  return keys / size * rank + (rank < keys % size ? rank : keys % size);
}

static void read_file(const parameters_t* parameters, sorter_t* sorter) {
  FILE* file = fopen(parameters->file, "rb");
  const size_t count = (size_t)sorter->count;
  if (file == NULL || fseeko(file, (off_t)sorter->first * 8, SEEK_SET) != 0 ||
      fread(sorter->input, 8, count, file) != count) {
    give_up("a rank could not read its part of the file");
  }
  fclose(file);
}

void set_up(const parameters_t* parameters, sorter_t* sorter) {
  *sorter = (sorter_t){0};
  MPI_Comm_rank(MPI_COMM_WORLD, &sorter->rank);
  MPI_Comm_size(MPI_COMM_WORLD, &sorter->size);
  const int size = sorter->size;
  sorter->first = begin_of(parameters->keys, sorter->rank, size);
  sorter->count = begin_of(parameters->keys, sorter->rank + 1, size) - sorter->first;
  sorter->input = allocate(sorter->count, sizeof(uint64_t));
  sorter->keys = allocate(sorter->count, sizeof(uint64_t));
  sorter->room = sorter->count + sorter->count / 4;
  sorter->from = allocate(sorter->room, sizeof(uint64_t));
  sorter->to = allocate(sorter->room, sizeof(uint64_t));
  sorter->samples = allocate(sorter->rank == 0 ? size * parameters->samples : 0, sizeof(sample_t));
  sorter->splitters = allocate(size, sizeof(sample_t));
  sorter->send = allocate(size, sizeof(int));
  sorter->send_at = allocate(size + 1, sizeof(int));
  sorter->receive = allocate(size, sizeof(int));
  sorter->got_at = allocate(size + 1, sizeof(int));
  if (parameters->file[0] != '\0') {
    read_file(parameters, sorter);
  } else {
    for (int64_t i = 0; i < sorter->count; i++) sorter->input[i] = make_key(parameters, sorter->first + i);
  }
}

void tear_down(sorter_t* sorter) {
  void* const all[] = {sorter->input,     sorter->keys, sorter->from,    sorter->to,      sorter->samples,
                       sorter->splitters, sorter->send, sorter->send_at, sorter->receive, sorter->got_at};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) free(all[i]);
}

static void end_step(sorter_t* sorter, step_t step) {
  const double now = MPI_Wtime();
  sorter->seconds[step] += now - sorter->lap;
  sorter->lap = now;
}

// Sorts byte by byte, least significant first; bytes in which all keys agree cost nothing. `spare` is as long.
static void sort_own(uint64_t* keys, uint64_t* spare, int64_t count) {
  int64_t begins[8][256];
  memset(begins, 0, sizeof begins);
  for (int64_t i = 0; i < count; i++) {
    for (int byte = 0; byte < 8; byte++) begins[byte][keys[i] >> (8 * byte) & 255]++;
  }
  uint64_t *from = keys, *to = spare;
  for (int byte = 0; byte < 8 && count > 0; byte++) {
    if (begins[byte][from[0] >> (8 * byte) & 255] == count) continue;
    int64_t begin = 0;
    for (int value = 0; value < 256; value++) {
      const int64_t here = begins[byte][value];
      begins[byte][value] = begin;
      begin += here;
    }
    for (int64_t i = 0; i < count; i++) to[begins[byte][from[i] >> (8 * byte) & 255]++] = from[i];
    uint64_t* swap = from;
    from = to;
    to = swap;
  }
  if (from != keys) memcpy(keys, from, (size_t)count * sizeof *keys);
}

static int compare_samples(const void* left, const void* right) {
  const sample_t *a = left, *b = right;
  if (a->key != b->key) return a->key < b->key ? -1 : 1;
  return a->place < b->place ? -1 : a->place > b->place;
}

static int64_t samples_of(const parameters_t* parameters, int rank, int size) {
  const int64_t count = begin_of(parameters->keys, rank + 1, size) - begin_of(parameters->keys, rank, size);
  return count < parameters->samples ? count : parameters->samples;
}

// The keys at which the sorted whole is to be cut, guessed from samples at equal distances on each rank.
static void find_splitters(const parameters_t* parameters, sorter_t* sorter) {
  const int size = sorter->size;
  const int64_t mine = samples_of(parameters, sorter->rank, size);
  sample_t* own = allocate(mine, sizeof(sample_t));
  for (int64_t i = 0; i < mine; i++) {
    const int64_t at = (2 * i + 1) * sorter->count / (2 * mine);
    own[i] = (sample_t){sorter->keys[at], (uint64_t)(sorter->first + at)};
  }
  int64_t total = 0;
  for (int rank = 0; rank < size; rank++) {  // in numbers of 64 bits, of which a sample has two
    sorter->receive[rank] = (int)(2 * samples_of(parameters, rank, size));
    sorter->got_at[rank] = (int)(2 * total);
    total += samples_of(parameters, rank, size);
  }
  MPI_Gatherv(own, (int)(2 * mine), MPI_UINT64_T, sorter->samples, sorter->receive, sorter->got_at, MPI_UINT64_T, 0,
              MPI_COMM_WORLD);
  end_step(sorter, kGather);
  if (sorter->rank == 0) {
    qsort(sorter->samples, (size_t)total, sizeof(sample_t), compare_samples);
    for (int i = 0; i + 1 < size; i++) sorter->splitters[i] = sorter->samples[total * (i + 1) / size];
  }
  free(own);
  end_step(sorter, kChoose);
  MPI_Bcast(sorter->splitters, 2 * (size - 1), MPI_UINT64_T, 0, MPI_COMM_WORLD);
  end_step(sorter, kShare);
}

// How many of the sorted keys are less than `key`; with `or_equal`, or equal to it.
static int64_t count_below(const uint64_t* keys, int64_t count, uint64_t key, int or_equal) {
  int64_t low = 0, high = count;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (keys[middle] < key || (or_equal && keys[middle] == key)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

static void cut_at_splitters(sorter_t* sorter) {
  sorter->send_at[0] = 0;
  for (int i = 0; i + 1 < sorter->size; i++) {
    const sample_t splitter = sorter->splitters[i];
    const int64_t low = count_below(sorter->keys, sorter->count, splitter.key, 0);
    const int64_t high = count_below(sorter->keys, sorter->count, splitter.key, 1);
    const int64_t at = (int64_t)splitter.place - sorter->first;  // of keys equal to the splitter's, those before it
    sorter->send_at[i + 1] = (int)(at < low ? low : at > high ? high : at);
  }
  sorter->send_at[sorter->size] = (int)sorter->count;
  for (int i = 0; i < sorter->size; i++) sorter->send[i] = sorter->send_at[i + 1] - sorter->send_at[i];
}

static void make_room(sorter_t* sorter) {
  if (sorter->sorted <= sorter->room) return;
  free(sorter->from);
  free(sorter->to);
  sorter->room = sorter->sorted;
  sorter->from = allocate(sorter->room, sizeof(uint64_t));
  sorter->to = allocate(sorter->room, sizeof(uint64_t));
}

static void merge_two(const uint64_t* a, const uint64_t* a_end, const uint64_t* b, const uint64_t* b_end,
                      uint64_t* out) {
  while (a < a_end && b < b_end) *out++ = *b < *a ? *b++ : *a++;
  memcpy(out, a, (size_t)(a_end - a) * sizeof *a);
  memcpy(out + (a_end - a), b, (size_t)(b_end - b) * sizeof *b);
}

// Merges sorted runs in pairs until one is left, in `from`. `got_at` has where each run begins, and the end.
static void merge_runs(sorter_t* sorter) {
  int* at = sorter->got_at;
  for (int runs = sorter->size; runs > 1; runs = (runs + 1) / 2) {
    for (int i = 0; i < runs; i += 2) {
      const int begin = at[i], middle = at[i + 1], end = i + 2 <= runs ? at[i + 2] : middle;
      merge_two(sorter->from + begin, sorter->from + middle, sorter->from + middle, sorter->from + end,
                sorter->to + begin);
      at[i / 2] = begin;
    }
    at[(runs + 1) / 2] = (int)sorter->sorted;
    uint64_t* swap = sorter->from;
    sorter->from = sorter->to;
    sorter->to = swap;
  }
}

void sort_all(const parameters_t* parameters, sorter_t* sorter) {
  memcpy(sorter->keys, sorter->input, (size_t)sorter->count * sizeof(uint64_t));
  sorter->lap = MPI_Wtime();
  sort_own(sorter->keys, sorter->from, sorter->count);
  end_step(sorter, kSortOwn);
  find_splitters(parameters, sorter);
  cut_at_splitters(sorter);
  end_step(sorter, kCut);
  MPI_Alltoall(sorter->send, 1, MPI_INT, sorter->receive, 1, MPI_INT, MPI_COMM_WORLD);
  end_step(sorter, kCounts);
  sorter->sorted = 0;
  for (int i = 0; i < sorter->size; i++) {
    sorter->got_at[i] = (int)sorter->sorted;
    sorter->sorted += sorter->receive[i];
  }
  sorter->got_at[sorter->size] = (int)sorter->sorted;
  make_room(sorter);
  MPI_Alltoallv(sorter->keys, sorter->send, sorter->send_at, MPI_UINT64_T, sorter->from, sorter->receive,
                sorter->got_at, MPI_UINT64_T, MPI_COMM_WORLD);
  end_step(sorter, kKeys);
  merge_runs(sorter);
  end_step(sorter, kMerge);
}
