// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The protocol's arithmetic as the kernel carries it out, for a test that compares it with the processor's.
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "protocol/operation.h"
#include "tests/bpf/combined_pairs.h"

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct combined_pairs);
} pairs_to_combine SEC(".maps");

SEC("tc")
int nic_combine_pairs(struct __sk_buff* skb) {
  const __u32 zero = 0;
  struct combined_pairs* pairs = bpf_map_lookup_elem(&pairs_to_combine, &zero);
  (void)skb;
  if (pairs == 0) return 1;
  for (__u32 i = 0; i < COMBINED_PAIRS; ++i)
    pairs->result[i] = nic_combine_word(pairs->operation, pairs->type, pairs->left[i], pairs->right[i]);
  return 0;
}

char nic_licence[] SEC("license") = "Dual BSD/GPL";
