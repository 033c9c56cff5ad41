// SPDX-License-Identifier: BSD-3-Clause
// Sample sort in plain MPI: sorts 64-bit keys that are spread over the ranks, so that rank 0 ends with the smallest.
//
// Each rank sorts what it has and sends a few samples to rank 0 (MPI_Gatherv), which cuts the range of keys into one
// piece a rank (MPI_Bcast). Everybody then tells everybody how much is coming (MPI_Alltoall), hands each piece to its
// rank (MPI_Alltoallv), and merges what it got. After Frazer and McKellar, "Samplesort", J. ACM 17 (1970).
//
// Keys are compared together with their place, so equal keys are cut too: ranks end with much the same number of keys
// whatever the input. The result is checked: ascending on each rank and from rank to rank, and the same keys as before.
// Its checksum depends on keys and places alone, so it is the same for every number of ranks and every MPI.
#ifndef HOCKET_EXAMPLES_SAMPLESORT_SORT_H
#define HOCKET_EXAMPLES_SAMPLESORT_SORT_H

#include <stddef.h>
#include <stdint.h>

typedef enum { kUniform, kSkewed, kFew, kAscending, kKinds } kind_t;

typedef struct {
  int64_t keys;     // of all ranks together; negative: as many as the file has
  int64_t sorts;    // how often the same input is sorted
  int64_t samples;  // of each rank
  uint64_t seed;
  kind_t kind;
  char file[1024];  // empty: keys are made
} parameters_t;

// What a sort does, one after the other; a step is one collective or none.
typedef enum { kSortOwn, kGather, kChoose, kShare, kCut, kCounts, kKeys, kMerge, kSteps } step_t;

// A key and its place among all keys, so that no two are equal.
typedef struct {
  uint64_t key, place;
} sample_t;

typedef struct {
  int rank, size;
  int64_t first;           // place of this rank's first key
  int64_t count, sorted;   // keys of this rank before and after
  uint64_t *input, *keys;  // `count`; the second is scratch
  uint64_t *from, *to;     // room for `room` keys each: what arrives, and what it is merged into
  int64_t room;
  sample_t* samples;                       // of all ranks, at rank 0
  sample_t* splitters;                     // one fewer than ranks
  int *send, *send_at, *receive, *got_at;  // keys to and from each rank; the last two have size + 1 entries
  double seconds[kSteps], lap;             // time of each step, and when the last one ended
} sorter_t;

// Ends all ranks.
void give_up(const char* reason);
// Gives up if there is no memory.
void* allocate(int64_t count, size_t bytes);
// Scatters the bits of a number; neighbouring numbers become unlike.
uint64_t mix(uint64_t x);

// All are collective over MPI_COMM_WORLD but tear_down.
void set_up(const parameters_t* parameters, sorter_t* sorter);
// The sorted keys are in sorter->from, sorter->sorted of them.
void sort_all(const parameters_t* parameters, sorter_t* sorter);
void tear_down(sorter_t* sorter);

#endif
