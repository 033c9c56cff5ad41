// SPDX-License-Identifier: BSD-3-Clause
// Who carries calls out where there is a driver of devices: ARGUMENTS are how many calls with a device's memory come
// first, how many with the host's afterwards, whether the MPI says that it takes devices' pointers, and the ranks that
// have the driver. The statistics are what is checked.
#include "device_memory.h"

static int is_aware = 0;

// As an MPI built for CUDA has it.
int MPIX_Query_cuda_support(void);
int MPIX_Query_cuda_support(void) { return is_aware; }

static void add(int* memory, int count) {
  int host[4] = {1, 2, 3, 4};
  copy(memory, host, sizeof host);
  MPI_Allreduce(MPI_IN_PLACE, memory, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  copy(host, memory, sizeof host);
  for (int i = 0; i < 4; ++i) CHECK(host[i] == (i + 1) * world_size, "place %d holds %d", i, host[i]);
}

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  const int on_device = atoi(argv[1]), on_host = atoi(argv[2]), holders = atoi(argv[4]);
  is_aware = atoi(argv[3]);
  const char* const rank = getenv("PMI_RANK") != NULL ? getenv("PMI_RANK") : getenv("OMPI_COMM_WORLD_RANK");
  const int has_driver = rank != NULL && atoi(rank) < holders;
  if (has_driver && !load_driver()) return 3;
  start(&argc, &argv);
  int memory_of_host[4];
  if (!has_driver && !load_stand_in(getenv("OTHER_LIBRARY"))) return 3;
  int* const device = has_driver ? allocate(sizeof memory_of_host, kDeviceMemory) : memory_of_host;
  for (int i = 0; i < on_device; ++i) add(device, 4);
  for (int i = 0; i < on_host; ++i) add(memory_of_host, 4);
  return finish("device_choice");
}
