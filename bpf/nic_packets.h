/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How the NIC engine's programs read packets, and write them.
 *
 * Packets are never written to by pointer: a program that does so makes the kernel unshare every packet that passes,
 * other people's as well.
 *
 * Thread safety: any number of processors at the same time, each with its own packet and scratch. */
#ifndef HOCKET_BPF_NIC_PACKETS_H
#define HOCKET_BPF_NIC_PACKETS_H

#include <linux/bpf.h>
#include <linux/in.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "bpf/nic_maps.h"

const volatile __u16 nic_port = NIC_DEFAULT_PORT;

static __always_inline void count_many(__u32 counter, __u64 many) {
  __u64* value = bpf_map_lookup_elem(&nic_counters, &counter);
  if (value != 0) *value += many;
}
static __always_inline void count(__u32 counter) { count_many(counter, 1); }

static __always_inline struct nic_scratch* scratch(void) {
  const __u32 zero = 0;
  return bpf_map_lookup_elem(&nic_scratches, &zero);
}

// Whether the packet is one of this protocol's, by its ports and lengths; its words, if so, and how many it carries. Of
// rings, which never leave the machine, the length in UDP's header is that of a packet that carries nothing.
static __always_inline int read_packet(struct __sk_buff* skb, __u64* words, __u32* carried, int is_leaving) {
  if (skb->protocol != bpf_htons(ETH_P_IP)) return 0;
  struct {
    struct iphdr ip;
    struct udphdr udp;
  } headers;
  if (bpf_skb_load_bytes(skb, NIC_ETHERNET_BYTES, &headers, sizeof headers) != 0) return 0;
  if (headers.ip.protocol != IPPROTO_UDP || headers.udp.dest != bpf_htons(nic_port)) return 0;
  if (headers.ip.version != 4 || headers.ip.ihl != 5 || (headers.ip.frag_off & bpf_htons(0x3fff)) != 0) return 0;
  const __u32 bytes = skb->len - NIC_FRAME_BYTES;
  *carried = bytes / 8;
  const __u16 length = bpf_htons((__u16)(NIC_UDP_BYTES + NIC_HEADER_BYTES + bytes));
  const __u16 shortest = bpf_htons(NIC_UDP_BYTES + NIC_HEADER_BYTES);
  if (skb->len < NIC_FRAME_BYTES || bytes % 8 != 0 || *carried > NIC_MOST_WORDS ||
      (headers.udp.len != length && !(is_leaving && headers.udp.len == shortest)) ||
      bpf_skb_load_bytes(skb, NIC_BEFORE_HEADER, words, NIC_HEADER_BYTES) != 0) {
    count(NIC_BAD_LENGTH);
    return 0;
  }
  return 1;
}

// What the packet carries, into this processor's `in`.
static __always_inline int read_operand(struct __sk_buff* skb, __u32 carried) {
  struct nic_scratch* own = scratch();
  if (own == 0) return 0;
  __u32 bytes = 8 * carried;
  if (bytes == 0) return 1;
  // The verifier must see the register that is compared.
  __asm__ volatile("" : "+r"(bytes));
  if (bytes == 0 || bytes > sizeof own->in) return 0;
  return bpf_skb_load_bytes(skb, NIC_FRAME_BYTES, &own->in, bytes) == 0;
}

// The checksum of a header whose packet grows by this length (RFC 1624).
static __always_inline __u16 ip_check(__u16 of_nothing, __u16 total) {
  __u32 sum = (__u16)~of_nothing + (__u16)~bpf_htons(NIC_FRAME_BYTES - NIC_ETHERNET_BYTES) + bpf_htons(total);
  sum = (sum & 0xffff) + (sum >> 16);
  sum = (sum & 0xffff) + (sum >> 16);
  return (__u16)~sum;
}

// A packet between this engine and `member`: from here, or as if from there. Carries this processor's `out`.
NIC_FUNCTION int nic_make_frame(const struct nic_slot* slot, const struct nic_member* member,
                                const struct nic_message* m, int inward, struct nic_scratch* own) {
  if (slot == 0 || member == 0 || m == 0 || own == 0) return 0;
  struct nic_frame* frame = &own->frame;
  const __u16 bytes = NIC_FRAME_BYTES - NIC_ETHERNET_BYTES + 8 * m->carried;
  __builtin_memset(frame, 0, sizeof *frame);
  __builtin_memcpy(frame->ethernet.h_dest, inward ? slot->mac : member->mac, sizeof slot->mac);
  __builtin_memcpy(frame->ethernet.h_source, inward ? member->mac : slot->mac, sizeof slot->mac);
  frame->ethernet.h_proto = bpf_htons(ETH_P_IP);
  frame->ip.version = 4;
  frame->ip.ihl = 5;
  frame->ip.tot_len = bpf_htons(bytes);
  frame->ip.frag_off = bpf_htons(0x4000);
  frame->ip.ttl = NIC_TTL;
  frame->ip.protocol = IPPROTO_UDP;
  frame->ip.check = ip_check(member->ip_check, bytes);
  frame->ip.saddr = inward ? member->ip : slot->ip;
  frame->ip.daddr = inward ? slot->ip : member->ip;
  frame->udp.source = inward ? member->port : slot->port;
  frame->udp.dest = inward ? slot->wakeup_port : member->port;
  frame->udp.len = bpf_htons(bytes - NIC_IP_BYTES);
  __u64 words[NIC_WORDS + 1];
  nic_write(m, nic_tag(&slot->group.key, m, &own->out), words);
  __builtin_memcpy(frame->words, words, sizeof words);
  return 1;
}

static __always_inline int write_packet(struct __sk_buff* skb, const struct nic_slot* slot,
                                        const struct nic_member* member, const struct nic_message* m, int inward) {
  struct nic_scratch* own = scratch();
  if (own == 0 || !nic_make_frame(slot, member, m, inward, own)) return 0;
  __u32 bytes = 8 * m->carried;
  if (skb->len != NIC_FRAME_BYTES + bytes && bpf_skb_change_tail(skb, NIC_FRAME_BYTES + bytes, 0) != 0) return 0;
  if (bpf_skb_store_bytes(skb, 0, &own->frame, sizeof own->frame, 0) != 0) return 0;
  if (bytes == 0) return 1;
  __asm__ volatile("" : "+r"(bytes));
  if (bytes == 0 || bytes > sizeof own->out) return 0;
  return bpf_skb_store_bytes(skb, NIC_FRAME_BYTES, &own->out, bytes, 0) == 0;
}

#endif
