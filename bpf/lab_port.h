/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the programs on the ports of a lab's switch and the hocket command have in common.
 *
 * Each node has two links: packets from the node, and packets to it. A link's packets are numbered; whether one is hit
 * by an impairment depends on nothing but the link, its seed and that number, so that a run can be repeated.
 *
 * Thread safety: settings are written by the command and read by the programs, a word at a time; counters are added to
 * atomically by the programs and read by anybody. Events go from each processor to its own buffer. */
#ifndef HOCKET_LAB_PORT_H
#define HOCKET_LAB_PORT_H

#include <linux/types.h>

enum {
  LAB_MOST_PORTS = 256,
  LAB_FROM_NODE = 0, /* directions */
  LAB_TO_NODE = 1,
  LAB_LINKS = 2 * LAB_MOST_PORTS,
  LAB_RELAY_INDEX = 3,  /* interfaces of the switch's namespace: the relay's, */
  LAB_FIRST_PORT = 100, /* and the port of node 0 */
};

/* What the table has: shares are of 2^32, times in ns. */
struct lab_settings {
  __u64 is_active; /* 0: nothing below is set */
  __u64 seed;
#define LAB_IMPAIRMENT(kind, name, measure, setting, ...) __u64 setting;
#define LAB_FURTHER_TIME(kind, effect, option, setting, ...) __u64 setting;
#include "lab_impairments.def"
  __u64 lose_multicast_only; /* 1: others are never lost, nor is what manages groups (IGMP) */
};

struct lab_counters {
  __u64 packets;
  __u64 bytes;
  __u64 number; /* of the next packet that may be hit */
#define LAB_IMPAIRMENT(kind, name, measure, setting, counter, ...) __u64 counter;
#include "lab_impairments.def"
  __u64 crowded_out; /* the relay had no room for it */
};

/* What is told of packets of NIC engines, and of what hosts tell their engines, while a process records it. */
enum lab_hit { /* numbers of bits */
#define LAB_IMPAIRMENT(kind, ...) LAB_HIT_##kind,
#include "lab_impairments.def"
               LAB_HITS
};
enum {
  LAB_DOORBELL = LAB_LINKS, /* in place of a link */
  /* Of protocol/packet.h and protocol/page.h, which have functions that these programs have no use for. */
  LAB_ENGINE_MAGIC = 0x684b4e43,
  LAB_ENGINE_DOORBELL = 15,
  LAB_ENGINE_WORDS = 5,
};
struct lab_event {
  __u64 time_ns;
  __u64 words[LAB_ENGINE_WORDS]; /* as they go over the wire */
  __u8 source[6];                /* the Ethernet address; of a doorbell its node's */
  __u16 link;
  __u32 hits;     /* what has hit it on that link */
  __u16 carried;  /* words that follow */
  __u16 is_again; /* one that was judged before, and now goes on to its node */
};
struct lab_recording {
  __u32 is_on; /* set by who records; a program that finds that nobody listens any more clears it */
  __u32 reserved;
  __u64 missed; /* events for which there was no room */
};

static inline __u32 lab_link(__u32 port, __u32 direction) { return 2 * port + direction; }

/* What a packet on its way through the relay carries as its VLAN, there and back: never 0, which means none. */
static inline __u32 lab_relay_tag(__u32 link, __u32 is_held) { return 1 + 2 * link + is_held; }
static inline __u32 lab_tag_link(__u32 tag) { return (tag - 1) / 2; }
static inline __u32 lab_tag_is_held(__u32 tag) { return (tag - 1) % 2; }

/* And outside of that, as the whole word of a second tag, when it was taken: the lowest bits of the monotonic clock, in
 * units of 1024 ns, so that the relay need not look at once. It is right for 67 ms. Of two tags the kernel writes the
 * inner one into the packet. */
enum { LAB_TIME_SHIFT = 10 };
static inline __u16 lab_time_tag(__u64 now_ns) { return (__u16)(now_ns >> LAB_TIME_SHIFT); }
static inline __u64 lab_tag_time_ns(__u16 tag, __u64 now_ns) {
  const __u64 now = now_ns >> LAB_TIME_SHIFT;
  return (now - (__u16)(now - tag)) << LAB_TIME_SHIFT;
}

/* What random numbers are drawn for. A new purpose goes behind the others: with other numbers for those that are here,
 * a seed would hit other packets than before. */
enum lab_purpose { LAB_LOSS = 1, LAB_DUPLICATE, LAB_CORRUPT, LAB_CORRUPT_WHERE, LAB_HOLD, LAB_JITTER, LAB_PURPOSES };
enum { LAB_PURPOSE_BITS = 4 };

/* The output function of splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014). */
static inline __u64 lab_mix(__u64 word) {
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9ULL;
  word = (word ^ (word >> 27)) * 0x94d049bb133111ebULL;
  return word ^ (word >> 31);
}

/* 64 bits that look random: the same for the same arguments. */
static inline __u64 lab_random(__u64 seed, __u32 link, enum lab_purpose purpose, __u64 number) {
  const __u64 stream = lab_mix(seed + 0x9e3779b97f4a7c15ULL * ((__u64)link << LAB_PURPOSE_BITS | (__u64)purpose));
  return lab_mix(stream + 0x9e3779b97f4a7c15ULL * (number + 1));
}

static inline int lab_is_hit(__u64 share, __u64 seed, __u32 link, enum lab_purpose purpose, __u64 number) {
  return share != 0 && (lab_random(seed, link, purpose, number) >> 32) < share;
}

#endif
