// SPDX-License-Identifier: BSD-3-Clause
// k-means over hocket's C API, without an MPI: the points are spread over the ranks that `hocket run` started, and
// each rank assigns its own to the nearest centre (Lloyd's algorithm, with centres to start from by k-means++: Arthur
// and Vassilvitskii, 2007).
//
// The result is the same, bit for bit, on any number of ranks: coordinates are whole numbers of a small unit, so that
// sums of them are exact in whatever order they are added, and all other numbers come from these sums alone.
#ifndef HOCKET_EXAMPLES_KMEANS_KMEANS_H
#define HOCKET_EXAMPLES_KMEANS_KMEANS_H

#include <hocket/hocket.h>
#include <stddef.h>
#include <stdint.h>

enum {
  kMostDimensions = 64,
  kMostClusters = 1024,
  kMostPoints = 1 << 22,
  kLargest = 1 << 16  // coordinate, in units: so 2^22 squared distances in 64 dimensions have room in 63 bits
};

typedef struct {
  int64_t points;  // of all ranks together
  int dimensions, clusters;
  int starts;      // how often to begin anew; the best end counts
  int iterations;  // at most, of each start
  uint64_t seed;
  double unit;        // what a coordinate of 1 stands for
  char file[1024];    // empty: points are made
  char output[1024];  // empty: labels are not written
} parameters_t;

// One rank's part, and what all ranks know.
typedef struct {
  hocket_comm_t* comm;
  int rank, size;
  int64_t first, count;  // this rank's points
  int32_t* points;       // `count` rows of `dimensions`
  int32_t* labels;       // to which cluster each belongs; the best start's in `best_labels`
  int32_t* best_labels;
  int64_t* distances;  // squared, to the nearest centre so far, while centres to start from are chosen
  int64_t* sums;       // of a cluster's coordinates, row by row, then the numbers of points, then changes and error
  double* centres;     // clusters rows of dimensions, in units
  double* best_centres;
  int64_t* best_counts;  // points of each cluster
  double* truth;         // where points were made around, in units; NULL for a file
  double in_hocket;      // seconds
} kmeans_t;

// How a start ended.
typedef struct {
  int iterations;
  int settled;    // no point changed its cluster in the last one
  int64_t error;  // sum of squared distances, in units squared, each rounded
} outcome_t;

// Ends this rank with the reason; `hocket run` ends the others.
void give_up(const char* reason, const char* detail) __attribute__((noreturn));
void check(hocket_status_t status, const char* call);
// Of a hocket call, counting its time.
#define CHECK(kmeans, call)                     \
  do {                                          \
    const double check_begin = now();           \
    check(call, #call);                         \
    (kmeans)->in_hocket += now() - check_begin; \
  } while (0)
double now(void);
void* allocate(int64_t count, size_t bytes);

// Number `index` of a random sequence, and the same in [0, 1).
uint64_t random_bits(uint64_t seed, uint64_t index);
double random_fraction(uint64_t seed, uint64_t index);

int64_t first_point(const parameters_t* parameters, int rank, int size);

// data.c: the first two at rank 0 before the parameters are shared, which they complete. read_points gives 0 and says
// why if the file is no good; `numbers` gets its content, and is the caller's to free.
void plan_points(parameters_t* parameters);
int read_points(parameters_t* parameters, double** numbers);
// Collective: this rank's points are there afterwards.
void make_points(const parameters_t* parameters, kmeans_t* kmeans);
void scatter_points(const parameters_t* parameters, kmeans_t* kmeans, const double* numbers);

// lloyd.c, collective: the result of start number `start` is in labels and centres.
outcome_t run_start(const parameters_t* parameters, kmeans_t* kmeans, int start);

#endif
