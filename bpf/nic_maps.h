/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The maps of the NIC engine's programs. Groups have numbers: slots.
 *
 * Thread safety: any number of processors at the same time, each with a scratch of its own. */
#ifndef HOCKET_BPF_NIC_MAPS_H
#define HOCKET_BPF_NIC_MAPS_H

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/udp.h>

#include <bpf/bpf_helpers.h>

#include "bpf/nic.h"

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, NIC_MOST_GROUPS);
  __type(key, __u32);
  __type(value, struct nic_slot);
} nic_slots SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, NIC_MOST_GROUPS);
  __type(key, __u32);
  __type(value, struct nic_state);
} nic_states SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, NIC_MEMBER_POOL);
  __type(key, __u32);
  __type(value, struct nic_member);
} nic_members SEC(".maps");

// Their operands: as many as there are places for, one group's behind another's.
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, NIC_OPERAND_POOL);
  __type(key, __u32);
  __type(value, struct nic_operand);
} nic_operands SEC(".maps");

static __always_inline struct nic_operand* nic_operand_at(__u64 place) {
  const __u32 number = (__u32)place;
  return bpf_map_lookup_elem(&nic_operands, &number);
}

struct nic_frame {
  struct ethhdr ethernet;
  struct iphdr ip;
  struct udphdr udp;
  __u64 words[NIC_WORDS + 1];
} __attribute__((packed));

// Working memory of a program that does not fit on its stack. No program interrupts another on its processor.
struct nic_scratch {
  struct nic_operand in;   // of the packet or the ring
  struct nic_operand out;  // of what goes out
  struct nic_frame frame;
};

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct nic_scratch);
} nic_scratches SEC(".maps");

// From a group's id to its slot.
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, NIC_MOST_GROUPS);
  __type(key, __u64);
  __type(value, __u32);
} nic_ids SEC(".maps");

// Which socket may ring for which slot: a socket that is not listed here may not. The value has no meaning.
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, NIC_MOST_GROUPS);
  __type(key, struct nic_doorbell);
  __type(value, __u32);
} nic_doorbells SEC(".maps");

// By sizes, since clang describes no type that only an inner map names.
struct nic_page_map {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, 1);
  __uint(key_size, sizeof(__u32));
  __uint(value_size, sizeof(struct nic_page));
};

// One for each slot, since a job gets the whole map.
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
  __uint(max_entries, NIC_MOST_GROUPS);
  __type(key, __u32);
  __array(values, struct nic_page_map);
} nic_pages SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, NIC_COUNTERS);
  __type(key, __u32);
  __type(value, __u64);
} nic_counters SEC(".maps");

// The service that looks after the engine sleeps while nothing is under way: it sets the flag, and the next doorbell
// wakes it.
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, __u64);
} nic_sleeps SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, 4096);
} nic_news SEC(".maps");

#endif
