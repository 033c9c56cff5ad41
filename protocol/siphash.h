/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* SipHash-2-4 (Aumasson, Bernstein: SipHash, a fast short-input PRF, 2012) of whole 64-bit words.
 *
 * The words are hashed as their little-endian bytes. Without loops over anything but the words, so that the kernel's
 * verifier accepts it.
 *
 * Thread safety: pure functions; the state of a hash belongs to its caller. */
#ifndef HOCKET_PROTOCOL_SIPHASH_H
#define HOCKET_PROTOCOL_SIPHASH_H

#include <linux/types.h>

struct nic_key {
  __u64 low;
  __u64 high;
};

struct nic_siphash {
  __u64 v0, v1, v2, v3;
};

static inline __attribute__((always_inline)) __u64 nic_rotate(__u64 word, int bits) {
  return word << bits | word >> (64 - bits);
}

static inline __attribute__((always_inline)) void nic_siphash_round(struct nic_siphash* s) {
  s->v0 += s->v1;
  s->v1 = nic_rotate(s->v1, 13) ^ s->v0;
  s->v0 = nic_rotate(s->v0, 32);
  s->v2 += s->v3;
  s->v3 = nic_rotate(s->v3, 16) ^ s->v2;
  s->v0 += s->v3;
  s->v3 = nic_rotate(s->v3, 21) ^ s->v0;
  s->v2 += s->v1;
  s->v1 = nic_rotate(s->v1, 17) ^ s->v2;
  s->v2 = nic_rotate(s->v2, 32);
}

static inline __attribute__((always_inline)) void nic_siphash_word(struct nic_siphash* s, __u64 word) {
  s->v3 ^= word;
  nic_siphash_round(s);
  nic_siphash_round(s);
  s->v0 ^= word;
}

static inline __attribute__((always_inline)) struct nic_siphash nic_siphash_begin(const struct nic_key* key) {
  struct nic_siphash s = {key->low ^ 0x736f6d6570736575ULL, key->high ^ 0x646f72616e646f6dULL,
                          key->low ^ 0x6c7967656e657261ULL, key->high ^ 0x7465646279746573ULL};
  return s;
}

/* `words`: how many there were. */
static inline __attribute__((always_inline)) __u64 nic_siphash_end(struct nic_siphash* s, __u64 words) {
  nic_siphash_word(s, words << 59); /* the length in bytes, modulo 256, in the last word's highest byte */
  s->v2 ^= 0xff;
  nic_siphash_round(s);
  nic_siphash_round(s);
  nic_siphash_round(s);
  nic_siphash_round(s);
  return s->v0 ^ s->v1 ^ s->v2 ^ s->v3;
}

#endif
