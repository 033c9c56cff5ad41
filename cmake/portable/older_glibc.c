/* SPDX-License-Identifier: BSD-3-Clause */
/* What GCC's libraries for C++ take from this machine's glibc and an older one doesn't have. Linked into each program
 * and library that shall run with glibc 2.28, and seen by nobody else (link.sh).
 *
 * Thread safety: all functions may be called by any thread. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

/* For standard classes: there may be more threads than one. */
char __libc_single_threaded __attribute__((visibility("hidden"))) = 0;

/* For std::random_device. */
__attribute__((visibility("hidden"))) unsigned arc4random(void) {
  unsigned number;
  if (getentropy(&number, sizeof number) != 0) abort(); /* as glibc's does: there is no wrong number to give */
  return number;
}

struct search {
  ElfW(Addr) address;
  struct dl_find_object* found;
};

static int look_at(struct dl_phdr_info* object, size_t size, void* state) {
  (void)size;
  struct search* const search = state;
  const ElfW(Phdr)* unwinding = NULL;
  int is_here = 0;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)* const part = &object->dlpi_phdr[i];
    if (part->p_type == PT_GNU_EH_FRAME) unwinding = part;
    if (part->p_type == PT_LOAD && search->address - (object->dlpi_addr + part->p_vaddr) < part->p_memsz) is_here = 1;
  }
  if (!is_here) return 0;
  if (unwinding == NULL) return -1;
  search->found->dlfo_eh_frame = (void*)(object->dlpi_addr + unwinding->p_vaddr);
  return 1;
}

/* For exceptions: the table of the object that holds this address. libgcc reads nothing else of the result. Since 2.35
 * glibc does it without a lock. */
__attribute__((visibility("hidden"))) int _dl_find_object(void* address, struct dl_find_object* result) {
  struct search search = {(ElfW(Addr))address, result};
  return dl_iterate_phdr(look_at, &search) == 1 ? 0 : -1;
}
