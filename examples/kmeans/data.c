// SPDX-License-Identifier: BSD-3-Clause
// Where points come from: a random mixture, which every rank makes its own part of, or a file, which rank 0 scatters.
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kmeans.h"

// In standard deviations: so near that clusters touch, so far that each keeps a centre of its own.
static const double kSeparation = 6;

// The last part of splitmix64 by Steele, Lea and Flood (2014).
static uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

uint64_t random_bits(uint64_t seed, uint64_t index) { return mix(seed * 0x9e3779b97f4a7c15u + mix(index + 1)); }

double random_fraction(uint64_t seed, uint64_t index) {
  return (double)(random_bits(seed, index) >> 11) / 9007199254740992.0;
}

// Box and Muller's transform; standard deviation 1.
static double random_normal(uint64_t seed, uint64_t index) {
  const double radius = sqrt(-2 * log(1 - random_fraction(seed, 2 * index)));
  return radius * cos(2 * M_PI * random_fraction(seed, 2 * index + 1));
}

// Half the side of the cube in which the mixture's centres lie.
static double half_side(const parameters_t* parameters) {
  return kSeparation * pow(parameters->clusters, 1.0 / parameters->dimensions);
}

// A power of two, so that whole numbers of units stay what they were.
static double unit_for(double largest) { return largest > 0 ? ldexp(1, ilogb(largest) + 1) / kLargest : 1; }

void plan_points(parameters_t* parameters) { parameters->unit = unit_for(half_side(parameters) + 9); }

static int32_t in_units(double value, double unit) { return (int32_t)lround(value / unit); }

// The mixture's centres, in standard deviations; all ranks choose the same.
static void choose_truth(const parameters_t* parameters, kmeans_t* kmeans) {
  const int dimensions = parameters->dimensions;
  const double half = half_side(parameters);
  uint64_t index = 0;
  kmeans->truth = allocate((int64_t)parameters->clusters * dimensions, sizeof(double));
  for (int centre = 0; centre < parameters->clusters; centre++) {
    double* at = &kmeans->truth[centre * dimensions];
    int too_near = 1;
    for (int tries = 0; too_near && tries < 100000; tries++) {
      for (int i = 0; i < dimensions; i++) at[i] = half * (2 * random_fraction(~parameters->seed, index++) - 1);
      too_near = 0;
      for (int other = 0; other < centre && !too_near; other++) {
        double sum = 0;
        for (int i = 0; i < dimensions; i++) {
          const double apart = at[i] - kmeans->truth[other * dimensions + i];
          sum += apart * apart;
        }
        too_near = sum < kSeparation * kSeparation;
      }
    }
    if (too_near) give_up("found no room for so many clusters", "");
  }
}

void make_points(const parameters_t* parameters, kmeans_t* kmeans) {
  const int dimensions = parameters->dimensions;
  choose_truth(parameters, kmeans);
  for (int64_t i = 0; i < kmeans->count; i++) {
    const uint64_t place = (uint64_t)(kmeans->first + i);
    const uint64_t cluster = random_bits(parameters->seed ^ 0xabcdef, place) % (uint64_t)parameters->clusters;
    for (int k = 0; k < dimensions; k++) {
      // Nobody is farther than 9 standard deviations, whatever the seed.
      const double noise = random_normal(parameters->seed, place * (uint64_t)dimensions + (uint64_t)k);
      const double value = kmeans->truth[cluster * (uint64_t)dimensions + (uint64_t)k] + fmin(fmax(noise, -9), 9);
      kmeans->points[i * dimensions + k] = in_units(value, parameters->unit);
    }
  }
  for (int64_t i = 0; i < (int64_t)parameters->clusters * dimensions; i++) kmeans->truth[i] /= parameters->unit;
}

// Reads the numbers of a line, apart by commas, semicolons or blanks; gives how many, or -1 if something else is there.
static int read_line(char* line, double* numbers) {
  int count = 0;
  for (char* at = line;;) {
    at += strspn(at, " \t,;\r\n");
    if (*at == '\0') return count;
    char* end = NULL;
    const double number = strtod(at, &end);
    if (end == at || !isfinite(number) || count == kMostDimensions || strchr(" \t,;\r\n", *end) == NULL) return -1;
    numbers[count++] = number;
    at = end;
  }
}

static int wrong_file(const parameters_t* parameters, int64_t line, const char* reason) {
  if (line > 0) {
    fprintf(stderr, "kmeans: %s, line %lld: %s\n", parameters->file, (long long)line, reason);
  } else {
    fprintf(stderr, "kmeans: %s: %s\n", parameters->file, reason);
  }
  return 0;
}

// Reads the rows of numbers; 0 if something is wrong.
static int read_rows(parameters_t* parameters, FILE* file, double** numbers, double* largest) {
  char line[65536];
  double row[kMostDimensions];
  int64_t room = 0;
  for (int64_t number = 1; fgets(line, sizeof line, file) != NULL; number++) {
    const int columns = read_line(line, row);
    if (columns == 0 || (columns < 0 && number == 1)) continue;  // blank, or the columns' titles
    if (parameters->points == 0) parameters->dimensions = columns;
    if (columns < 0) return wrong_file(parameters, number, "not up to 64 numbers");
    if (columns != parameters->dimensions) return wrong_file(parameters, number, "not as many numbers as before");
    if (parameters->points == kMostPoints) return wrong_file(parameters, number, "more points than this program takes");
    if (parameters->points == room) {
      room = room > 0 ? 2 * room : 1024;
      double* larger = realloc(*numbers, (size_t)room * (size_t)columns * sizeof(double));
      if (larger == NULL) return wrong_file(parameters, number, "no memory for more points");
      *numbers = larger;
    }
    memcpy(*numbers + parameters->points++ * columns, row, (size_t)columns * sizeof(double));
    for (int i = 0; i < columns; i++) *largest = fmax(*largest, fabs(row[i]));
  }
  return 1;
}

int read_points(parameters_t* parameters, double** numbers) {
  FILE* file = fopen(parameters->file, "r");
  if (file == NULL) return wrong_file(parameters, 0, strerror(errno));
  double largest = 0;
  parameters->points = 0;
  const int good = read_rows(parameters, file, numbers, &largest);
  fclose(file);
  if (good && parameters->points < parameters->clusters) {
    return wrong_file(parameters, 0, "it has fewer points than there shall be clusters");
  }
  parameters->unit = unit_for(largest);
  return good;
}

void scatter_points(const parameters_t* parameters, kmeans_t* kmeans, const double* numbers) {
  const int dimensions = parameters->dimensions;
  const int64_t total = kmeans->rank == 0 ? parameters->points * dimensions : 0;
  int32_t* all = allocate(total, sizeof *all);
  size_t* counts = allocate(kmeans->size, sizeof *counts);
  for (int64_t i = 0; i < total; i++) all[i] = in_units(numbers[i], parameters->unit);
  for (int rank = 0; rank < kmeans->size; rank++) {
    const int64_t points =
        first_point(parameters, rank + 1, kmeans->size) - first_point(parameters, rank, kmeans->size);
    counts[rank] = (size_t)(points * dimensions);
  }
  CHECK(kmeans,
        hocket_scatterv(kmeans->comm, all, counts, NULL, kmeans->points, counts[kmeans->rank], HOCKET_INT32, 0));
  free(counts);
  free(all);
}
