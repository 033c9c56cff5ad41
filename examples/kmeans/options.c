// SPDX-License-Identifier: BSD-3-Clause
#include "options.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void usage(FILE* stream, const char* program) {
  fprintf(stream,
          "usage: hocket run -n RANKS %s [--points N] [--dimensions N] [--clusters N] [--seed N] [--file PATH]\n"
          "                             [--starts N] [--iterations N] [--output PATH]\n"
          "Divides points into clusters by k-means, on the ranks that hocket run starts; without it, on one.\n"
          "  --points N      how many to make, from as many normal distributions as clusters (default 100000)\n"
          "  --dimensions N  1 to 64 (default 4)\n"
          "  --clusters N    1 to 1024 (default 8)\n"
          "  --seed N        of the points made, and of the centres to start from (default 1)\n"
          "  --file PATH     instead: one point a line, numbers apart by commas, semicolons or blanks\n"
          "  --starts N      choose first centres so often, and keep the best end (default 10)\n"
          "  --iterations N  at most in each start (default 1000); it ends when no point changes its cluster\n"
          "  --output PATH   write the number of each point's cluster there, a line each\n"
          "Points that were made are checked against the distributions that they were made from. The result does not\n"
          "depend on the number of ranks. The last line is for scripts; seconds is the time of all starts.\n",
          program);
}

static int read_number(const char* text, long lowest, long highest, long* number) {
  char* end = NULL;
  *number = strtol(text, &end, 10);
  return end != text && *end == '\0' && *number >= lowest && *number <= highest;
}

static int read_int(const char* text, long highest, int* value) {
  long number = 0;
  const int good = read_number(text, 1, highest, &number);
  *value = (int)number;
  return good;
}

static int read_path(const char* text, char* path, size_t room) {
  return text[0] != '\0' && snprintf(path, room, "%s", text) < (int)room;
}

// 0 if the value of an option is no good, or there is no such option.
static int read_option(const char* option, const char* value, parameters_t* parameters) {
  if (strcmp(option, "--dimensions") == 0) return read_int(value, kMostDimensions, &parameters->dimensions);
  if (strcmp(option, "--clusters") == 0) return read_int(value, kMostClusters, &parameters->clusters);
  if (strcmp(option, "--starts") == 0) return read_int(value, 100000, &parameters->starts);
  if (strcmp(option, "--iterations") == 0) return read_int(value, INT_MAX, &parameters->iterations);
  if (strcmp(option, "--file") == 0) return read_path(value, parameters->file, sizeof parameters->file);
  if (strcmp(option, "--output") == 0) return read_path(value, parameters->output, sizeof parameters->output);
  long number = 0;
  if (strcmp(option, "--points") == 0) {
    const int good = read_number(value, 1, kMostPoints, &number);
    parameters->points = number;
    return good;
  }
  if (strcmp(option, "--seed") == 0) {
    const int good = read_number(value, 0, LONG_MAX, &number);
    parameters->seed = (uint64_t)number;
    return good;
  }
  return 0;
}

int read_parameters(int argc, char** argv, parameters_t* parameters) {
  *parameters = (parameters_t){.points = 100000, .dimensions = 4, .clusters = 8, .starts = 10, .iterations = 1000};
  parameters->seed = 1;
  for (int i = 1; i < argc; i += 2) {
    if (strcmp(argv[i], "--help") == 0) {
      usage(stdout, argv[0]);
      return 0;
    }
    if (i + 1 < argc && read_option(argv[i], argv[i + 1], parameters)) continue;
    fprintf(stderr, "kmeans: can't understand %s %s\n", argv[i], i + 1 < argc ? argv[i + 1] : "without a value");
    usage(stderr, argv[0]);
    return 2;
  }
  if (parameters->points >= parameters->clusters) return -1;
  fprintf(stderr, "kmeans: fewer points than clusters\n");
  return 2;
}
