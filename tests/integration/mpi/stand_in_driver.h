// SPDX-License-Identifier: BSD-3-Clause
// What a test may ask of the stand-in for a driver of devices, besides what is the driver's.
#ifndef HOCKET_TESTS_INTEGRATION_MPI_STAND_IN_DRIVER_H
#define HOCKET_TESTS_INTEGRATION_MPI_STAND_IN_DRIVER_H

#include <stddef.h>

enum memory_kind {
  kHostMemory,
  kDeviceMemory,
  kPoolMemory,  // a device's, that belongs to no context
  kManagedMemory,
  kPinnedMemory,
  kMemoryKinds,
};

// Of the interposer's making, but for `questions`, which are the test's, too.
struct stand_in_counts {
  size_t questions, copies, copies_of_rows;
};

void* stand_in_allocate(size_t bytes, enum memory_kind kind, void* wanted);
void stand_in_free(void* address);
void stand_in_copy(void* to, const void* from, size_t bytes);
struct stand_in_counts stand_in_count(void);
// Whether the driver's copies fail from now on.
void stand_in_refuse(int refuses);

#endif
