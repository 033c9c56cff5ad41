// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The ports of a lab's switch: what may happen to packets on their way, and, in the fast lab, the switch itself.
//
// A packet is judged once on each of its two links: on that from its node as it comes in at a port, and on that to its
// node as it goes out at another. A packet that has been judged and comes by again (a duplicate, or one that the relay
// held) carries a mark. What finds neighbours is exempt from everything random, ARP and IPv6's messages for that: a
// lost answer would stop all traffic for a second. So is what manages groups of IPv6, which the kernel also sends by
// itself, so that it would change the numbers of the packets behind it.
#include <linux/bpf.h>
#include <linux/errno.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/pkt_cls.h>
#include <linux/udp.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "lab_port.h"

// Offsets are from the beginning of a frame without a tag. <linux/in.h> has macros of similar names.
enum { JUDGED = 0x6c616201, MAC_BYTES = 6, IP_VERSION = 14, IP_LENGTH = 16, IP_CARRIES = 23, TAG_BYTES = 4 };
enum { IPV6_LENGTH = 18, IPV6_CARRIES = 20, IPV6_HEADER = 40, IPV6_PAYLOAD = ETH_HLEN + IPV6_HEADER };
// IPv6's control messages. Those that manage groups stand behind options of this length.
enum { HOP_BY_HOP = 0, OPTIONS_BYTES = 8, CONTROL = 58 };
enum { QUERY = 130, DONE = 132, SOLICIT_ROUTER = 133, REDIRECT = 137, REPORT = 143 };

_Static_assert(LAB_PURPOSES <= 1 << LAB_PURPOSE_BITS, "each purpose of each link draws numbers of its own");

// How many ports there are.
const volatile __u32 lab_nodes = LAB_MOST_PORTS;

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, LAB_LINKS);
  __type(key, __u32);
  __type(value, struct lab_settings);
} lab_settings SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, LAB_LINKS);
  __type(key, __u32);
  __type(value, struct lab_counters);
} lab_counters SEC(".maps");

// From a MAC address to its port.
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 16 * LAB_MOST_PORTS);
  __type(key, __u64);
  __type(value, __u32);
} lab_addresses SEC(".maps");

// Whose events come to whoever opens the map and puts a buffer for each processor into it; the kernel takes them out
// when that process closes the map, or ends.
struct {
  __uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
  __uint(key_size, sizeof(__u32));
  __uint(value_size, sizeof(__u32));
} lab_events SEC(".maps");

struct lab_recording lab_recording;

enum verdict { PASS, DROP, TO_RELAY };

static __always_inline void count(__u64* counter) { __sync_fetch_and_add(counter, 1); }
static __always_inline void count_hit(__u64* counter, enum lab_hit hit, __u32* hits) {
  count(counter);
  *hits |= 1U << hit;
}

static __always_inline int is_recording(void) { return *(volatile __u32*)&lab_recording.is_on != 0; }

// Whether it is a packet of NIC engines, on whatever port, or a doorbell; what an event says of it, if so.
static __always_inline int read_event(struct __sk_buff* skb, __u32 link, struct lab_event* event) {
  struct {
    struct iphdr ip;
    struct udphdr udp;
  } headers;
  enum { BEFORE_WORDS = ETH_HLEN + sizeof headers };
  if (skb->protocol != bpf_htons(ETH_P_IP)) return 0;
  if (bpf_skb_load_bytes(skb, ETH_HLEN, &headers, sizeof headers) != 0) return 0;
  if (headers.ip.protocol != IPPROTO_UDP || headers.ip.version != 4 || headers.ip.ihl != 5) return 0;
  if (bpf_skb_load_bytes(skb, MAC_BYTES, event->source, sizeof event->source) != 0) return 0;
  if (bpf_skb_load_bytes(skb, BEFORE_WORDS, event->words, sizeof event->words) != 0) return 0;
  if ((__u32)event->words[0] != bpf_htonl(LAB_ENGINE_MAGIC)) return 0;
  event->time_ns = bpf_ktime_get_ns();
  event->hits = 0;
  event->link = (__u16)link;
  event->carried = (__u16)((skb->len - BEFORE_WORDS - sizeof event->words) / 8);
  event->is_again = 0;
  return 1;
}

static __always_inline void tell(struct __sk_buff* skb, struct lab_event* event) {
  const long error = bpf_perf_event_output(skb, &lab_events, BPF_F_CURRENT_CPU, event, sizeof *event);
  if (error == -ENOENT)
    *(volatile __u32*)&lab_recording.is_on = 0;
  else if (error != 0)
    count(&lab_recording.missed);
}

// Of a packet that nothing hits here.
static __always_inline void tell_of(struct __sk_buff* skb, __u32 link, __u32 is_again) {
  struct lab_event event;
  if (!is_recording() || !read_event(skb, link, &event)) return;
  event.is_again = (__u16)is_again;
  tell(skb, &event);
}

// One bit behind the header of IP, where a checksum covers it. `tag`: bytes of a tag that stands before that header.
static __always_inline void corrupt(struct __sk_buff* skb, __u32 tag, __u64 random, struct lab_counters* counters,
                                    __u32* hits) {
  __u8 version = 0;
  __u16 length = 0;
  __u8 byte = 0;
  if (bpf_skb_load_bytes(skb, tag + IP_VERSION, &version, 1) != 0) return;
  const int is_ipv6 = version >> 4 == 6;
  if (bpf_skb_load_bytes(skb, tag + (is_ipv6 ? IPV6_LENGTH : IP_LENGTH), &length, 2) != 0) return;
  const __u32 header = is_ipv6 ? IPV6_HEADER : (version & 15) * 4;
  const __u32 total = bpf_ntohs(length) + (is_ipv6 ? IPV6_HEADER : 0);
  if (total <= header) return;
  const __u32 place = tag + ETH_HLEN + header + (__u32)(random >> 8) % (total - header);
  if (bpf_skb_load_bytes(skb, place, &byte, 1) != 0) return;
  byte ^= 1 << (random & 7);
  if (bpf_skb_store_bytes(skb, place, &byte, 1, 0) == 0) count_hit(&counters->corrupted, LAB_HIT_Corrupt, hits);
}

// Group management is exempt: a switch that doesn't learn which nodes have joined sends them nothing, which is another
// impairment.
static __always_inline int is_multicast(struct __sk_buff* skb) {
  __u8 target = 0;
  __u8 protocol = 0;
  if (bpf_skb_load_bytes(skb, 0, &target, 1) != 0 || (target & 1) == 0) return 0;
  if (skb->protocol == bpf_htons(ETH_P_IPV6)) return 1;  // what manages groups doesn't come here
  return bpf_skb_load_bytes(skb, IP_CARRIES, &protocol, 1) == 0 && protocol != IPPROTO_IGMP;
}

// Of IPv6, whether it finds neighbours or manages groups.
static __always_inline int is_control(struct __sk_buff* skb) {
  __u8 protocol = 0;
  __u8 type = 0;
  __u32 place = IPV6_PAYLOAD;
  if (bpf_skb_load_bytes(skb, IPV6_CARRIES, &protocol, 1) != 0) return 0;
  if (protocol == HOP_BY_HOP) {
    if (bpf_skb_load_bytes(skb, IPV6_PAYLOAD, &protocol, 1) != 0) return 0;
    place += OPTIONS_BYTES;
  }
  if (protocol != CONTROL || bpf_skb_load_bytes(skb, place, &type, 1) != 0) return 0;
  return (type >= QUERY && type <= DONE) || (type >= SOLICIT_ROUTER && type <= REDIRECT) || type == REPORT;
}

static __always_inline int may_be_hit(struct __sk_buff* skb) {
  if (skb->protocol == bpf_htons(ETH_P_IP)) return 1;
  return skb->protocol == bpf_htons(ETH_P_IPV6) && !is_control(skb);
}

// In this order: what drops a packet; what changes it and its duplicate as well, while its headers are where they were
// (none does yet); the tags for the relay; the duplicate; what changes the first of the two only, TAG_BYTES further on
// where there are tags.
static __always_inline enum verdict judge_ip(struct __sk_buff* skb, __u32 link, __u64 same_link_flags,
                                             const struct lab_settings* settings, struct lab_counters* counters,
                                             __u32* hits) {
  const __u64 seed = settings->seed;
  const __u64 number = __sync_fetch_and_add(&counters->number, 1);
  if (lab_is_hit(settings->loss, seed, link, LAB_LOSS, number) &&
      (!settings->lose_multicast_only || is_multicast(skb))) {
    count_hit(&counters->lost, LAB_HIT_Loss, hits);
    return DROP;
  }
  const int is_held = lab_is_hit(settings->reorder, seed, link, LAB_HOLD, number);
  const int is_delayed = (settings->delay_ns | settings->jitter_ns) != 0;
  const int to_relay = is_held || is_delayed;
  if (to_relay && (bpf_skb_vlan_push(skb, bpf_htons(ETH_P_8021Q), lab_relay_tag(link, is_held)) != 0 ||
                   bpf_skb_vlan_push(skb, bpf_htons(ETH_P_8021Q), lab_time_tag(bpf_ktime_get_ns())) != 0))
    return DROP;
  if (is_held) count_hit(&counters->reordered, LAB_HIT_Reorder, hits);
  if (is_delayed) count_hit(&counters->delayed, LAB_HIT_Delay, hits);
  if (lab_is_hit(settings->duplicate, seed, link, LAB_DUPLICATE, number)) {
    const __u32 target = to_relay ? LAB_RELAY_INDEX : skb->ifindex;
    skb->mark = JUDGED;
    if (bpf_clone_redirect(skb, target, to_relay ? 0 : same_link_flags) == 0)
      count_hit(&counters->duplicated, LAB_HIT_Duplicate, hits);
    skb->mark = 0;
  }
  if (lab_is_hit(settings->corrupt, seed, link, LAB_CORRUPT, number))
    corrupt(skb, to_relay ? TAG_BYTES : 0, lab_random(seed, link, LAB_CORRUPT_WHERE, number), counters, hits);
  return to_relay ? TO_RELAY : PASS;
}

// `same_link_flags`: those of a redirection by which a copy comes by the same place again.
static __always_inline enum verdict judge(struct __sk_buff* skb, __u32 link, __u64 same_link_flags,
                                          const struct lab_settings* settings, struct lab_counters* counters,
                                          __u32* hits) {
  if (!settings->is_active) return PASS;
  if (settings->is_cut) {
    count_hit(&counters->cut, LAB_HIT_Cut, hits);
    return DROP;
  }
  if (!may_be_hit(skb)) return PASS;
  return judge_ip(skb, link, same_link_flags, settings, counters, hits);
}

// Judges it if it hasn't been, and tells who records what came of it.
static __always_inline enum verdict pass_link(struct __sk_buff* skb, __u32 link, __u64 same_link_flags) {
  struct lab_settings* settings = bpf_map_lookup_elem(&lab_settings, &link);
  struct lab_counters* counters = bpf_map_lookup_elem(&lab_counters, &link);
  if (settings == 0 || counters == 0) return DROP;
  if (skb->mark == JUDGED) {
    skb->mark = 0;
    if (link % 2 == LAB_TO_NODE) tell_of(skb, link, 1);
    return PASS;
  }
  count(&counters->packets);
  __sync_fetch_and_add(&counters->bytes, skb->len);
  struct lab_event event;
  // Before it is changed.
  const int is_told = is_recording() && read_event(skb, link, &event);
  __u32 hits = 0;
  const enum verdict verdict = judge(skb, link, same_link_flags, settings, counters, &hits);
  if (is_told) {
    event.hits = hits;
    tell(skb, &event);
  }
  return verdict;
}

static __always_inline int act_on(enum verdict verdict) {
  if (verdict == DROP) return TC_ACT_SHOT;
  if (verdict == TO_RELAY) return (int)bpf_redirect(LAB_RELAY_INDEX, 0);
  return TC_ACT_UNSPEC;
}

static __always_inline __u32 port_of(const struct __sk_buff* skb) { return skb->ifindex - LAB_FIRST_PORT; }

SEC("tc")
int lab_from_node(struct __sk_buff* skb) {
  return act_on(pass_link(skb, lab_link(port_of(skb), LAB_FROM_NODE), BPF_F_INGRESS));
}

SEC("tc")
int lab_to_node(struct __sk_buff* skb) { return act_on(pass_link(skb, lab_link(port_of(skb), LAB_TO_NODE), 0)); }

// A packet that the relay gives back continues where the relay took it.
SEC("tc")
int lab_from_relay(struct __sk_buff* skb) {
  if (!skb->vlan_present) return TC_ACT_SHOT;
  const __u32 link = lab_tag_link(skb->vlan_tci & 0xfff);
  if (link >= LAB_LINKS || bpf_skb_vlan_pop(skb) != 0) return TC_ACT_SHOT;
  skb->mark = JUDGED;
  return (int)bpf_redirect(LAB_FIRST_PORT + link / 2, link % 2 == LAB_FROM_NODE ? BPF_F_INGRESS : 0);
}

static __always_inline __u64 key_of(const __u8* address) {
  __u64 key = 0;
  for (int i = 0; i < MAC_BYTES; ++i) key = key << 8 | address[i];
  return key;
}

static __always_inline int flood(struct __sk_buff* skb, __u32 port) {
  for (__u32 other = 0; other < LAB_MOST_PORTS; ++other) {
    if (other >= lab_nodes) break;
    if (other != port) bpf_clone_redirect(skb, LAB_FIRST_PORT + other, 0);
  }
  return TC_ACT_STOLEN;
}

// In the fast lab: the switch, where packets come in. Where nothing is set for the link to the target, the packet goes
// straight into the target's namespace; else by the port, where lab_to_node judges it.
SEC("tc")
int lab_switch(struct __sk_buff* skb) {
  const __u32 port = port_of(skb);
  const int action = act_on(pass_link(skb, lab_link(port, LAB_FROM_NODE), BPF_F_INGRESS));
  if (action != TC_ACT_UNSPEC) return action;
  __u8 addresses[2 * MAC_BYTES];
  if (bpf_skb_load_bytes(skb, 0, addresses, sizeof addresses) != 0) return TC_ACT_SHOT;
  const __u64 source = key_of(addresses + MAC_BYTES);
  const __u32* known = bpf_map_lookup_elem(&lab_addresses, &source);
  if (known == 0 || *known != port) bpf_map_update_elem(&lab_addresses, &source, &port, BPF_ANY);
  if (addresses[0] & 1) return flood(skb, port);
  const __u64 wanted = key_of(addresses);
  const __u32* target = bpf_map_lookup_elem(&lab_addresses, &wanted);
  if (target == 0) return flood(skb, port);
  if (*target == port) return TC_ACT_SHOT;
  const __u32 link = lab_link(*target, LAB_TO_NODE);
  const struct lab_settings* settings = bpf_map_lookup_elem(&lab_settings, &link);
  struct lab_counters* counters = bpf_map_lookup_elem(&lab_counters, &link);
  if (settings == 0 || counters == 0) return TC_ACT_SHOT;
  if (settings->is_active) return (int)bpf_redirect(LAB_FIRST_PORT + *target, 0);
  count(&counters->packets);
  __sync_fetch_and_add(&counters->bytes, skb->len);
  tell_of(skb, link, 0);
  return (int)bpf_redirect_peer(LAB_FIRST_PORT + *target, 0);
}

// In nodes, in front of the NIC engine's program, which keeps doorbells.
SEC("tc")
int lab_doorbell(struct __sk_buff* skb) {
  struct lab_event event;
  if (!is_recording() || !read_event(skb, LAB_DOORBELL, &event)) return TC_ACT_UNSPEC;
  if ((bpf_be64_to_cpu(event.words[0]) >> 24 & 15) == LAB_ENGINE_DOORBELL) tell(skb, &event);
  return TC_ACT_UNSPEC;
}

char lab_licence[] SEC("license") = "Dual BSD/GPL";
