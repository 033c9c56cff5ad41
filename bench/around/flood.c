// SPDX-License-Identifier: BSD-3-Clause
// A root that broadcasts, or a leaf that sends to the root of reductions, as fast as it can while another rank is late:
// how many calls it gets ahead before that one comes, and how many MiB a rank has grown by. Prints both by name.
//   flood bcast|reduce CALLS BYTES SECONDS
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static double resident_mib(void) {
  double pages = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  if (file == NULL || fscanf(file, "%*s %lf", &pages) != 1) pages = 0;
  if (file != NULL) fclose(file);
  return pages * (double)sysconf(_SC_PAGESIZE) / (1 << 20);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc < 5 || size < 2) {
    if (rank == 0) fprintf(stderr, "flood bcast|reduce CALLS BYTES SECONDS, on two ranks at least\n");
    MPI_Finalize();
    return 2;
  }
  const int is_bcast = strcmp(argv[1], "bcast") == 0;
  const int calls = atoi(argv[2]), bytes = atoi(argv[3]);
  const double seconds = atof(argv[4]);
  char* in = calloc((size_t)bytes, 1);
  char* out = calloc((size_t)bytes, 1);
  MPI_Barrier(MPI_COMM_WORLD);
  // The first rank is root. Late is the last rank of broadcasts, and the root of reductions.
  const int late = is_bcast ? size - 1 : 0, fast = is_bcast ? 0 : size - 1;
  const double before = resident_mib(), began = MPI_Wtime();
  if (rank == late) usleep((useconds_t)(1e6 * seconds));
  int ahead = 0;
  for (int i = 0; i < calls; ++i) {
    if (is_bcast) {
      MPI_Bcast(in, bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
    } else {
      MPI_Reduce(in, out, bytes, MPI_CHAR, MPI_BOR, 0, MPI_COMM_WORLD);
    }
    if (MPI_Wtime() - began < seconds) ahead = i + 1;
  }
  const double growth = resident_mib() - before;
  double grown[2] = {growth, 0};
  MPI_Allreduce(&growth, &grown[1], 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  MPI_Bcast(&ahead, 1, MPI_INT, fast, MPI_COMM_WORLD);
  if (rank == 0) printf("%s_ahead %d\n%s_mib %.0f\n", argv[1], ahead, argv[1], grown[1]);
  MPI_Finalize();
  return 0;
}
