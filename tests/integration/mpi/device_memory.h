// SPDX-License-Identifier: BSD-3-Clause
// Memory of a device for test programs: of the stand-in that STAND_IN names, or of a real CUDA device where it names
// none.
#ifndef HOCKET_TESTS_INTEGRATION_MPI_DEVICE_MEMORY_H
#define HOCKET_TESTS_INTEGRATION_MPI_DEVICE_MEMORY_H

#include "check.h"
#include "stand_in_driver.h"

static void* driver = NULL;
static __typeof__(&stand_in_allocate) allocate_in_stand_in = NULL;
static __typeof__(&stand_in_free) free_in_stand_in;
static __typeof__(&stand_in_copy) copy_in_stand_in;
static __typeof__(&stand_in_count) count_in_stand_in;
static __typeof__(&stand_in_refuse) refuse_in_stand_in;

static struct {
  int (*Init)(unsigned);
  int (*DeviceGet)(int*, int);
  int (*DevicePrimaryCtxRetain)(void**, int);
  int (*CtxSetCurrent)(void*);
  int (*MemAlloc)(unsigned long long*, size_t);
  int (*MemAllocManaged)(unsigned long long*, size_t, unsigned);
  int (*MemAllocHost)(void**, size_t);
  int (*MemFree)(unsigned long long);
  int (*MemFreeHost)(void*);
  int (*Memcpy)(unsigned long long, unsigned long long, size_t);
  int (*CtxSynchronize)(void);
} cuda;

#define FIND(place, name) (((place) = (__typeof__(place))dlsym(driver, name)) != NULL)

static inline int load_stand_in(const char* path) {
  driver = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
  if (driver == NULL) fprintf(stderr, "%s\n", dlerror());
  return driver != NULL && FIND(allocate_in_stand_in, "stand_in_allocate") && FIND(free_in_stand_in, "stand_in_free") &&
         FIND(copy_in_stand_in, "stand_in_copy") && FIND(count_in_stand_in, "stand_in_count") &&
         FIND(refuse_in_stand_in, "stand_in_refuse");
}

static inline int load_cuda(void) {
  driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
  int device = 0;
  void* context = NULL;
  return driver != NULL && FIND(cuda.Init, "cuInit") && FIND(cuda.DeviceGet, "cuDeviceGet") &&
         FIND(cuda.DevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain") && FIND(cuda.CtxSetCurrent, "cuCtxSetCurrent") &&
         FIND(cuda.MemAlloc, "cuMemAlloc_v2") && FIND(cuda.MemAllocManaged, "cuMemAllocManaged") &&
         FIND(cuda.MemAllocHost, "cuMemAllocHost_v2") && FIND(cuda.MemFree, "cuMemFree_v2") &&
         FIND(cuda.MemFreeHost, "cuMemFreeHost") && FIND(cuda.Memcpy, "cuMemcpy") &&
         FIND(cuda.CtxSynchronize, "cuCtxSynchronize") && cuda.Init(0) == 0 && cuda.DeviceGet(&device, 0) == 0 &&
         cuda.DevicePrimaryCtxRetain(&context, device) == 0 && cuda.CtxSetCurrent(context) == 0;
}

static inline int is_real(void) { return getenv("STAND_IN") == NULL; }
static inline int load_driver(void) { return is_real() ? load_cuda() : load_stand_in(getenv("STAND_IN")); }

static inline void* allocate(size_t bytes, enum memory_kind kind) {
  if (kind == kHostMemory) return malloc(bytes);
  if (!is_real()) return allocate_in_stand_in(bytes, kind, NULL);
  unsigned long long address = 0;
  void* pinned = NULL;
  if (kind == kPinnedMemory) return cuda.MemAllocHost(&pinned, bytes) == 0 ? pinned : NULL;
  const int error = kind == kManagedMemory ? cuda.MemAllocManaged(&address, bytes, 1) : cuda.MemAlloc(&address, bytes);
  return error == 0 ? (void*)(uintptr_t)address : NULL;
}

static inline void release(void* memory, enum memory_kind kind) {
  if (kind == kHostMemory) {
    free(memory);
  } else if (!is_real()) {
    free_in_stand_in(memory);
  } else if (kind == kPinnedMemory) {
    cuda.MemFreeHost(memory);
  } else {
    cuda.MemFree((uintptr_t)memory);
  }
}

static inline void copy(void* to, const void* from, size_t bytes) {
  if (!is_real()) {
    copy_in_stand_in(to, from, bytes);
  } else {
    cuda.Memcpy((uintptr_t)to, (uintptr_t)from, bytes);
    cuda.CtxSynchronize();
  }
}

#endif
