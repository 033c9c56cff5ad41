// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The NIC engine in the kernel's data path: what protocol/ says should happen, done with packets of one interface.
//
// Packets are never written to by pointer: a program that does so makes the kernel unshare every packet that passes,
// other people's as well.
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/pkt_cls.h>
#include <linux/udp.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "bpf/nic.h"

const volatile __u16 nic_port = NIC_DEFAULT_PORT;

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

// From a group's id, and from the cookie of a socket that rings, to the group's slot.
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, NIC_MOST_GROUPS);
  __type(key, __u64);
  __type(value, __u32);
} nic_ids SEC(".maps"), nic_bells SEC(".maps");

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

// Whoever looks after the engine sleeps while nothing is under way: it sets the flag, and the next bell wakes it.
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

struct frame {
  struct ethhdr ethernet;
  struct iphdr ip;
  struct udphdr udp;
  __u64 words[NIC_WORDS + 1];
} __attribute__((packed));

// A packet or a doorbell, and what is to be done about it.
struct event {
  struct nic_slot* slot;
  struct nic_state* state;
  __u32 index;
  struct nic_message message;
};

static __always_inline void count_many(__u32 counter, __u64 many) {
  __u64* value = bpf_map_lookup_elem(&nic_counters, &counter);
  if (value != 0) *value += many;
}
static __always_inline void count(__u32 counter) { count_many(counter, 1); }

// Whether the packet is one of this protocol's, by its ports and lengths; its words, if so.
static __always_inline int read_packet(struct __sk_buff* skb, __u64* words) {
  if (skb->protocol != bpf_htons(ETH_P_IP)) return 0;
  struct {
    struct iphdr ip;
    struct udphdr udp;
  } headers;
  if (bpf_skb_load_bytes(skb, NIC_ETHERNET_BYTES, &headers, sizeof headers) != 0) return 0;
  if (headers.ip.protocol != IPPROTO_UDP || headers.udp.dest != bpf_htons(nic_port)) return 0;
  if (headers.ip.version != 4 || headers.ip.ihl != 5 || (headers.ip.frag_off & bpf_htons(0x3fff)) != 0) return 0;
  if (skb->len != NIC_FRAME_BYTES || headers.udp.len != bpf_htons(NIC_UDP_BYTES + NIC_HEADER_BYTES) ||
      bpf_skb_load_bytes(skb, NIC_BEFORE_HEADER, words, NIC_HEADER_BYTES) != 0) {
    count(NIC_BAD_LENGTH);
    return 0;
  }
  return 1;
}

static __always_inline int find_slot(struct event* event, __u32 index) {
  event->index = index;
  event->slot = bpf_map_lookup_elem(&nic_slots, &index);
  event->state = bpf_map_lookup_elem(&nic_states, &index);
  return event->slot != 0 && event->state != 0;
}

static __always_inline struct nic_member* member_of(const struct nic_slot* slot, __u32 member) {
  const __u32 index = slot->first_member + member;
  return bpf_map_lookup_elem(&nic_members, &index);
}

// What the verifier shall look at once.
#define NIC_STEP __attribute__((noinline))

NIC_STEP int nic_take_packet(const struct nic_group* group, struct nic_state* state, const struct nic_message* m,
                             struct nic_outcome* outcome) {
  if (group == 0 || state == 0 || m == 0 || outcome == 0) return 0;
  *outcome = nic_take(group, state, m);
  return 1;
}

// Makes the packet one between this engine and `member`: from here, or as if from there.
NIC_STEP int nic_write_packet(struct __sk_buff* skb, const struct nic_slot* slot, const struct nic_member* member,
                              const struct nic_message* m, int inward) {
  if (slot == 0 || member == 0 || m == 0) return 0;
  struct frame frame = {};
  __builtin_memcpy(frame.ethernet.h_dest, inward ? slot->mac : member->mac, sizeof slot->mac);
  __builtin_memcpy(frame.ethernet.h_source, inward ? member->mac : slot->mac, sizeof slot->mac);
  frame.ethernet.h_proto = bpf_htons(ETH_P_IP);
  frame.ip.version = 4;
  frame.ip.ihl = 5;
  frame.ip.tot_len = bpf_htons(NIC_FRAME_BYTES - NIC_ETHERNET_BYTES);
  frame.ip.frag_off = bpf_htons(0x4000);
  frame.ip.ttl = NIC_TTL;
  frame.ip.protocol = IPPROTO_UDP;
  frame.ip.check = member->ip_check;
  frame.ip.saddr = inward ? member->ip : slot->ip;
  frame.ip.daddr = inward ? slot->ip : member->ip;
  frame.udp.source = inward ? member->port : slot->port;
  frame.udp.dest = inward ? slot->ear_port : member->port;
  frame.udp.len = bpf_htons(NIC_UDP_BYTES + NIC_HEADER_BYTES);
  __u64 words[NIC_WORDS + 1];
  nic_write(m, nic_tag(&slot->group.key, m), words);
  __builtin_memcpy(frame.words, words, sizeof words);
  return bpf_skb_store_bytes(skb, 0, &frame, sizeof frame, 0) == 0;
}

// Sends a message by a copy of the packet, which is then another.
static __always_inline void send_copy(struct __sk_buff* skb, const struct event* event, const struct nic_message* m) {
  const struct nic_member* member = member_of(event->slot, m->target);
  if (member == 0) return;
  if (!nic_write_packet(skb, event->slot, member, m, 0) || bpf_clone_redirect(skb, event->slot->interface, 0) != 0) {
    count(NIC_NO_ROOM);
  }
}

// What the outcome wants sent. Where `keeps` is 0, the last message is written into the packet itself; returns whether
// one was.
static __always_inline int send_all(struct __sk_buff* skb, const struct event* event, const struct nic_outcome* outcome,
                                    int keeps) {
  const struct nic_group* group = &event->slot->group;
  const __u32 end = outcome->end_send;
  const __u32 copies = keeps || outcome->reply != 0 ? end : end - 1;
  const __u32 first = outcome->first_send;
  if (first == end && outcome->reply == 0) return 0;
  skb->mark = NIC_MARK;
  for (__u32 i = 0; i < NIC_MOST_SENDS; ++i) {
    if (first + i >= copies) break;
    struct nic_message m;
    if (nic_sent(group, event->message.program, event->message.epoch, first + i, &m)) send_copy(skb, event, &m);
  }
  if (end > first) count_many(outcome->repeats ? NIC_RESENT : NIC_SENT, end - first);
  struct nic_message last;
  if (outcome->reply != 0) {
    count(NIC_REPLIED);
    last = nic_replied(group, event->state, outcome->reply, &event->message);
  } else {
    if (!nic_sent(group, event->message.program, event->message.epoch, end - 1, &last)) return 0;
  }
  if (keeps) {
    if (outcome->reply != 0) send_copy(skb, event, &last);
    return 0;
  }
  const struct nic_member* member = member_of(event->slot, last.target);
  return member != 0 && nic_write_packet(skb, event->slot, member, &last, 0);
}

static __always_inline struct nic_page* page_of(__u32 index) {
  const __u32 zero = 0;
  void* map = bpf_map_lookup_elem(&nic_pages, &index);
  return map == 0 ? 0 : bpf_map_lookup_elem(map, &zero);
}

// Tells the host. Returns whether it wants to be woken.
static __always_inline int publish(const struct event* event, const struct nic_outcome* outcome) {
  const int has_ended = event->message.kind == NIC_ABORT || outcome->verdict == NIC_DISAGREEMENT;
  if (outcome->completed == 0 && !has_ended) return 0;
  struct nic_page* page = page_of(event->index);
  if (page == 0) return 0;
  // Several processors add up, whatever their order; what the page holds is never asked for.
  if (outcome->completed != 0) {
    __sync_fetch_and_add(&page->done, outcome->completed);
    count_many(NIC_OPERATIONS, outcome->completed);
  }
  if (has_ended) page->broken = nic_load(&event->state->broken);
  // Full barrier before: pairs with the sleeper's, between its announcement and its last look.
  return __sync_fetch_and_add(&page->sleeps, 0) != 0;
}

// Where packets come in.
SEC("tc")
int nic_arriving(struct __sk_buff* skb) {
  __u64 words[NIC_WORDS + 1];
  struct event event = {};
  if (!read_packet(skb, words)) return TC_ACT_UNSPEC;
  const __u64 tag = nic_read(words, &event.message);
  if (event.message.kind == 0) return TC_ACT_UNSPEC;
  const __u32* index = bpf_map_lookup_elem(&nic_ids, &event.message.group);
  if (index == 0) {
    count(NIC_NO_GROUP);
    return TC_ACT_UNSPEC;
  }
  if (!find_slot(&event, *index)) return TC_ACT_SHOT;
  if (nic_tag(&event.slot->group.key, &event.message) != tag) {
    count(NIC_BAD_TAG);
    return TC_ACT_SHOT;
  }
  if (event.message.kind != NIC_MESSAGE && event.message.source < event.slot->group.size) {
    struct nic_member* member = member_of(event.slot, event.message.source);
    if (member != 0) __sync_fetch_and_add(&member->heard, 1);
  }
  struct nic_outcome outcome = {};
  (void)nic_take_packet(&event.slot->group, event.state, &event.message, &outcome);
  count(outcome.verdict);
  const int wakes = publish(&event, &outcome) && event.slot->ear_port != 0;
  const int sends = send_all(skb, &event, &outcome, wakes);
  if (wakes) {
    const struct nic_member* member = member_of(event.slot, event.message.source);
    if (member == 0 || !nic_write_packet(skb, event.slot, member, &event.message, 1)) return TC_ACT_SHOT;
    count(NIC_WOKEN);
    skb->mark = 0;
    return TC_ACT_OK;
  }
  return sends ? (int)bpf_redirect(event.slot->interface, 0) : TC_ACT_SHOT;
}

static __always_inline void wake_keeper(void) {
  const __u32 zero = 0;
  __u64* sleeps = bpf_map_lookup_elem(&nic_sleeps, &zero);
  if (sleeps == 0 || nic_load(sleeps) == 0 || nic_compare_exchange(sleeps, 1, 0) != 1) return;
  (void)bpf_ringbuf_output(&nic_news, (void*)&zero, sizeof zero, BPF_RB_FORCE_WAKEUP);
}

// Where packets go out: doorbells are packets of a socket that is known.
SEC("tc")
int nic_leaving(struct __sk_buff* skb) {
  if (skb->mark == NIC_MARK) return TC_ACT_UNSPEC;
  __u64 words[NIC_WORDS + 1];
  struct event event = {};
  if (!read_packet(skb, words)) return TC_ACT_UNSPEC;
  const __u64 cookie = bpf_get_socket_cookie(skb);
  const __u32* index = bpf_map_lookup_elem(&nic_bells, &cookie);
  if (index == 0) return TC_ACT_UNSPEC;
  if (!find_slot(&event, *index)) return TC_ACT_SHOT;
  (void)nic_read(words, &event.message);
  if (event.message.kind != NIC_BELL) {
    count(NIC_UNKNOWN_KIND);
    return TC_ACT_SHOT;
  }
  const struct nic_outcome outcome =
      nic_start(&event.slot->group, event.state, event.message.program, event.message.epoch);
  count(outcome.verdict == NIC_TAKEN ? NIC_BELLS : outcome.verdict);
  (void)publish(&event, &outcome);
  if (outcome.verdict == NIC_TAKEN && outcome.completed == 0) wake_keeper();
  // What has been written into the packet goes on its way; a packet that is dropped here costs the sender an ENOBUFS.
  return send_all(skb, &event, &outcome, 0) ? TC_ACT_UNSPEC : TC_ACT_SHOT;
}

char nic_licence[] SEC("license") = "Dual BSD/GPL";
