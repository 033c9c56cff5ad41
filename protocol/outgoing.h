/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The packets that go out: what a program sends, and what answers others.
 *
 * Thread safety: any number of processors at the same time. */
#ifndef HOCKET_PROTOCOL_OUTGOING_H
#define HOCKET_PROTOCOL_OUTGOING_H

#include "protocol/state.h"

/* The member to which a program's message goes in an operation with that root; a number that no member has if it goes
 * nowhere. */
NIC_INLINE __u32 nic_target_of(const struct nic_group* group, const struct nic_send* send, __u32 root) {
  if (send->member == NIC_ROOT) return root != group->self ? root : (__u32)NIC_NOT_USED;
  if (send->member == NIC_HUB) return root == group->self ? 0 : (__u32)NIC_NOT_USED;
  return send->member;
}

NIC_INLINE struct nic_message nic_outgoing(const struct nic_group* group, __u8 kind, __u64 epoch, __u8 program) {
  struct nic_message m = {group->id, epoch, group->self, 0, 0, 0, 0, 0, kind, program, 0, 0, 0};
  return m;
}

/* A program's message as it goes out first, if there is no veto. Gives 0 where there is no message of that number, or
 * it has no receiver. What it carries is nic_fold()'s. */
NIC_INLINE int nic_sent(const struct nic_group* group, __u8 program, __u64 epoch, __u64 call, __u32 number,
                        struct nic_message* m) {
  if (program >= NIC_MOST_PROGRAMS || number >= NIC_MOST_SENDS) return 0;
  const struct nic_program* about = nic_program_at(group, program);
  const struct nic_send* send = nic_send_at(about, number);
  *m = nic_outgoing(group, NIC_MESSAGE, epoch, program);
  m->target = (__u16)nic_target_of(group, send, nic_call_root(call));
  m->bit = send->bit;
  m->send = (__u8)number;
  if (about->operands == 0) return 1;
  m->root = (__u16)nic_call_root(call);
  m->words = (__u8)nic_call_words(call);
  m->operation = (__u8)nic_call_operation(call);
  m->type = (__u8)nic_call_type(call);
  if (send->content.first != send->content.end) m->carried = (__u8)nic_words_of_slice(about, call);
  return m->target != NIC_NOT_USED;
}

/* One of the messages that follow from `cause`, a packet or a ring: number `number` of [first_send, end_send). Gives 0
 * where there is none such. */
NIC_FUNCTION int nic_following(const struct nic_group* group, const struct nic_message* cause,
                               const struct nic_outcome* outcome, __u32 number, struct nic_message* m) {
  if (NIC_IS_NULL(group) || NIC_IS_NULL(cause) || NIC_IS_NULL(outcome) || NIC_IS_NULL(m)) return 0;
  if (!nic_sent(group, cause->program, cause->epoch, outcome->call, number, m)) return 0;
  if (number < NIC_MOST_SENDS && (outcome->owed >> number & 1) != 0) m->kind = NIC_OWED;
  if (outcome->vetoes) m->kind = NIC_VETO;
  if (outcome->repeats) m->target = cause->source;
  return 1;
}

/* A content of the program's in an operation with that call, for which all of it has come. */
NIC_INLINE int nic_gather(const struct nic_group* group, const struct nic_state* state, __u64 memory,
                          const struct nic_program* program, const struct nic_send* send, __u64 epoch, __u64 call,
                          struct nic_operand* operand) {
  const __u64 places = nic_places_of(group, memory, epoch);
  if (!nic_is_of_pool(program, send)) return nic_fold(program, send, places, call, operand);
  const __u32 parked = nic_parked(nic_look(&state->pool[nic_index_of(epoch)], epoch));
  return parked != 0 && nic_get(nic_place(places, parked - 1), operand, 0, nic_call_words(call));
}

/* What a message carries, as nic_following() has made it of an outcome with that call. */
NIC_INLINE int nic_carry(const struct nic_group* group, const struct nic_state* state, __u64 memory,
                         const struct nic_message* m, __u64 call, struct nic_operand* operand) {
  if (m->carried == 0) return 1;
  const struct nic_program* program = nic_program_at(group, m->program);
  return nic_gather(group, state, memory, program, nic_send_at(program, m->send), m->epoch, call, operand);
}

/* What the host gets of an operation, where an outcome wants it published; then nic_published(). */
NIC_INLINE int nic_result(const struct nic_group* group, const struct nic_state* state, __u64 memory, __u32 program,
                          __u64 epoch, __u64 call, struct nic_operand* operand) {
  const struct nic_program* about = nic_program_at(group, program);
  return nic_gather(group, state, memory, about, &about->result, epoch, call, operand);
}

/* What members are told about a broken group. */
NIC_INLINE void nic_blame(const struct nic_state* state, struct nic_message* m) {
  const __u64 broken = nic_load(&state->broken);
  m->bit = (__u8)broken;
  m->root = (__u16)(broken >> 8);
}

/* What answers `m`. */
NIC_INLINE struct nic_message nic_replied(const struct nic_group* group, const struct nic_state* state, __u8 kind,
                                          const struct nic_message* m) {
  struct nic_message reply = nic_outgoing(group, kind, m->epoch, m->program);
  reply.target = m->source;
  reply.send = m->send;
  reply.bit = m->bit;
  if (kind == NIC_ABORT) nic_blame(state, &reply);
  return reply;
}

#endif
