/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What an operation is to do, beside its program: it is the same on all members, and the first message that describes
 * it is kept.
 *
 *   bits 0..3     type
 *   bits 4..7     operation
 *   bits 8..15    words of an operand
 *   bits 16..31   root
 *   bit  51       says that there is a call
 *   bits 52..63   round, as in a record
 *
 * Thread safety: any number of processors at the same time. */
#ifndef HOCKET_PROTOCOL_CALL_H
#define HOCKET_PROTOCOL_CALL_H

#include "protocol/record.h"

#define NIC_IS_CALL (1ULL << (NIC_ROUND_SHIFT - 1))

NIC_INLINE __u32 nic_call_root(__u64 call) { return call >> 16 & 0xffff; }
NIC_INLINE __u32 nic_call_words(__u64 call) { return call >> 8 & 0xff; }
NIC_INLINE __u32 nic_call_operation(__u64 call) { return call >> 4 & 15; }
NIC_INLINE __u32 nic_call_type(__u64 call) { return call & 15; }

NIC_INLINE __u64 nic_call_of(const struct nic_message* m) {
  return nic_round(m->epoch) << NIC_ROUND_SHIFT | NIC_IS_CALL | (__u64)m->root << 16 | (__u64)m->words << 8 |
         (__u64)m->operation << 4 | m->type;
}

NIC_INLINE int nic_has_root(const struct nic_program* program) {
  return (program->flags & (NIC_TO_ROOT | NIC_FROM_ROOT)) != 0;
}

/* How many words a message carries that has content. */
NIC_INLINE __u32 nic_words_of_slice(const struct nic_program* program, __u64 call) {
  return program->slices == 0 ? nic_call_words(call) : nic_call_words(call) / program->slices;
}

/* Whether the program can do it. */
NIC_INLINE int nic_is_sound(const struct nic_group* group, const struct nic_program* program,
                            const struct nic_message* m) {
  if (program->operands == 0) return m->root == 0 && m->words == 0 && m->operation == 0 && m->type == 0;
  if (m->words == 0 || m->words > NIC_MOST_WORDS || !nic_can_combine(m->operation, m->type)) return 0;
  if (program->slices != 0 && m->words % program->slices != 0) return 0;
  return m->root < (nic_has_root(program) ? group->size : 1);
}

/* The word of an operation of which nothing is known yet: bits that this member needn't wait for are set. */
NIC_INLINE __u64 nic_beginning(const struct nic_group* group, const struct nic_program* program,
                               const struct nic_message* m) {
  __u64 word = nic_blank(m->epoch, m->program);
  if ((program->flags & NIC_TO_ROOT) != 0 && m->root != group->self) word |= NIC_PUBLISHED | 1;
  if ((program->flags & NIC_FROM_ROOT) != 0 && m->root == group->self) word |= 1;
  return word;
}

/* Makes `call` the epoch's, if it has none yet. NIC_OTHER_PROGRAM: it has another. */
NIC_FUNCTION enum nic_set_result nic_describe(__u64* word, __u64 call) {
  if (NIC_IS_NULL(word)) return NIC_BUSY;
  __u64 seen = nic_load(word);
  for (int i = 0; i < NIC_MOST_ATTEMPTS; ++i) {
    const __u64 behind = (nic_round_of(call) - nic_round_of(seen)) % NIC_ROUNDS;
    if (behind >= NIC_ROUNDS / 2) return NIC_IS_PAST;
    if (behind == 0 && (seen & NIC_IS_CALL) != 0) return seen == call ? NIC_SET : NIC_OTHER_PROGRAM;
    const __u64 found = nic_compare_exchange(word, seen, call);
    if (found == seen) return NIC_SET;
    seen = found;
  }
  return NIC_BUSY;
}

/* The epoch's call; 0 where it has none (yet, or any more). */
NIC_INLINE __u64 nic_described(const __u64* word, __u64 epoch) {
  const __u64 seen = nic_look(word, epoch);
  return (seen & NIC_IS_CALL) != 0 ? seen : 0;
}

#endif
