/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The record of one operation: a word that holds what has come, for which operation, and of which program.
 *
 *   bits 0..46    arrivals; of a program that votes, bit 46 says that a member's host was late; of one with a result,
 *                 that the host has been given it
 *   bit  47       the host has started
 *   bits 48..51   program
 *   bits 52..63   round: the epoch divided by the window, modulo 4096
 *
 * A group has NIC_WINDOW of them; epoch e uses number e modulo NIC_WINDOW. Since the word tells whose it is, none is
 * ever cleared: the first message for a later epoch takes it over, and one that comes too late can tell that it did.
 *
 * Why the window is so wide: a member that starts e + NIC_WINDOW has completed e + NIC_WINDOW - NIC_IN_FLIGHT. One of
 * the NIC_SYNCHRONIZES operations up to that one is such that all hosts have started it. So each has completed e: no
 * member misses any message of it, and its operands may be overwritten.
 *
 * Thread safety: any number of processors at the same time; every change is a compare-and-exchange, and orders what
 * comes before and after it. */
#ifndef HOCKET_PROTOCOL_RECORD_H
#define HOCKET_PROTOCOL_RECORD_H

#include "protocol/table.h"

#define NIC_STARTED (1ULL << NIC_MOST_ARRIVALS)
/* One bit: no program has both. */
#define NIC_VETOED (NIC_STARTED >> 1)
#define NIC_PUBLISHED (NIC_STARTED >> 1)
#define NIC_EVENTS (NIC_STARTED | (NIC_STARTED - 1))
/* Among the bits to be set: NIC_VETOED as well, if the host hasn't started. */
#define NIC_VOTE (1ULL << 63)

enum {
  NIC_PROGRAM_SHIFT = NIC_MOST_ARRIVALS + 1,
  NIC_ROUND_SHIFT = NIC_PROGRAM_SHIFT + 4,
  NIC_ROUNDS = 1 << (64 - NIC_ROUND_SHIFT),
  /* A compare-and-exchange fails only if another processor has set a bit or taken the word over. */
  NIC_MOST_ATTEMPTS = 64,
};

NIC_INLINE __u64 nic_compare_exchange(__u64* word, __u64 expected, __u64 wanted) {
  return __sync_val_compare_and_swap(word, expected, wanted);
}

NIC_INLINE __u64 nic_exchange(__u64* word, __u64 wanted) { return __sync_lock_test_and_set(word, wanted); }

NIC_INLINE __u64 nic_load(const __u64* word) {
#ifdef __bpf__
  return *(const volatile __u64*)word; /* clang 19 has no atomic loads for BPF */
#else
  return __atomic_load_n(word, __ATOMIC_RELAXED);
#endif
}

/* Which of the window's records an epoch has. The comparison, which the compiler can't leave out, is the verifier's. */
NIC_INLINE __u64 nic_index_of(__u64 epoch) {
  __u64 index = epoch % NIC_WINDOW;
  __asm__ volatile("" : "+r"(index));
  return index < NIC_WINDOW ? index : 0;
}
NIC_INLINE __u64 nic_round(__u64 epoch) { return epoch / NIC_WINDOW % NIC_ROUNDS; }
NIC_INLINE __u64 nic_round_of(__u64 word) { return word >> NIC_ROUND_SHIFT; }
NIC_INLINE __u64 nic_program_of(__u64 word) { return word >> NIC_PROGRAM_SHIFT & 15; }
/* The word of an operation of which nothing is known yet. */
NIC_INLINE __u64 nic_blank(__u64 epoch, __u64 program) {
  return nic_round(epoch) << NIC_ROUND_SHIFT | program << NIC_PROGRAM_SHIFT;
}

enum nic_set_result { NIC_SET, NIC_WAS_SET, NIC_IS_PAST, NIC_OTHER_PROGRAM, NIC_BUSY };

struct nic_change {
  __u64 before; /* the operation's word */
  __u64 after;
};

/* Sets `bits` for the epoch. `blank`: the epoch's word before anything has come. */
NIC_FUNCTION enum nic_set_result nic_set(__u64* word, __u64 epoch, __u64 blank, __u64 bits, struct nic_change* change) {
  if (NIC_IS_NULL(word) || NIC_IS_NULL(change)) return NIC_BUSY;
  __u64 seen = nic_load(word);
  for (int i = 0; i < NIC_MOST_ATTEMPTS; ++i) {
    const __u64 behind = (nic_round(epoch) - nic_round_of(seen)) % NIC_ROUNDS;
    if (behind >= NIC_ROUNDS / 2) return NIC_IS_PAST;
    const __u64 before = behind != 0 || (seen & NIC_EVENTS) == 0 ? blank : seen;
    if (nic_program_of(before) != nic_program_of(blank)) return NIC_OTHER_PROGRAM;
    const __u64 vote = (bits & NIC_VOTE) != 0 && (before & NIC_STARTED) == 0 ? NIC_VETOED : 0;
    const __u64 after = before | (bits & NIC_EVENTS) | vote;
    if (after == seen) return NIC_WAS_SET;
    const __u64 found = nic_compare_exchange(word, seen, after);
    if (found == seen) {
      change->before = before;
      change->after = after;
      return NIC_SET;
    }
    seen = found;
  }
  return NIC_BUSY;
}

/* The epoch's word, or a blank one where it has none (yet, or any more). */
NIC_INLINE __u64 nic_look(const __u64* word, __u64 epoch) {
  const __u64 seen = nic_load(word);
  return nic_round_of(seen) == nic_round(epoch) ? seen : 0;
}

/* How many messages may go out: those of the stages that have been reached. */
NIC_FUNCTION __u32 nic_sends_reached(const struct nic_program* program, __u64 word) {
  if (NIC_IS_NULL(program)) return 0;
  __u32 sends = 0;
  for (int i = 0; i < NIC_MOST_STAGES; ++i) {
    if (i >= program->stages || (word & program->need[i]) != program->need[i]) break;
    sends = program->end_send[i];
  }
  return sends;
}

NIC_INLINE __u8 nic_is_vetoed(const struct nic_program* program, __u64 word) {
  return (program->flags & NIC_VOTES) != 0 && (word & NIC_VETOED) != 0;
}

/* What has to come until the operation is complete. */
NIC_INLINE __u64 nic_wanted(const struct nic_program* program, __u64 word) {
  return nic_is_vetoed(program, word) ? program->instead : program->all;
}

NIC_INLINE int nic_is_complete(const struct nic_program* program, __u64 word) {
  const __u64 wanted = nic_wanted(program, word);
  return (word & wanted) == wanted;
}

#endif
