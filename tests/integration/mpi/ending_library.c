// SPDX-License-Identifier: BSD-3-Clause
// A library that calls what ending.c wants when it goes, with dlclose() or with the process.
#include <stddef.h>

void (*to_be_called_at_the_end)(const char* where) = NULL;

__attribute__((destructor)) static void at_the_end(void) {
  if (to_be_called_at_the_end != NULL) to_be_called_at_the_end("ending in a library's destructor");
}
