// SPDX-License-Identifier: BSD-3-Clause
// Choosing centres to start from, and moving them until no point changes its cluster.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kmeans.h"

static int64_t distance_to_point(const int32_t* a, const int32_t* b, int dimensions) {
  int64_t sum = 0;
  for (int i = 0; i < dimensions; i++) sum += ((int64_t)a[i] - b[i]) * ((int64_t)a[i] - b[i]);
  return sum;
}

// All ranks get the point that has this number among the points of all.
static void share_point(const parameters_t* parameters, kmeans_t* kmeans, int owner, int64_t mine, int32_t* point) {
  const size_t bytes = (size_t)parameters->dimensions * sizeof *point;
  if (kmeans->rank == owner) memcpy(point, &kmeans->points[mine * parameters->dimensions], bytes);
  CHECK(kmeans, hocket_broadcast(kmeans->comm, point, (size_t)parameters->dimensions, HOCKET_INT32, owner));
}

// Which rank has the point at `target`, if each point takes up as much room as its squared distance; totals[r] is the
// room of rank r's points. The target becomes one within that rank.
static int owner_of(const int64_t* totals, int size, int64_t* target) {
  int owner = 0;
  while (owner + 1 < size && *target >= totals[owner]) *target -= totals[owner++];
  return owner;
}

// A random number below `limit`; all ranks compute the same.
static int64_t random_below(uint64_t seed, uint64_t index, int64_t limit) {
  __extension__ typedef unsigned __int128 wide_t;
  return (int64_t)(((wide_t)random_bits(seed, index) * (wide_t)limit) >> 64);
}

// k-means++: each further centre is a point chosen at random, the likelier the farther it is from those chosen before.
static void choose_centres(const parameters_t* parameters, kmeans_t* kmeans, uint64_t seed) {
  const int dimensions = parameters->dimensions;
  int32_t chosen[kMostDimensions];
  int64_t* totals = allocate(kmeans->size, sizeof *totals);
  int64_t total = 0;
  for (int64_t i = 0; i < kmeans->count; i++) kmeans->distances[i] = 1;  // the first: all alike
  for (int centre = 0; centre < parameters->clusters; centre++) {
    int64_t mine = 0, point = 0;
    for (int64_t i = 0; i < kmeans->count; i++) mine += kmeans->distances[i];
    CHECK(kmeans, hocket_allgather(kmeans->comm, &mine, totals, 1, HOCKET_INT64));
    total = 0;
    for (int rank = 0; rank < kmeans->size; rank++) total += totals[rank];
    if (total == 0) give_up("there are fewer different points than clusters", "");
    int64_t target = random_below(seed, (uint64_t)centre, total);
    const int owner = owner_of(totals, kmeans->size, &target);
    if (kmeans->rank == owner) {
      while (target >= kmeans->distances[point]) target -= kmeans->distances[point++];
    }
    share_point(parameters, kmeans, owner, point, chosen);
    for (int i = 0; i < dimensions; i++) kmeans->centres[centre * dimensions + i] = chosen[i];
    for (int64_t i = 0; i < kmeans->count; i++) {
      const int64_t distance = distance_to_point(&kmeans->points[i * dimensions], chosen, dimensions);
      if (centre == 0 || distance < kmeans->distances[i]) kmeans->distances[i] = distance;
    }
  }
  free(totals);
}

// The nearest centre of a point, the first of several, and the squared distance to it.
static int nearest_centre(const parameters_t* parameters, const double* centres, const int32_t* point,
                          double* distance) {
  int nearest = 0;
  *distance = INFINITY;
  for (int centre = 0; centre < parameters->clusters; centre++, centres += parameters->dimensions) {
    double sum = 0;
    for (int i = 0; i < parameters->dimensions; i++) sum += (point[i] - centres[i]) * (point[i] - centres[i]);
    if (sum < *distance) {
      *distance = sum;
      nearest = centre;
    }
  }
  return nearest;
}

// This rank's share of the sums.
static void assign_points(const parameters_t* parameters, kmeans_t* kmeans) {
  const int dimensions = parameters->dimensions, clusters = parameters->clusters;
  int64_t* counts = kmeans->sums + (size_t)clusters * (size_t)dimensions;
  int64_t *changes = counts + clusters, *error = changes + 1;
  memset(kmeans->sums, 0, ((size_t)clusters * (size_t)(dimensions + 1) + 2) * sizeof *kmeans->sums);
  for (int64_t i = 0; i < kmeans->count; i++) {
    const int32_t* point = &kmeans->points[i * dimensions];
    double distance = 0;
    const int nearest = nearest_centre(parameters, kmeans->centres, point, &distance);
    *changes += nearest != kmeans->labels[i];
    *error += llround(distance);
    kmeans->labels[i] = nearest;
    counts[nearest]++;
    for (int k = 0; k < dimensions; k++) kmeans->sums[nearest * dimensions + k] += point[k];
  }
}

// A cluster that has lost all its points keeps its centre.
static void move_centres(const parameters_t* parameters, kmeans_t* kmeans) {
  const int dimensions = parameters->dimensions, clusters = parameters->clusters;
  const int64_t* counts = kmeans->sums + (size_t)clusters * (size_t)dimensions;
  for (int centre = 0; centre < clusters; centre++) {
    if (counts[centre] == 0) continue;
    for (int i = 0; i < dimensions; i++) {
      const int at = centre * dimensions + i;
      kmeans->centres[at] = (double)kmeans->sums[at] / (double)counts[centre];
    }
  }
}

outcome_t run_start(const parameters_t* parameters, kmeans_t* kmeans, int start) {
  const size_t sums = (size_t)parameters->clusters * (size_t)(parameters->dimensions + 1);
  outcome_t outcome = {.error = INT64_MAX};
  choose_centres(parameters, kmeans, random_bits(parameters->seed, (uint64_t)start));
  for (int64_t i = 0; i < kmeans->count; i++) kmeans->labels[i] = -1;
  while (outcome.iterations < parameters->iterations && !outcome.settled) {
    assign_points(parameters, kmeans);
    CHECK(kmeans, hocket_allreduce(kmeans->comm, HOCKET_IN_PLACE, kmeans->sums, sums + 2, HOCKET_INT64, HOCKET_SUM));
    const int64_t changes = kmeans->sums[sums], error = kmeans->sums[sums + 1];
    // Each step lowers the error, or the sums were wrong; but for rounding, by half a unit a point and less.
    if (outcome.iterations > 0 && error > outcome.error && error - outcome.error > parameters->points) {
      give_up("WRONG: an iteration has raised the error", "");
    }
    outcome.error = error;
    outcome.settled = changes == 0;
    outcome.iterations++;
    move_centres(parameters, kmeans);
  }
  return outcome;
}
