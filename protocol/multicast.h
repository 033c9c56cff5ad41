/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A fragment of a message that goes to a whole group by multicast: one datagram, of five 64-bit words and the fragment.
 *
 * The five are big-endian: four say everything about the fragment, the fifth is the SipHash-2-4, under the group's key,
 * of the four and of the fragment, whose bytes are taken as little-endian words, the last one filled up with zeros
 * (how many bytes it has stands in the first word). docs/multicast.md has the whole.
 *
 *   word 0   magic 32 | version 8 | stream 8 | bytes of the fragment 16
 *   word 1   group 64
 *   word 2   number of the message in its stream and of its source 40 | source 24
 *   word 3   offset of the fragment in the message 32 | bytes of the message 32
 *   word 4   tag 64
 *   ...      fragment
 *
 * Thread safety: pure functions. */
#ifndef HOCKET_PROTOCOL_MULTICAST_H
#define HOCKET_PROTOCOL_MULTICAST_H

#include "protocol/siphash.h"

enum {
  MULTICAST_MAGIC = 0x684b4d43, /* "hKMC" */
  MULTICAST_VERSION = 1,
  MULTICAST_WORDS = 4, /* before the tag */
  MULTICAST_HEADER_BYTES = 8 * (MULTICAST_WORDS + 1),
  MULTICAST_MOST_SOURCES = 1 << 24,
  MULTICAST_MOST_FRAGMENT_BYTES = 0xffff - MULTICAST_HEADER_BYTES,
};

/* A fragment's four words, taken apart. */
struct multicast_fragment {
  __u64 group;
  __u64 number; /* from 0; 40 bits */
  __u32 source; /* 24 bits */
  __u32 offset; /* bytes */
  __u32 whole;  /* bytes of the message */
  __u16 bytes;  /* of the fragment */
  __u8 stream;
};

enum multicast_verdict {
  MULTICAST_TAKEN,
  MULTICAST_TOO_SHORT, /* for a header */
  MULTICAST_FOREIGN,   /* not of this protocol */
  MULTICAST_OTHER_VERSION,
  MULTICAST_OTHER_GROUP, /* another job's, on the same address */
  MULTICAST_BAD_LENGTH,  /* no fragment of a message can have this length or offset */
  MULTICAST_BAD_TAG,     /* from a sender that doesn't know the key, or damaged */
};

static inline __u64 multicast_load_big(const unsigned char* bytes) {
  __u64 word;
  __builtin_memcpy(&word, bytes, sizeof word);
  return __builtin_bswap64(word);
}

static inline void multicast_store_big(__u64 word, unsigned char* bytes) {
  word = __builtin_bswap64(word);
  __builtin_memcpy(bytes, &word, sizeof word);
}

static inline __u64 multicast_first_word(const struct multicast_fragment* f) {
  return (__u64)MULTICAST_MAGIC << 32 | (__u64)MULTICAST_VERSION << 24 | (__u64)f->stream << 16 | f->bytes;
}

/* Of the fragment's words; `content`: f->bytes bytes, ignored where there are none. */
static inline __u64 multicast_tag(const struct nic_key* key, const struct multicast_fragment* f,
                                  const unsigned char* content) {
  struct nic_siphash s = nic_siphash_begin(key);
  nic_siphash_word(&s, multicast_first_word(f));
  nic_siphash_word(&s, f->group);
  nic_siphash_word(&s, f->number << 24 | f->source);
  nic_siphash_word(&s, (__u64)f->offset << 32 | f->whole);
  __u32 at = 0;
  for (; at + 8 <= f->bytes; at += 8) {
    __u64 word;
    __builtin_memcpy(&word, content + at, sizeof word);
    nic_siphash_word(&s, word);
  }
  __u64 words = MULTICAST_WORDS + at / 8;
  if (at < f->bytes) {
    __u64 word = 0;
    __builtin_memcpy(&word, content + at, f->bytes - at);
    nic_siphash_word(&s, word);
    ++words;
  }
  return nic_siphash_end(&s, words);
}

/* `header`: MULTICAST_HEADER_BYTES of room. */
static inline void multicast_write(const struct nic_key* key, const struct multicast_fragment* f,
                                   const unsigned char* content, unsigned char* header) {
  multicast_store_big(multicast_first_word(f), header);
  multicast_store_big(f->group, header + 8);
  multicast_store_big(f->number << 24 | f->source, header + 16);
  multicast_store_big((__u64)f->offset << 32 | f->whole, header + 24);
  multicast_store_big(multicast_tag(key, f, content), header + 32);
}

/* Whether a sender would cut a message this way: all fragments but the last are `most` bytes long. */
static inline int multicast_is_sound(const struct multicast_fragment* f, __u32 most) {
  if (f->offset % most != 0 || f->offset > f->whole) return 0;
  const __u32 left = f->whole - f->offset;
  if (f->bytes != (left < most ? left : most)) return 0;
  return f->bytes != 0 || f->whole == 0;
}

/* What a datagram holds; `f` is filled in from MULTICAST_OTHER_GROUP on. Its fragment begins behind the header. */
static inline enum multicast_verdict multicast_read(const struct nic_key* key, __u64 group, __u32 most,
                                                    const unsigned char* datagram, __u32 length,
                                                    struct multicast_fragment* f) {
  if (length < MULTICAST_HEADER_BYTES) return MULTICAST_TOO_SHORT;
  const __u64 first = multicast_load_big(datagram);
  if (first >> 32 != MULTICAST_MAGIC) return MULTICAST_FOREIGN;
  if ((first >> 24 & 0xff) != MULTICAST_VERSION) return MULTICAST_OTHER_VERSION;
  const __u64 third = multicast_load_big(datagram + 16);
  const __u64 fourth = multicast_load_big(datagram + 24);
  f->group = multicast_load_big(datagram + 8);
  f->number = third >> 24;
  f->source = (__u32)(third & (MULTICAST_MOST_SOURCES - 1));
  f->offset = (__u32)(fourth >> 32);
  f->whole = (__u32)fourth;
  f->bytes = (__u16)first;
  f->stream = (__u8)(first >> 16);
  if (f->group != group) return MULTICAST_OTHER_GROUP;
  if (f->bytes != length - MULTICAST_HEADER_BYTES || !multicast_is_sound(f, most)) return MULTICAST_BAD_LENGTH;
  if (multicast_tag(key, f, datagram + MULTICAST_HEADER_BYTES) != multicast_load_big(datagram + 32))
    return MULTICAST_BAD_TAG;
  return MULTICAST_TAKEN;
}

#endif
