/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where an operation's operands are kept, and what becomes of them.
 *
 * A group has places for all operations of the window. A place is, in user space, an address; in
 * the kernel's programs, a number in their map. The processor that has claimed an operand writes it once, before the
 * record says that it has come, and it stays until the window has moved past.
 *
 * Operands that are combined as they come go into the operation's pool, which is one word: the number of the one place
 * that no processor owns and that holds everything combined so far. The processor that has written an operand owns its
 * place. It parks the place in the pool if the pool is empty; otherwise it takes the parked place, combines the two in
 * its own, and tries again. Only then does the record say that the operand has come. So a processor that sees in the
 * record that all operands have come finds all of them in the parked place, where none writes any more.
 *
 * Thread safety: any number of processors may read the operands that have come. */
#ifndef HOCKET_PROTOCOL_OPERANDS_H
#define HOCKET_PROTOCOL_OPERANDS_H

#include "protocol/call.h"

#ifdef __bpf__
static struct nic_operand* nic_operand_at(__u64 place); /* where the maps are */
NIC_INLINE __u64 nic_place(__u64 memory, __u32 number) { return memory + number; }
#else
NIC_INLINE struct nic_operand* nic_operand_at(__u64 place) {
  return (struct nic_operand*)(unsigned long)place; /* NOLINT: an address */
}
NIC_INLINE __u64 nic_place(__u64 memory, __u32 number) { return memory + number * sizeof(struct nic_operand); }
#endif

/* For the verifier, which must see the index that is used (table.h). */
NIC_INLINE __u64 nic_word_number(__u64 index) {
  __asm__ volatile("" : "+r"(index));
  return index % NIC_MOST_WORDS;
}

enum { NIC_HOSTS_OPERAND, NIC_EXCHANGED }; /* places */

/* The first place of an operation. */
NIC_INLINE __u64 nic_places_of(const struct nic_group* group, __u64 memory, __u64 epoch) {
  return nic_place(memory, (__u32)nic_index_of(epoch) * group->operands);
}

/* Copies a number of words of an operand, starting at word `from`, to a place, starting at word `at`. */
NIC_FUNCTION int nic_put(__u64 place, const struct nic_operand* operand, __u32 from, __u32 at, __u32 words) {
  if (NIC_IS_NULL(operand)) return 0;
  struct nic_operand* kept = nic_operand_at(place);
  if (!kept) return 0;
  for (__u32 i = 0; i < NIC_MOST_WORDS; ++i) {
    if (i >= words) break;
    kept->word[nic_word_number(at + i)] = operand->word[nic_word_number(from + i)];
  }
  return 1;
}

/* Copies a number of words of a place, starting at word `from`, to the first words of an operand. */
NIC_FUNCTION int nic_get(__u64 place, struct nic_operand* operand, __u32 from, __u32 words) {
  if (NIC_IS_NULL(operand)) return 0;
  const struct nic_operand* kept = nic_operand_at(place);
  if (!kept) return 0;
  for (__u32 i = 0; i < NIC_MOST_WORDS; ++i) {
    if (i >= words) break;
    operand->word[i] = kept->word[nic_word_number(from + i)];
  }
  return 1;
}

NIC_FUNCTION int nic_combine(__u64 place, struct nic_operand* result, __u64 call, __u32 is_left) {
  if (NIC_IS_NULL(result)) return 0;
  const struct nic_operand* other = nic_operand_at(place);
  if (!other) return 0;
  const __u32 operation = nic_call_operation(call);
  const __u32 type = nic_call_type(call);
  /* The usual case, decided once rather than for each element. */
  const int adds_doubles = operation == NIC_SUM && type == NIC_DOUBLE;
  for (__u32 i = 0; i < NIC_MOST_WORDS; ++i) {
    if (i >= nic_call_words(call)) break;
    const __u64 left = is_left ? other->word[i] : result->word[i];
    const __u64 right = is_left ? result->word[i] : other->word[i];
    result->word[i] = adds_doubles ? nic_add_double(left, right) : nic_combine_word(operation, type, left, right);
  }
  return 1;
}

/* An operation's pool: bits 0..7 the number of the place that is parked and one, 0: none; bits 52..63 the round, as in
 * a record. */
enum { NIC_PARKED_BITS = 8 };
NIC_INLINE __u32 nic_parked(__u64 pool) { return pool & ((1U << NIC_PARKED_BITS) - 1); }

/* Each failure means that another processor succeeded, which happens at most twice for each place. */
enum { NIC_MOST_POOLINGS = 4 * (NIC_MOST_ARRIVALS + 1) };

/* Combines what place `number` holds with what has come before it. `pool`: the operation's, whose call this is. Gives 0
 * where the operation is over. */
NIC_FUNCTION int nic_pool(__u64* pool, __u64 places, __u64 number, __u64 call) {
  if (NIC_IS_NULL(pool)) return 0;
  struct nic_operand* own = nic_operand_at(nic_place(places, (__u32)number));
  if (!own) return 0;
  const __u64 empty = nic_round_of(call) << NIC_ROUND_SHIFT;
  __u64 seen = nic_load(pool);
  for (int i = 0; i < NIC_MOST_POOLINGS; ++i) {
    const __u64 behind = (nic_round_of(call) - nic_round_of(seen)) % NIC_ROUNDS;
    if (behind >= NIC_ROUNDS / 2) return 0;
    const __u32 parked = behind == 0 ? nic_parked(seen) : 0;
    const __u64 wanted = parked != 0 ? empty : empty | (number + 1);
    const __u64 found = nic_compare_exchange(pool, seen, wanted);
    if (found != seen) {
      seen = found;
    } else if (parked == 0) {
      return 1;
    } else {
      if (!nic_combine(nic_place(places, parked - 1), own, call, 1)) return 0;
      seen = wanted;
    }
  }
  return 0;
}

NIC_INLINE int nic_is_pooled(const struct nic_program* program, __u32 place) {
  return place < 64 && (program->pooled >> place & 1) != 0;
}

/* Whether the content is what the pool holds in the end. */
NIC_INLINE int nic_is_of_pool(const struct nic_program* program, const struct nic_send* send) {
  return program->pooled != 0 && send->content.end - send->content.first > 1;
}

/* A content of the program's, of an operation whose places begin with `places`: [first, end) of the list of operands,
 * all of which must have come; of a slice of it, that slice's words. */
NIC_FUNCTION int nic_fold(const struct nic_program* program, const struct nic_send* send, __u64 places, __u64 call,
                          struct nic_operand* result) {
  if (NIC_IS_NULL(program) || NIC_IS_NULL(send) || NIC_IS_NULL(result)) return 0;
  const __u32 words = nic_words_of_slice(program, call);
  const __u32 from = send->slice == NIC_WHOLE ? 0 : send->slice * words;
  for (__u32 i = 0; i < NIC_MOST_FOLDS; ++i) {
    const __u32 entry = send->content.first + i;
    if (entry >= send->content.end || entry >= NIC_MOST_FOLDS) break;
    const __u32 fold = nic_fold_at(program, entry);
    const __u64 place = nic_place(places, fold & (NIC_IS_LEFT - 1));
    if (i == 0 ? !nic_get(place, result, from, send->slice == NIC_WHOLE ? nic_call_words(call) : words)
               : !nic_combine(place, result, call, fold & NIC_IS_LEFT))
      return 0;
  }
  return 1;
}

/* What the host gives. Of an exchange, what goes to oneself is there at once. */
NIC_INLINE int nic_put_hosts(const struct nic_group* group, const struct nic_program* program, __u64 places, __u64 call,
                             const struct nic_operand* operand) {
  if (!nic_put(nic_place(places, NIC_HOSTS_OPERAND), operand, 0, 0, nic_call_words(call))) return 0;
  if (program->slices == 0) return 1;
  const __u32 words = nic_words_of_slice(program, call);
  return nic_put(nic_place(places, NIC_EXCHANGED), operand, words * group->self, words * group->self, words);
}

#endif
