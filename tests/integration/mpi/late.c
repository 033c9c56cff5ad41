// SPDX-License-Identifier: BSD-3-Clause
// A rank that comes to the first collective only when another, which waits there, has said that somebody is missing:
// its stderr goes to a file, which the late rank reads.
#include <fcntl.h>
#include <unistd.h>

#include "check.h"

static int says_who_waits(const char* path) {
  char text[4096] = "";
  FILE* file = fopen(path, "r");
  if (file == NULL) return 0;
  const size_t length = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  text[length] = '\0';
  if (strstr(text, "HOCKET_SETUP_TIMEOUT_S") == NULL) return 0;
  printf("it said: %s", text);
  return 1;
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  char path[64] = "/tmp/hocket-late-XXXXXX";
  if (world_rank == 1) {
    close(mkstemp(path));
    MPI_Send(path, sizeof path, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    while (!says_who_waits(path)) usleep(10000);
    unlink(path);
  } else if (world_rank == 0) {
    MPI_Recv(path, sizeof path, MPI_CHAR, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    const int file = open(path, O_WRONLY | O_APPEND);
    dup2(file, STDERR_FILENO);
    close(file);
  }
  int sum = 0;
  MPI_Allreduce(&world_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(sum == world_size * (world_size - 1) / 2, "%d", sum);
  return finish("late");
}
