/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What NIC engines say to each other: one UDP datagram over IPv4, of five 64-bit words and up to 64 more.
 *
 * The five are big-endian: four say everything about the packet, the fifth is the SipHash-2-4, under the group's key,
 * of all others. What follows are the words of an operand, little-endian, as operations take them (operation.h).
 * docs/protocol.md has the whole.
 *
 *   word 0   magic 32 | version 4 | kind 4 | program 8 | root 16
 *   word 1   group 64
 *   word 2   epoch 64
 *   word 3   source 16 | target 16 | send 8 | bit 8 | words 8 | operation 4 | type 4
 *   word 4   tag 64
 *   ...      operand
 *
 * Thread safety: pure functions. */
#ifndef HOCKET_PROTOCOL_PACKET_H
#define HOCKET_PROTOCOL_PACKET_H

#include "protocol/siphash.h"

enum {
  NIC_MAGIC = 0x684b4e43, /* "hKNC" */
  NIC_VERSION = 3,
  NIC_DEFAULT_PORT = 46253,
  NIC_WORDS = 4, /* before the tag */
  NIC_HEADER_BYTES = 8 * (NIC_WORDS + 1),
  NIC_MOST_WORDS = 64, /* of an operand */
  NIC_MOST_PACKET_BYTES = NIC_HEADER_BYTES + 8 * NIC_MOST_WORDS,
  NIC_PROBING = 0xff, /* as a probe's program, and that of its answer: none */
  NIC_ALL = 0xffff,   /* as a message's target: all members, by one packet */
};

enum nic_kind {
  NIC_MESSAGE = 1, /* what the schedule sends: `source` has done `send` of `program` in `epoch` */
  NIC_NACK,        /* the target's `send` has not come: send it again, or say that it has not been reached yet */
  NIC_ALIVE,       /* the answer to a probe; to a NACK, that nothing has been sent, and to ask again */
  NIC_PROBE,       /* are you there? The answer bears the probe's `send` and `bit`, of which the asker may make use */
  NIC_ACK,         /* `send` of the target's has come: of programs whose messages are acknowledged, and of NIC_OWED */
  NIC_ABORT,       /* the group is broken: `bit` says why, `root` whose fault it is (member) */
  NIC_VETO,        /* a message that says no: only of programs that vote (table.h) */
  NIC_LATER,       /* the answer to a NACK for what has not been sent yet: it will be, as NIC_OWED, until it has come */
  NIC_OWED,        /* a message that was asked for before it was sent: its sender repeats it until it is acknowledged */
  NIC_GONE,        /* the answer to a NACK on a wire that loses nothing: it has been sent, and isn't sent again */
  NIC_KINDS,
};

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "operands go over the wire as they lie in memory: little-endian"
#endif

struct nic_operand {
  __u64 word[NIC_MOST_WORDS];
};

/* A packet's four words, taken apart. */
struct nic_message {
  __u64 group;
  __u64 epoch;  /* which operation of the group, from 1 */
  __u16 source; /* members */
  __u16 target;
  __u16 root; /* the next four: of the call, the same in all messages of an operation */
  __u8 words; /* of an operand */
  __u8 operation;
  __u8 type;
  __u8 kind;
  __u8 program;
  __u8 send;    /* in the list of the message's sender */
  __u8 bit;     /* of the receiver's record */
  __u8 carried; /* words that follow the tag: the packet's length says so */
};

#define NIC_INLINE static inline __attribute__((always_inline))

/* Functions that the kernel's verifier looks at once, by themselves, and not again wherever they are called; it wants
 * to see each pointer of theirs compared with null. */
#ifdef __bpf__
#define NIC_FUNCTION __attribute__((noinline))
#define NIC_IS_NULL(pointer) ((pointer) == 0)
#else
#define NIC_FUNCTION NIC_INLINE
#define NIC_IS_NULL(pointer) 0
#endif

NIC_INLINE __u64 nic_big_endian(__u64 word) { return __builtin_bswap64(word); }

NIC_INLINE __u64 nic_first_word(const struct nic_message* m) {
  return (__u64)NIC_MAGIC << 32 | (__u64)NIC_VERSION << 28 | (__u64)(m->kind & 15) << 24 | (__u64)m->program << 16 |
         m->root;
}

NIC_INLINE __u64 nic_last_word(const struct nic_message* m) {
  return (__u64)m->source << 48 | (__u64)m->target << 32 | (__u64)m->send << 24 | (__u64)m->bit << 16 |
         (__u64)m->words << 8 | (__u64)(m->operation & 15) << 4 | (m->type & 15);
}

/* `operand`: what the packet carries; ignored where it carries nothing. */
NIC_FUNCTION __u64 nic_tag(const struct nic_key* key, const struct nic_message* m, const struct nic_operand* operand) {
  if (NIC_IS_NULL(key) || NIC_IS_NULL(m)) return 0;
  struct nic_siphash s = nic_siphash_begin(key);
  nic_siphash_word(&s, nic_first_word(m));
  nic_siphash_word(&s, m->group);
  nic_siphash_word(&s, m->epoch);
  nic_siphash_word(&s, nic_last_word(m));
  if (!operand) return nic_siphash_end(&s, NIC_WORDS);
  for (__u32 i = 0; i < NIC_MOST_WORDS; ++i) {
    if (i >= m->carried) break;
    nic_siphash_word(&s, operand->word[i]);
  }
  return nic_siphash_end(&s, (__u64)NIC_WORDS + m->carried);
}

/* `words`: NIC_WORDS + 1 of them, as they go over the wire. */
NIC_INLINE void nic_write(const struct nic_message* m, __u64 tag, __u64* words) {
  words[0] = nic_big_endian(nic_first_word(m));
  words[1] = nic_big_endian(m->group);
  words[2] = nic_big_endian(m->epoch);
  words[3] = nic_big_endian(nic_last_word(m));
  words[4] = nic_big_endian(tag);
}

/* Gives the tag that the packet bears. 0 in `kind`: not of this protocol, or not of this version. */
NIC_INLINE __u64 nic_read(const __u64* words, __u32 carried, struct nic_message* m) {
  const __u64 first = nic_big_endian(words[0]);
  const __u64 last = nic_big_endian(words[3]);
  m->kind = first >> 28 == ((__u64)NIC_MAGIC << 4 | NIC_VERSION) ? (__u8)(first >> 24 & 15) : 0;
  m->program = (__u8)(first >> 16);
  m->root = (__u16)first;
  m->group = nic_big_endian(words[1]);
  m->epoch = nic_big_endian(words[2]);
  m->source = (__u16)(last >> 48);
  m->target = (__u16)(last >> 32);
  m->send = (__u8)(last >> 24);
  m->bit = (__u8)(last >> 16);
  m->words = (__u8)(last >> 8);
  m->operation = (__u8)(last >> 4 & 15);
  m->type = (__u8)(last & 15);
  m->carried = (__u8)carried;
  return nic_big_endian(words[4]);
}

#endif
