// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The NIC engine in the kernel's data path: what protocol/ says should happen, done with packets of one interface.
#include <linux/bpf.h>
#include <linux/pkt_cls.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "bpf/nic_packets.h"

enum { NIC_PACKET_HOST = 0 };  // PACKET_HOST of linux/if_packet.h

// A packet or a doorbell, and what is to be done about it.
struct event {
  struct nic_slot* slot;
  struct nic_state* state;
  __u32 index;
  struct nic_message message;
};

static __always_inline int find_slot(struct event* event, __u32 index) {
  event->index = index;
  event->slot = bpf_map_lookup_elem(&nic_slots, &index);
  event->state = bpf_map_lookup_elem(&nic_states, &index);
  return event->slot != 0 && event->state != 0;
}

// Nothing goes to entries beyond the group's own, the last of which stands for all members: those belong to other
// groups. Nor does anything go to a member that the group's programs don't speak with.
static __always_inline struct nic_member* member_of(const struct nic_slot* slot, __u32 member) {
  if (member >= slot->group.size && member != NIC_ALL) return 0;
  const __u32 index = slot->first_member + (member == NIC_ALL ? slot->group.size : member);
  struct nic_member* found = bpf_map_lookup_elem(&nic_members, &index);
  return found != 0 && found->is_peer ? found : 0;
}

// Both find what the packet carries in this processor's `in`.
NIC_FUNCTION int nic_take_packet(const struct nic_slot* slot, struct nic_state* state, const struct nic_message* m,
                                 struct nic_outcome* outcome) {
  struct nic_scratch* own = scratch();
  if (slot == 0 || state == 0 || m == 0 || outcome == 0 || own == 0) return 0;
  *outcome = nic_take(&slot->group, state, slot->first_operand, m, &own->in);
  return 1;
}
NIC_FUNCTION int nic_take_doorbell(const struct nic_slot* slot, struct nic_state* state, const struct nic_message* m,
                                   struct nic_outcome* outcome) {
  struct nic_scratch* own = scratch();
  if (slot == 0 || state == 0 || m == 0 || outcome == 0 || own == 0) return 0;
  *outcome = nic_start(&slot->group, state, slot->first_operand, m, &own->in);
  return 1;
}

// What a message carries, into this processor's `out`, unless that is there already: what `holds` says of it.
static __always_inline int carry(const struct event* event, const struct nic_message* m, __u64 call, __u32* holds) {
  if (m->carried == 0) return 1;
  const struct nic_group* group = &event->slot->group;
  const struct nic_send* send = nic_send_at(nic_program_at(group, m->program), m->send);
  const __u32 wanted = 1U << 24 | send->slice << 16 | send->content.end << 8 | send->content.first;
  if (*holds == wanted) return 1;
  struct nic_scratch* own = scratch();
  *holds = wanted;
  return own != 0 && nic_carry(group, event->state, event->slot->first_operand, m, call, &own->out);
}

// Sends a message by a copy of the packet, which is then another.
static __always_inline void send_copy(struct __sk_buff* skb, const struct event* event, const struct nic_message* m) {
  const struct nic_member* member = member_of(event->slot, m->target);
  if (member == 0) return;
  if (!write_packet(skb, event->slot, member, m, 0) || bpf_clone_redirect(skb, event->slot->interface, 0) != 0) {
    count(NIC_NO_ROOM);
  }
}

// The last of what the outcome wants sent.
static __always_inline int last_message(const struct event* event, const struct nic_outcome* outcome,
                                        struct nic_message* m) {
  const struct nic_group* group = &event->slot->group;
  if (outcome->reply == 0) return nic_following(group, &event->message, outcome, outcome->end_send - 1, m);
  *m = nic_replied(group, event->state, outcome->reply, &event->message);
  return 1;
}

static __always_inline void count_sends(const struct nic_outcome* outcome) {
  if (outcome->end_send > outcome->first_send)
    count_many(outcome->repeats ? NIC_RESENT : NIC_SENT, outcome->end_send - outcome->first_send);
  if (outcome->reply != 0) count(NIC_REPLIED);
}

// What the outcome wants sent. Where `keeps` is 0, the last message is written into the packet itself; returns whether
// one was.
static __always_inline int send_all(struct __sk_buff* skb, const struct event* event, const struct nic_outcome* outcome,
                                    int keeps) {
  const struct nic_group* group = &event->slot->group;
  const __u32 end = outcome->end_send;
  const __u32 copies = keeps || outcome->reply != 0 ? end : end - 1;
  const __u32 first = outcome->first_send;
  __u32 holds = 0;
  if (first == end && outcome->reply == 0) return 0;
  skb->mark = NIC_MARK;
  for (__u32 i = 0; i < NIC_MOST_SENDS; ++i) {
    if (first + i >= copies) break;
    struct nic_message m;
    if (nic_following(group, &event->message, outcome, first + i, &m) && carry(event, &m, outcome->call, &holds))
      send_copy(skb, event, &m);
  }
  count_sends(outcome);
  struct nic_message last;
  if (!last_message(event, outcome, &last)) return 0;
  if (keeps) {
    if (outcome->reply != 0) send_copy(skb, event, &last);
    return 0;
  }
  const struct nic_member* member = member_of(event->slot, last.target);
  return member != 0 && carry(event, &last, outcome->call, &holds) && write_packet(skb, event->slot, member, &last, 0);
}

static __always_inline struct nic_page* page_of(__u32 index) {
  const __u32 zero = 0;
  void* map = bpf_map_lookup_elem(&nic_pages, &index);
  return map == 0 ? 0 : bpf_map_lookup_elem(map, &zero);
}

// Gives the host the result of an operation. The result is not computed in the page, because the job may write there.
NIC_FUNCTION int nic_show(const struct nic_slot* slot, const struct nic_state* state, const struct nic_message* m,
                          __u64 call, struct nic_page* page) {
  struct nic_scratch* own = scratch();
  if (slot == 0 || state == 0 || m == 0 || page == 0 || own == 0) return 0;
  if (!nic_result(&slot->group, state, slot->first_operand, m->program, m->epoch, call, &own->out)) return 0;
  struct nic_operand* result = &page->result[m->epoch % NIC_IN_FLIGHT];
  for (__u32 i = 0; i < NIC_MOST_WORDS; ++i) {
    if (i >= nic_call_words(call)) break;
    result->word[i] = own->out.word[i];
  }
  return 1;
}

// Tells the host. Returns whether it wants to be woken.
static __always_inline int publish(const struct event* event, struct nic_outcome* outcome) {
  const int may_end =
      outcome->verdict == NIC_DISAGREEMENT || (event->message.kind == NIC_ABORT && outcome->verdict == NIC_TAKEN);
  const __u64 broken = may_end ? nic_load(&event->state->broken) : 0;
  if (outcome->completed == 0 && broken == 0 && !outcome->publishes) return 0;
  struct nic_page* page = page_of(event->index);
  if (page == 0) return 0;
  if (outcome->publishes && nic_show(event->slot, event->state, &event->message, outcome->call, page))
    outcome->completed +=
        (__u8)nic_published(&event->slot->group, event->state, event->message.program, event->message.epoch);
  // Several processors may add in any order; the engine never reads what the page holds.
  if (outcome->completed != 0) {
    __sync_fetch_and_add(&page->done, outcome->completed);
    count_many(NIC_OPERATIONS, outcome->completed);
  }
  if (broken != 0) page->broken = broken;
  if (outcome->completed == 0 && broken == 0) return 0;
  // Full barrier before: pairs with the sleeper's, between its announcement and its last look.
  return __sync_fetch_and_add(&page->sleeps, 0) != 0;
}

// What becomes of a packet whose event is known.
static __always_inline int act(struct __sk_buff* skb, const struct event* event, const struct nic_outcome* outcome,
                               int wakes) {
  const int sends = send_all(skb, event, outcome, wakes);
  if (wakes) {
    const struct nic_member* member = member_of(event->slot, event->message.source);
    struct nic_message news = event->message;
    news.carried = 0;
    if (member == 0 || !write_packet(skb, event->slot, member, &news, 1)) return TC_ACT_SHOT;
    count(NIC_WOKEN);
    skb->mark = 0;
    // It may have come for all of the group's.
    (void)bpf_skb_change_type(skb, NIC_PACKET_HOST);
    return TC_ACT_OK;
  }
  return sends ? (int)bpf_redirect(event->slot->interface, 0) : TC_ACT_SHOT;
}

// Finds the group of a packet's words, and sees to it that the packet is one of its members'.
enum found { NIC_FOREIGN, NIC_FORGED, NIC_FOUND };
static __always_inline enum found find_group(const __u64* words, __u32 carried, struct event* event) {
  const __u64 tag = nic_read(words, carried, &event->message);
  if (event->message.kind == 0) return NIC_FOREIGN;
  const __u32* index = bpf_map_lookup_elem(&nic_ids, &event->message.group);
  if (index == 0) return NIC_FOREIGN;
  struct nic_scratch* own = scratch();
  if (own == 0 || !find_slot(event, *index)) return NIC_FORGED;
  return nic_tag(&event->slot->group.key, &event->message, &own->in) == tag ? NIC_FOUND : NIC_FORGED;
}

static __always_inline void wake_keeper(void) {
  const __u32 zero = 0;
  __u64* sleeps = bpf_map_lookup_elem(&nic_sleeps, &zero);
  if (sleeps == 0 || nic_load(sleeps) == 0 || nic_compare_exchange(sleeps, 1, 0) != 1) return;
  (void)bpf_ringbuf_output(&nic_news, (void*)&zero, sizeof zero, BPF_RB_FORCE_WAKEUP);
}

// Whether something goes out that the keeper has to repeat until it is acknowledged.
static __always_inline int owes(const struct event* event, const struct nic_outcome* outcome) {
  if (outcome->repeats || outcome->end_send <= outcome->first_send) return 0;
  const struct nic_program* program = nic_program_at(&event->slot->group, event->message.program);
  return outcome->owed != 0 || (program->flags & NIC_ACKNOWLEDGED) != 0;
}

// Changes the group's state by the packet. Returns whether the host is to be woken.
static __always_inline int take(struct event* event, struct nic_outcome* outcome) {
  if (nic_is_sign_of_life(&event->slot->group, event->state, &event->message)) {
    struct nic_member* member = member_of(event->slot, event->message.source);
    if (member != 0) __sync_fetch_and_add(&member->signs_of_life, 1);
  }
  nic_hear(&event->slot->group, event->state, &event->message, bpf_ktime_get_ns());
  (void)nic_take_packet(event->slot, event->state, &event->message, outcome);
  if (owes(event, outcome)) wake_keeper();
  count(outcome->verdict);
  if (outcome->waits) count(NIC_KEPT);
  return publish(event, outcome) && event->slot->wakeup_port != 0;
}

// In front of a packet: what the XDP program has done with it, so that the tc program can do the rest. Only of programs
// without content.
struct handover {
  __u32 magic;
  __u32 index;
  __u8 first_send;
  __u8 end_send;
  __u8 reply;
  __u8 repeats;
  __u8 vetoes;
  __u8 wakes;
  __u8 reserved[2];
  __u64 owed;
};
enum { NIC_HANDOVER = 0x686b6876 };
_Static_assert(sizeof(struct handover) <= 32, "kernels before 6.9 have no more room before a packet");

// Where packets come in.
SEC("tc")
int nic_arriving(struct __sk_buff* skb) {
  __u64 words[NIC_WORDS + 1];
  struct event event = {};
  struct nic_outcome outcome = {};
  __u32 carried = 0;
  if (!read_packet(skb, words, &carried, 0)) return TC_ACT_UNSPEC;
  const struct handover* handed_over = (void*)(long)skb->data_meta;
  if ((void*)(handed_over + 1) <= (void*)(long)skb->data && handed_over->magic == NIC_HANDOVER) {
    const __u32 wakes = handed_over->wakes;
    outcome.first_send = handed_over->first_send;
    outcome.end_send = handed_over->end_send;
    outcome.reply = handed_over->reply;
    outcome.repeats = handed_over->repeats;
    outcome.vetoes = handed_over->vetoes;
    outcome.owed = handed_over->owed;
    (void)nic_read(words, 0, &event.message);
    return find_slot(&event, handed_over->index) ? act(skb, &event, &outcome, (int)wakes) : TC_ACT_SHOT;
  }
  if (!read_operand(skb, carried)) return TC_ACT_UNSPEC;
  switch (find_group(words, carried, &event)) {
    case NIC_FOREIGN:
      if (event.message.kind != 0) count(NIC_NO_GROUP);
      return TC_ACT_UNSPEC;
    case NIC_FORGED:
      count(NIC_BAD_TAG);
      return TC_ACT_SHOT;
    default:
      break;
  }
  const int wakes = take(&event, &outcome);
  return act(skb, &event, &outcome, wakes);
}

// Packets come in here first, in the driver. The program answers whatever takes at most one packet. It starts what
// needs more and leaves the rest to nic_arriving, which also handles all packets with content.
SEC("xdp")
int nic_early(struct xdp_md* context) {
  struct event event = {};
  struct nic_outcome outcome = {};
  struct nic_frame* frame = (void*)(long)context->data;
  void* end = (void*)(long)context->data_end;
  if ((void*)(frame + 1) > end || frame->ethernet.h_proto != bpf_htons(ETH_P_IP) || frame->ip.version != 4 ||
      frame->ip.ihl != 5 || frame->ip.protocol != IPPROTO_UDP || frame->udp.dest != bpf_htons(nic_port) ||
      (frame->ip.frag_off & bpf_htons(0x3fff)) != 0 || frame->udp.len != bpf_htons(NIC_UDP_BYTES + NIC_HEADER_BYTES) ||
      (void*)(frame + 1) != end)
    return XDP_PASS;
  __u64 words[NIC_WORDS + 1];
  __builtin_memcpy(words, frame->words, sizeof words);
  const enum found found = find_group(words, 0, &event);
  if (found == NIC_FOREIGN) return XDP_PASS;
  if (found == NIC_FORGED) {
    count(NIC_BAD_TAG);
    return XDP_DROP;
  }
  if (nic_program_at(&event.slot->group, event.message.program)->operands != 0) return XDP_PASS;
  // First, while the packet can still be left to nic_arriving.
  if (bpf_xdp_adjust_meta(context, -(int)sizeof(struct handover)) != 0) return XDP_PASS;
  const int wakes = take(&event, &outcome);
  const __u32 sends = outcome.end_send - outcome.first_send + (outcome.reply != 0);
  if (sends <= 1 && !wakes) count(NIC_IN_DRIVER);
  if (sends == 0 && !wakes) return XDP_DROP;
  frame = (void*)(long)context->data;
  if (sends == 1 && !wakes) {
    struct nic_message last;
    struct nic_scratch* own = scratch();
    if (own == 0 || !last_message(&event, &outcome, &last)) return XDP_DROP;
    const struct nic_member* member = member_of(event.slot, last.target);
    if (member == 0 || !nic_make_frame(event.slot, member, &last, 0, own)) return XDP_DROP;
    if ((void*)(frame + 1) > (void*)(long)context->data_end) return XDP_DROP;
    __builtin_memcpy(frame, &own->frame, sizeof *frame);
    count_sends(&outcome);
    return XDP_TX;
  }
  struct handover* handed_over = (void*)(long)context->data_meta;
  if ((void*)(handed_over + 1) > (void*)frame) return XDP_DROP;
  handed_over->magic = NIC_HANDOVER;
  handed_over->index = event.index;
  handed_over->first_send = outcome.first_send;
  handed_over->end_send = outcome.end_send;
  handed_over->reply = outcome.reply;
  handed_over->repeats = outcome.repeats;
  handed_over->vetoes = outcome.vetoes;
  handed_over->wakes = (__u8)wakes;
  handed_over->owed = outcome.owed;
  return XDP_PASS;
}

// Where packets go out: doorbells are packets of a socket that is known for the group that they name.
SEC("tc")
int nic_leaving(struct __sk_buff* skb) {
  if (skb->mark == NIC_MARK) return TC_ACT_UNSPEC;
  __u64 words[NIC_WORDS + 1];
  struct event event = {};
  __u32 carried = 0;
  if (!read_packet(skb, words, &carried, 1)) return TC_ACT_UNSPEC;
  (void)nic_read(words, carried, &event.message);
  const struct nic_doorbell doorbell = {bpf_get_socket_cookie(skb), event.message.group};
  if (bpf_map_lookup_elem(&nic_doorbells, &doorbell) == 0) {
    if (event.message.kind != NIC_DOORBELL) return TC_ACT_UNSPEC;
    count(NIC_NO_GROUP);  // a ring has no business on the wire
    return TC_ACT_SHOT;
  }
  if (!find_slot(&event, (__u32)doorbell.slot)) return TC_ACT_SHOT;
  if (event.message.kind != NIC_DOORBELL) {
    count(NIC_UNKNOWN_KIND);
    return TC_ACT_SHOT;
  }
  struct nic_outcome outcome = {};
  if (!read_operand(skb, carried)) return TC_ACT_SHOT;
  (void)nic_take_doorbell(event.slot, event.state, &event.message, &outcome);
  count(outcome.verdict == NIC_TAKEN ? NIC_DOORBELLS : outcome.verdict);
  (void)publish(&event, &outcome);
  if (outcome.verdict == NIC_TAKEN && (outcome.completed == 0 || owes(&event, &outcome))) wake_keeper();
  // A packet into which a message was written goes on its way; dropping a packet here would give the sender an ENOBUFS.
  return send_all(skb, &event, &outcome, 0) ? TC_ACT_UNSPEC : TC_ACT_SHOT;
}

char nic_licence[] SEC("license") = "Dual BSD/GPL";
