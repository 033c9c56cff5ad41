// SPDX-License-Identifier: BSD-3-Clause
// What a program of the kernel is given to combine, and what it gives.
#ifndef HOCKET_TESTS_BPF_COMBINED_PAIRS_H
#define HOCKET_TESTS_BPF_COMBINED_PAIRS_H

#include <linux/types.h>

enum { COMBINED_PAIRS = 256 };

struct combined_pairs {
  __u32 operation;
  __u32 type;
  __u64 left[COMBINED_PAIRS];
  __u64 right[COMBINED_PAIRS];
  __u64 result[COMBINED_PAIRS];
};

#endif
