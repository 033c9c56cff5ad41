// SPDX-License-Identifier: BSD-3-Clause
// A driver of a device that isn't there, as a library: what the interposer asks of CUDA, HIP and Level Zero, over
// memory that a processor can't touch but by the copies of this library, which has it mapped a second time. It is as
// strict as the real ones: copies need a context, rows their pitch.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "stand_in_driver.h"

struct allocation {
  unsigned char* address;  // what the program has
  unsigned char* shadow;   // the same memory, for the copies
  size_t bytes;
  enum memory_kind kind;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct allocation allocations[256];
static int is_refusing = 0;
static struct stand_in_counts counts;

static struct allocation* find(const void* address) {
  for (size_t i = 0; i < sizeof allocations / sizeof *allocations; ++i) {
    struct allocation* one = &allocations[i];
    if (one->address != NULL && (uintptr_t)address - (uintptr_t)one->address < one->bytes) return one;
  }
  return NULL;
}

static struct allocation look_up(const void* address) {
  struct allocation found = {NULL, NULL, 0, kHostMemory};
  pthread_mutex_lock(&mutex);
  const struct allocation* one = find(address);
  if (one != NULL) found = *one;
  pthread_mutex_unlock(&mutex);
  return found;
}

// `wanted`: where it shall lie, or NULL.
void* stand_in_allocate(size_t bytes, enum memory_kind kind, void* wanted) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  bytes = (bytes + page) / page * page;
  const int file = memfd_create("stand-in", 0);
  if (file < 0 || ftruncate(file, (off_t)bytes) != 0) abort();
  const int readable = PROT_READ | PROT_WRITE, fixed = wanted != NULL ? MAP_FIXED : 0;
  const int protection = kind == kDeviceMemory || kind == kPoolMemory ? PROT_NONE : readable;
  void* const address = mmap(wanted, bytes, protection, MAP_SHARED | fixed, file, 0);
  void* const shadow = mmap(NULL, bytes, readable, MAP_SHARED, file, 0);
  close(file);
  if (address == MAP_FAILED || shadow == MAP_FAILED) abort();
  pthread_mutex_lock(&mutex);
  struct allocation* place = allocations;
  while (place->address != NULL) ++place;
  *place = (struct allocation){(unsigned char*)address, (unsigned char*)shadow, bytes, kind};
  pthread_mutex_unlock(&mutex);
  return address;
}

void stand_in_free(void* address) {
  pthread_mutex_lock(&mutex);
  struct allocation* one = find(address);
  if (one == NULL) abort();
  munmap(one->address, one->bytes);
  munmap(one->shadow, one->bytes);
  one->address = NULL;
  pthread_mutex_unlock(&mutex);
}

static unsigned char* reachable(const void* address) {
  const struct allocation one = look_up(address);
  return one.address == NULL ? (unsigned char*)address : one.shadow + ((const unsigned char*)address - one.address);
}

void stand_in_copy(void* to, const void* from, size_t bytes) { memmove(reachable(to), reachable(from), bytes); }

struct stand_in_counts stand_in_count(void) { return counts; }

void stand_in_refuse(int refuses) { is_refusing = refuses; }

__attribute__((unused)) static int copy_counted(void* to, const void* from, size_t bytes) {
  // Memory on either side that it knows; the program frees some behind the interposer's back.
  if (is_refusing || (look_up(to).address == NULL && look_up(from).address == NULL)) return 999;
  __atomic_fetch_add(&counts.copies, 1, __ATOMIC_RELAXED);
  stand_in_copy(to, from, bytes);
  return 0;
}

__attribute__((unused)) static int copy_rows(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                                             size_t bytes, size_t number) {
  if (is_refusing || to_pitch < bytes || from_pitch < bytes) return 1;
  __atomic_fetch_add(&counts.copies_of_rows, 1, __ATOMIC_RELAXED);
  for (size_t i = 0; i < number; ++i) {
    stand_in_copy((unsigned char*)to + i * to_pitch, (const unsigned char*)from + i * from_pitch, bytes);
  }
  return 0;
}

#define SHOWN __attribute__((visibility("default")))

#ifdef AS_CUDA

typedef unsigned long long address_t;

static _Thread_local void* current_context = NULL;
static char the_context, the_primary_context;

static int answer(int attribute, const struct allocation* one, void* data) {
  const int is_known = one->address != NULL;
  switch (attribute) {
    case 1:  // the context
      *(void**)data = is_known && one->kind != kPoolMemory ? &the_context : NULL;
      return 0;
    case 2:  // the kind
      *(unsigned*)data = !is_known ? 0 : one->kind == kPinnedMemory ? 1 : 2;
      return 0;
    case 8:  // whether it is managed
      *(int*)data = is_known && one->kind == kManagedMemory;
      return 0;
    case 9:  // the device
      *(int*)data = 0;
      return is_known ? 0 : 1;
    default:
      return 1;
  }
}

SHOWN int cuPointerGetAttributes(unsigned number, const int* attributes, void** data, address_t address) {
  __atomic_fetch_add(&counts.questions, 1, __ATOMIC_RELAXED);
  const struct allocation one = look_up((const void*)(uintptr_t)address);
  int error = 0;
  for (unsigned i = 0; i < number; ++i) error |= answer(attributes[i], &one, data[i]);
  return error;
}

SHOWN int cuPointerGetAttribute(void* data, int attribute, address_t address) {
  const struct allocation one = look_up((const void*)(uintptr_t)address);
  return one.address == NULL ? 1 : answer(attribute, &one, data);
}

SHOWN int cuMemGetAddressRange_v2(address_t* begin, size_t* bytes, address_t address) {
  const struct allocation one = look_up((const void*)(uintptr_t)address);
  *begin = (uintptr_t)one.address;
  *bytes = one.bytes;
  return one.address == NULL ? 1 : 0;
}

SHOWN int cuMemcpy(address_t to, address_t from, size_t bytes) {
  if (current_context == NULL) return 201;
  return copy_counted((void*)(uintptr_t)to, (const void*)(uintptr_t)from, bytes);
}

struct copy_2d {
  size_t from_x, from_y;
  unsigned from_type;
  const void* from_host;
  address_t from;
  void* from_array;
  size_t from_pitch;
  size_t to_x, to_y;
  unsigned to_type;
  void* to_host;
  address_t to;
  void* to_array;
  size_t to_pitch;
  size_t bytes, number;
};

SHOWN int cuMemcpy2DUnaligned_v2(const struct copy_2d* all) {
  if (current_context == NULL) return 201;
  if (all->from_type != 4 || all->to_type != 4 || all->from_x + all->from_y + all->to_x + all->to_y != 0) return 1;
  return copy_rows((void*)(uintptr_t)all->to, all->to_pitch, (const void*)(uintptr_t)all->from, all->from_pitch,
                   all->bytes, all->number);
}

SHOWN int cuStreamSynchronize(void* stream) { return current_context == NULL || stream != NULL ? 201 : 0; }
SHOWN int cuCtxGetCurrent(void** context) {
  *context = current_context;
  return 0;
}
// One deep is enough here.
SHOWN int cuCtxPushCurrent_v2(void* context) {
  if (current_context != NULL || context == NULL) return 201;
  current_context = context;
  return 0;
}
SHOWN int cuCtxPopCurrent_v2(void** context) {
  *context = current_context;
  current_context = NULL;
  return 0;
}
SHOWN int cuDevicePrimaryCtxRetain(void** context, int device) {
  *context = &the_primary_context;
  return device == 0 ? 0 : 101;
}
SHOWN int cuDevicePrimaryCtxRelease(int device) { return device == 0 ? 0 : 101; }

#endif

#ifdef AS_HIP

static int last_error = 0;

struct attributes {
  unsigned type;
  int device;
  void* device_pointer;
  void* host_pointer;
  int is_managed;
  unsigned flags;
};

static int is_release_5(void) { return getenv("STAND_IN_RELEASE") != NULL && atoi(getenv("STAND_IN_RELEASE")) == 5; }

SHOWN int hipRuntimeGetVersion(int* version) {
  *version = is_release_5() ? 50731921 : 60140093;
  return 0;
}

SHOWN int hipPointerGetAttributes(struct attributes* all, const void* address) {
  __atomic_fetch_add(&counts.questions, 1, __ATOMIC_RELAXED);
  const struct allocation one = look_up(address);
  memset(all, 0, sizeof *all);
  if (one.address == NULL) return last_error = 1;
  all->is_managed = one.kind == kManagedMemory;
  all->type = one.kind == kPinnedMemory ? 1 : one.kind == kManagedMemory ? 3 : 2;
  if (is_release_5()) all->type = one.kind == kPinnedMemory ? 0 : one.kind == kManagedMemory ? 4 : 1;
  return 0;
}

SHOWN int hipMemGetAddressRange(void** begin, size_t* bytes, void* address) {
  const struct allocation one = look_up(address);
  *begin = one.address;
  *bytes = one.bytes;
  return one.address == NULL ? (last_error = 1) : 0;
}

SHOWN int hipMemcpy(void* to, const void* from, size_t bytes, int kind) {
  return kind == 4 ? copy_counted(to, from, bytes) : 1;
}
SHOWN int hipMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t bytes, size_t number,
                      int kind) {
  return kind == 4 ? copy_rows(to, to_pitch, from, from_pitch, bytes, number) : 1;
}
SHOWN int hipStreamSynchronize(void* stream) { return stream == NULL ? 0 : 1; }
SHOWN int hipGetLastError(void) {
  const int error = last_error;
  last_error = 0;
  return error;
}

#endif

#ifdef AS_LEVEL_ZERO

static char the_driver, the_device, the_context, the_list;

struct ze_properties {
  unsigned stype;
  void* next;
  unsigned type;
  uint64_t id, page_size;
};

SHOWN int zeDriverGet(unsigned* number, void** drivers) {
  *number = 1;
  if (drivers != NULL) drivers[0] = &the_driver;
  return 0;
}
SHOWN int zeContextCreate(void* driver, const void* description, void** context) {
  *context = &the_context;
  return driver == &the_driver && *(const unsigned*)description == 0xd ? 0 : 1;
}
SHOWN int zeMemGetAllocProperties(void* context, const void* address, struct ze_properties* all, void** device) {
  __atomic_fetch_add(&counts.questions, 1, __ATOMIC_RELAXED);
  if (context != &the_context || all->stype != 0x17) return 1;
  const struct allocation one = look_up(address);
  const int is_known = one.address != NULL;
  all->type = !is_known ? 0 : one.kind == kPinnedMemory ? 1 : one.kind == kManagedMemory ? 3 : 2;
  *device = is_known ? &the_device : NULL;
  return 0;
}
SHOWN int zeMemGetAddressRange(void* context, const void* address, void** begin, size_t* bytes) {
  const struct allocation one = look_up(address);
  *begin = one.address;
  *bytes = one.bytes;
  return context == &the_context && one.address != NULL ? 0 : 1;
}
SHOWN int zeCommandListCreateImmediate(void* context, void* device, const unsigned* description, void** list) {
  *list = &the_list;
  // The mode comes behind ordinal, index and flags: a list that waits.
  return context == &the_context && device == &the_device && description[0] == 0xe && description[7] == 1 ? 0 : 1;
}
SHOWN int zeCommandListAppendMemoryCopy(void* list, void* to, const void* from, size_t bytes, void* event,
                                        unsigned number, void** events) {
  (void)event, (void)events;
  return list == &the_list && number == 0 ? copy_counted(to, from, bytes) : 1;
}

#endif
