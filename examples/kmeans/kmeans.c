// SPDX-License-Identifier: BSD-3-Clause
// The program around the method: its options, what it shares, checks and prints. What is special about this k-means is
// told in kmeans.h.
//
//   cc -O2 *.c $(pkg-config --cflags --libs hocket) -lm -o kmeans && hocket run -n 4 ./kmeans --help
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kmeans.h"
#include "options.h"

void give_up(const char* reason, const char* detail) {
  fprintf(stderr, "kmeans: %s%s%s\n", reason, detail[0] != '\0' ? ": " : "", detail);
  exit(1);
}

void check(hocket_status_t status, const char* call) {
  if (status < 0) give_up(call, hocket_error_text());
}

double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

void* allocate(int64_t count, size_t bytes) {
  void* memory = calloc(count > 0 ? (size_t)count : 1, bytes);
  if (memory == NULL) give_up("no memory", "");
  return memory;
}

int64_t first_point(const parameters_t* parameters, int rank, int size) {
  const int64_t extra = parameters->points % size;
  return parameters->points / size * rank + (rank < extra ? rank : extra);
}

static void set_up(const parameters_t* parameters, kmeans_t* kmeans) {
  const int64_t dimensions = parameters->dimensions, clusters = parameters->clusters;
  kmeans->first = first_point(parameters, kmeans->rank, kmeans->size);
  kmeans->count = first_point(parameters, kmeans->rank + 1, kmeans->size) - kmeans->first;
  kmeans->points = allocate(kmeans->count * dimensions, sizeof(int32_t));
  kmeans->labels = allocate(kmeans->count, sizeof(int32_t));
  kmeans->best_labels = allocate(kmeans->count, sizeof(int32_t));
  kmeans->distances = allocate(kmeans->count, sizeof(int64_t));
  kmeans->sums = allocate(clusters * (dimensions + 1) + 2, sizeof(int64_t));
  kmeans->centres = allocate(clusters * dimensions, sizeof(double));
  kmeans->best_centres = allocate(clusters * dimensions, sizeof(double));
  kmeans->best_counts = allocate(clusters, sizeof(int64_t));
}

static void tear_down(kmeans_t* kmeans) {
  void* const all[] = {kmeans->points, kmeans->labels,  kmeans->best_labels,  kmeans->distances,  kmeans->sums,
                       kmeans->truth,  kmeans->centres, kmeans->best_centres, kmeans->best_counts};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) free(all[i]);
}

// All starts; the best one's labels and centres are kept. Gives the sum of iterations.
static int run_starts(const parameters_t* parameters, kmeans_t* kmeans, int64_t* best) {
  const size_t clusters = (size_t)parameters->clusters, values = clusters * (size_t)parameters->dimensions;
  const double scale = parameters->unit * parameters->unit / (double)parameters->points;
  int iterations = 0;
  *best = INT64_MAX;
  if (kmeans->rank == 0) printf("%5s%13s%17s\n", "start", "iterations", "error a point");
  for (int start = 0; start < parameters->starts; start++) {
    const outcome_t outcome = run_start(parameters, kmeans, start);
    iterations += outcome.iterations;
    if (kmeans->rank == 0) {
      printf("%5d%13d%17.6g%s\n", start + 1, outcome.iterations, (double)outcome.error * scale,
             outcome.settled ? "" : "   not settled");
    }
    if (outcome.error >= *best) continue;
    *best = outcome.error;
    memcpy(kmeans->best_labels, kmeans->labels, (size_t)kmeans->count * sizeof(int32_t));
    memcpy(kmeans->best_centres, kmeans->centres, values * sizeof(double));
    memcpy(kmeans->best_counts, kmeans->sums + values, clusters * sizeof(int64_t));
  }
  return iterations;
}

// Compares a centre with the nearest of those that the points were made around; gives its number, and the distance.
static int nearest_truth(const parameters_t* parameters, const kmeans_t* kmeans, const double* centre, double* apart) {
  int nearest = 0;
  *apart = INFINITY;
  for (int other = 0; other < parameters->clusters; other++) {
    double sum = 0;
    for (int i = 0; i < parameters->dimensions; i++) {
      const double difference = centre[i] - kmeans->truth[other * parameters->dimensions + i];
      sum += difference * difference;
    }
    if (sqrt(sum) >= *apart) continue;
    *apart = sqrt(sum);
    nearest = other;
  }
  *apart *= parameters->unit;
  return nearest;
}

// Prints the clusters; 0 if they are not those that the points were made of. What is allowed is five times the error
// of a mean of so many points, and a little for points that have strayed into a neighbour.
static int report_clusters(const parameters_t* parameters, const kmeans_t* kmeans) {
  int good = 1;
  char* taken = allocate(parameters->clusters, 1);
  printf("\n%7s%11s", "cluster", "points");
  if (kmeans->truth != NULL) printf("%10s%10s", "off by", "at most");
  printf("   centre\n");
  for (int cluster = 0; cluster < parameters->clusters; cluster++) {
    const double* centre = &kmeans->best_centres[cluster * parameters->dimensions];
    const int64_t points = kmeans->best_counts[cluster];
    printf("%7d%11lld", cluster + 1, (long long)points);
    if (kmeans->truth != NULL) {
      double apart = 0;
      const double limit = 5 * sqrt(parameters->dimensions / (double)points) + 0.1;
      const int nearest = nearest_truth(parameters, kmeans, centre, &apart);
      good &= apart <= limit && !taken[nearest];
      taken[nearest] = 1;
      printf("%10.4f%10.4f", apart, limit);
    }
    printf("  ");
    const int shown = parameters->dimensions < 4 ? parameters->dimensions : 4;
    for (int i = 0; i < shown; i++) printf("%10.4f", centre[i] * parameters->unit);
    printf("%s\n", shown < parameters->dimensions ? "  ..." : "");
  }
  free(taken);
  if (!good) {
    // Where the sums are right, no start was lucky.
    fprintf(stderr, "kmeans: WRONG: these are not the clusters that the points were made of (more --starts?)\n");
  }
  return good;
}

static void report_ranks(kmeans_t* kmeans, double seconds) {
  const double mine[3] = {(double)kmeans->count, seconds, kmeans->in_hocket};
  double* all = allocate(kmeans->size, sizeof mine);
  check(hocket_gather(kmeans->comm, mine, all, 3, HOCKET_DOUBLE, 0), "hocket_gather");
  if (kmeans->rank == 0) printf("\n%7s%11s%10s%12s\n", "rank", "points", "seconds", "in hocket");
  for (int rank = 0; rank < kmeans->size && kmeans->rank == 0; rank++) {
    const double* one = &all[(size_t)rank * 3];
    printf("%7d%11.0f%10.4f%10.1f %%\n", rank, one[0], one[1], 100 * one[2] / one[1]);
  }
  free(all);
}

// A number that every label with its place goes into, and every bit of the centres; the same on all ranks.
static uint64_t checksum_of(const parameters_t* parameters, kmeans_t* kmeans) {
  uint64_t mine = 0, sum = 0, centres = 0, extremes[2];
  for (int64_t i = 0; i < kmeans->count; i++) {
    mine += random_bits((uint64_t)kmeans->best_labels[i], (uint64_t)(kmeans->first + i));
  }
  CHECK(kmeans, hocket_allreduce(kmeans->comm, &mine, &sum, 1, HOCKET_UINT64, HOCKET_SUM));
  for (int i = 0; i < parameters->clusters * parameters->dimensions; i++) {
    uint64_t bits;
    memcpy(&bits, &kmeans->best_centres[i], sizeof bits);
    centres += random_bits(bits, (uint64_t)i);
  }
  const uint64_t both[2] = {centres, ~centres};
  CHECK(kmeans, hocket_allreduce(kmeans->comm, both, extremes, 2, HOCKET_UINT64, HOCKET_MAX));
  if (extremes[0] != ~extremes[1]) give_up("WRONG: ranks have different centres", "");
  return sum + centres;
}

// The cluster of each point, a line each, in the points' order.
static int write_labels(const parameters_t* parameters, kmeans_t* kmeans) {
  const int head = kmeans->rank == 0;
  int32_t* all = allocate(head ? parameters->points : 0, sizeof *all);
  size_t* counts = allocate(kmeans->size, sizeof *counts);
  for (int rank = 0; rank < kmeans->size; rank++) {
    counts[rank] =
        (size_t)(first_point(parameters, rank + 1, kmeans->size) - first_point(parameters, rank, kmeans->size));
  }
  CHECK(kmeans,
        hocket_gatherv(kmeans->comm, kmeans->best_labels, (size_t)kmeans->count, all, counts, NULL, HOCKET_INT32, 0));
  int good = 1;
  if (head) {
    FILE* file = fopen(parameters->output, "w");
    for (int64_t i = 0; i < parameters->points && file != NULL; i++) fprintf(file, "%d\n", all[i] + 1);
    good = file != NULL && fclose(file) == 0;
    if (!good) fprintf(stderr, "kmeans: can't write %s: %s\n", parameters->output, strerror(errno));
  }
  free(counts);
  free(all);
  return good;
}

static int run(const parameters_t* parameters, kmeans_t* kmeans, const double* numbers) {
  const int head = kmeans->rank == 0;
  set_up(parameters, kmeans);
  if (head) {
    printf("%lld points in %d dimensions (%s), %d clusters, seed %llu, on %d ranks\n\n", (long long)parameters->points,
           parameters->dimensions, parameters->file[0] != '\0' ? parameters->file : "a mixture", parameters->clusters,
           (unsigned long long)parameters->seed, kmeans->size);
  }
  if (parameters->file[0] != '\0') {
    scatter_points(parameters, kmeans, numbers);
  } else {
    make_points(parameters, kmeans);
  }
  check(hocket_barrier(kmeans->comm), "hocket_barrier");
  kmeans->in_hocket = 0;
  const double begin = now();
  int64_t error = 0;
  const int iterations = run_starts(parameters, kmeans, &error);
  const double seconds = now() - begin;

  int good = !head || report_clusters(parameters, kmeans);
  report_ranks(kmeans, seconds);
  const uint64_t checksum = checksum_of(parameters, kmeans);
  if (parameters->output[0] != '\0') good &= write_labels(parameters, kmeans);
  if (head && good) {
    printf("\nranks %d points %lld clusters %d iterations %d checksum %016llx seconds %.6f\n", kmeans->size,
           (long long)parameters->points, parameters->clusters, iterations, (unsigned long long)checksum, seconds);
  }
  tear_down(kmeans);
  return good ? 0 : 1;
}

int main(int argc, char** argv) {
  hocket_context_t* context = NULL;
  kmeans_t kmeans = {0};
  check(hocket_context_create(NULL, &context), "hocket_context_create");
  check(hocket_comm_world(context, &kmeans.comm), "hocket_comm_world");
  check(hocket_comm_rank(kmeans.comm, &kmeans.rank), "hocket_comm_rank");
  check(hocket_comm_size(kmeans.comm, &kmeans.size), "hocket_comm_size");

  // Rank 0 reads the command line and the file, so that a mistake is told once.
  double* numbers = NULL;
  parameters_t parameters = {0};
  int32_t status = -1;
  if (kmeans.rank == 0) status = read_parameters(argc, argv, &parameters);
  if (kmeans.rank == 0 && status < 0) {
    if (parameters.file[0] == '\0') {
      plan_points(&parameters);
    } else if (!read_points(&parameters, &numbers)) {
      status = 2;
    }
  }
  check(hocket_broadcast(kmeans.comm, &status, 1, HOCKET_INT32, 0), "hocket_broadcast");
  if (status < 0) {
    check(hocket_broadcast(kmeans.comm, &parameters, sizeof parameters, HOCKET_BYTE, 0), "hocket_broadcast");
    status = run(&parameters, &kmeans, numbers);
  }
  free(numbers);
  check(hocket_comm_destroy(kmeans.comm), "hocket_comm_destroy");
  check(hocket_context_destroy(context), "hocket_context_destroy");
  return status;
}
