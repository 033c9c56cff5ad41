/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What happens when a message comes, or when a host starts an operation: which messages go out now, and what has been
 * completed. Neither sends nor waits: that is the business of whoever calls.
 *
 * Thread safety: any number of processors at the same time. What is to be sent is told to exactly one of them. */
#ifndef HOCKET_PROTOCOL_MACHINE_H
#define HOCKET_PROTOCOL_MACHINE_H

#include "protocol/record.h"

/* What a group has behind it and under way. Never in memory that a job may write. */
struct nic_state {
  __u64 started;   /* the newest operation that the host has begun */
  __u64 completed; /* this one and all before it are done */
  __u64 broken;    /* 0, or enum nic_cause | member << 8: whose fault it is */
  __u64 reserved;
  __u64 record[NIC_WINDOW];
  __u64 acknowledged[NIC_WINDOW]; /* sends, of programs that want it: the same layout */
};

enum nic_cause {
  NIC_CAUSE_SILENT = 1, /* nothing has been heard of a member for too long */
  NIC_CAUSE_LEFT,       /* its process has ended */
  NIC_CAUSE_DISAGREES,  /* it takes part in another collective */
  NIC_CAUSES,
};

/* What became of a packet or a doorbell. */
enum nic_verdict {
  NIC_TAKEN,
  NIC_DUPLICATE,    /* it had come before */
  NIC_STALE,        /* of an operation that is over here */
  NIC_EARLY,        /* of an operation that nobody can have begun */
  NIC_BROKEN,       /* the group is */
  NIC_MISDIRECTED,  /* for another member */
  NIC_NO_PROGRAM,   /* the group has no such program */
  NIC_NOT_EXPECTED, /* the program expects nothing like it from there */
  NIC_DISAGREEMENT, /* the operation is of another program here */
  NIC_TOO_MANY,     /* operations in flight */
  NIC_OUT_OF_TURN,  /* operations begin one after the other */
  NIC_CONTENDED,    /* given up among processors that all wanted the record: will be asked for again */
  NIC_UNKNOWN_KIND,
  NIC_VERDICTS,
};

struct nic_outcome {
  enum nic_verdict verdict;
  __u8 first_send; /* of the message's program: [first_send, end_send) go out now */
  __u8 end_send;
  __u8 reply;      /* 0, or the kind of what goes back to the source */
  __u8 repeats;    /* whether what goes out has gone out before */
  __u8 vetoes;     /* whether what goes out says no */
  __u32 completed; /* operations, one after the other */
};

NIC_INLINE struct nic_outcome nic_refused(enum nic_verdict verdict) {
  struct nic_outcome outcome = {verdict, 0, 0, 0, 0, 0, 0};
  return outcome;
}

NIC_INLINE __u64* nic_record(struct nic_state* state, __u64 epoch) { return &state->record[epoch % NIC_WINDOW]; }

/* Moves `completed` past what is. Gives by how much: each operation is told to one processor. */
NIC_FUNCTION __u32 nic_advance(const struct nic_group* group, struct nic_state* state) {
  __u32 advanced = 0;
  if (NIC_IS_NULL(group) || NIC_IS_NULL(state)) return 0;
  for (int i = 0; i < 2 * NIC_WINDOW; ++i) {
    const __u64 completed = nic_load(&state->completed);
    const __u64 word = nic_look(nic_record(state, completed + 1), completed + 1);
    if ((word & NIC_STARTED) == 0) break;
    if (!nic_is_complete(nic_program_at(group, nic_program_of(word)), word)) break;
    if (nic_compare_exchange(&state->completed, completed, completed + 1) == completed) ++advanced;
  }
  return advanced;
}

/* What follows from bits that have been set. */
NIC_INLINE struct nic_outcome nic_follow(const struct nic_group* group, struct nic_state* state,
                                         const struct nic_program* program, const struct nic_change* change) {
  struct nic_outcome outcome = nic_refused(NIC_TAKEN);
  outcome.first_send = (__u8)nic_sends_reached(program, change->before);
  outcome.end_send = (__u8)nic_sends_reached(program, change->after);
  outcome.vetoes = nic_is_vetoed(program, change->after);
  if (nic_is_complete(program, change->after)) outcome.completed = nic_advance(group, state);
  return outcome;
}

NIC_INLINE void nic_break(struct nic_state* state, enum nic_cause cause, __u32 member) {
  (void)nic_compare_exchange(&state->broken, 0, (__u64)cause | (__u64)member << 8);
}

/* The host begins operation `epoch`, by `index`. */
NIC_INLINE struct nic_outcome nic_start(const struct nic_group* group, struct nic_state* state, __u32 index,
                                        __u64 epoch) {
  if (nic_load(&state->broken) != 0) return nic_refused(NIC_BROKEN);
  if (index >= group->programs || index >= NIC_MOST_PROGRAMS) return nic_refused(NIC_NO_PROGRAM);
  if (epoch != nic_load(&state->started) + 1) return nic_refused(NIC_OUT_OF_TURN);
  if (epoch - nic_load(&state->completed) > NIC_IN_FLIGHT) return nic_refused(NIC_TOO_MANY);
  if (nic_compare_exchange(&state->started, epoch - 1, epoch) != epoch - 1) return nic_refused(NIC_OUT_OF_TURN);
  const struct nic_program* program = nic_program_at(group, index);
  /* Whatever it held is over. Its round may be of any age: operations without acknowledgements don't come by it. */
  if ((program->flags & NIC_ACKNOWLEDGED) != 0)
    (void)nic_exchange(&state->acknowledged[epoch % NIC_WINDOW], nic_blank(epoch, index));
  struct nic_change change;
  switch (nic_set(nic_record(state, epoch), epoch, index, NIC_STARTED, &change)) {
    case NIC_SET:
      return nic_follow(group, state, program, &change);
    case NIC_OTHER_PROGRAM:
      nic_break(state, NIC_CAUSE_DISAGREES, group->self);
      return nic_refused(NIC_DISAGREEMENT);
    default:
      return nic_refused(NIC_CONTENDED);
  }
}

/* The source takes part in another collective than is under way here. Neither can ever end if both hosts have begun. */
NIC_INLINE struct nic_outcome nic_disagreed(struct nic_state* state, const struct nic_message* m) {
  if ((nic_look(nic_record(state, m->epoch), m->epoch) & NIC_STARTED) != 0)
    nic_break(state, NIC_CAUSE_DISAGREES, m->source);
  return nic_refused(NIC_DISAGREEMENT);
}

/* Which bits a message sets. */
NIC_INLINE __u64 nic_bits_of(const struct nic_program* program, const struct nic_message* m) {
  const __u64 veto = m->kind == NIC_VETO ? NIC_VETOED : 0;
  const __u64 vote = (program->flags & NIC_VOTES) != 0 && m->bit == program->question ? NIC_VOTE : 0;
  return 1ULL << m->bit | veto | vote;
}

/* A message of the schedule has come. */
NIC_INLINE struct nic_outcome nic_arrive(const struct nic_group* group, struct nic_state* state,
                                         const struct nic_program* program, const struct nic_message* m) {
  if (m->bit >= program->arrivals || m->bit >= NIC_MOST_ARRIVALS) return nic_refused(NIC_NOT_EXPECTED);
  const struct nic_arrival* arrival = &program->arrival[m->bit];
  if (arrival->member != m->source || arrival->send != m->send) return nic_refused(NIC_NOT_EXPECTED);
  if ((m->kind == NIC_VETO || m->target == NIC_ALL) && (program->flags & NIC_VOTES) == 0)
    return nic_refused(NIC_NOT_EXPECTED);
  const __u64 completed = nic_load(&state->completed);
  if (m->epoch > completed + NIC_WINDOW) return nic_refused(NIC_EARLY);
  struct nic_outcome outcome = nic_refused(NIC_STALE);
  if (m->epoch > completed) {
    struct nic_change change;
    switch (nic_set(nic_record(state, m->epoch), m->epoch, m->program, nic_bits_of(program, m), &change)) {
      case NIC_SET:
        outcome = nic_follow(group, state, program, &change);
        break;
      case NIC_WAS_SET:
        outcome = nic_refused(NIC_DUPLICATE);
        break;
      case NIC_IS_PAST:
        break;
      case NIC_OTHER_PROGRAM:
        return nic_disagreed(state, m);
      default:
        return nic_refused(NIC_CONTENDED);
    }
  }
  if ((program->flags & NIC_ACKNOWLEDGED) != 0) outcome.reply = NIC_ACK;
  return outcome;
}

/* Somebody misses a message: it goes out again if it has gone out before. */
NIC_INLINE struct nic_outcome nic_asked(struct nic_state* state, const struct nic_program* program,
                                        const struct nic_message* m) {
  if (m->send >= program->sends || m->send >= NIC_MOST_SENDS) return nic_refused(NIC_NOT_EXPECTED);
  const struct nic_send* send = &program->send[m->send];
  if ((send->member != m->source && send->member != NIC_ALL) || send->bit != m->bit)
    return nic_refused(NIC_NOT_EXPECTED);
  const __u64 completed = nic_load(&state->completed);
  if (m->epoch > completed + NIC_WINDOW) return nic_refused(NIC_EARLY);
  /* Whoever is this far behind has asked for something older than all that can be missing. */
  if (m->epoch == 0 || completed >= m->epoch + 2 * NIC_WINDOW) return nic_refused(NIC_STALE);
  struct nic_outcome outcome = nic_refused(NIC_TAKEN);
  const int is_over = m->epoch <= completed;
  const __u64 word = nic_look(nic_record(state, m->epoch), m->epoch);
  const int is_ours = nic_program_of(word) == m->program;
  if (!is_over && !is_ours && (word & NIC_STARTED) != 0) return nic_disagreed(state, m);
  if (is_over || (is_ours && m->send < nic_sends_reached(program, word))) {
    outcome.first_send = m->send;
    outcome.end_send = (__u8)(m->send + 1);
    outcome.repeats = 1;
    outcome.vetoes = nic_is_vetoed(program, word);
  } else {
    outcome.reply = NIC_ALIVE;
  }
  return outcome;
}

/* A message of ours has come: one that has gone out. */
NIC_INLINE struct nic_outcome nic_acknowledged(struct nic_state* state, const struct nic_program* program,
                                               const struct nic_message* m) {
  if (m->send >= program->sends || m->send >= NIC_MOST_SENDS) return nic_refused(NIC_NOT_EXPECTED);
  if (program->send[m->send].member != m->source) return nic_refused(NIC_NOT_EXPECTED);
  if ((program->flags & NIC_ACKNOWLEDGED) == 0) return nic_refused(NIC_NOT_EXPECTED);
  const __u64 started = nic_load(&state->started);
  if (m->epoch > started) return nic_refused(NIC_EARLY);
  const __u64 word = nic_look(nic_record(state, m->epoch), m->epoch);
  /* Without the second, rounds that have come around would be taken for later ones. */
  if (m->epoch == 0 || started - m->epoch >= NIC_WINDOW || (word & NIC_STARTED) == 0) return nic_refused(NIC_STALE);
  if (nic_program_of(word) != m->program) return nic_refused(NIC_DISAGREEMENT);
  if (m->send >= nic_sends_reached(program, word)) return nic_refused(NIC_NOT_EXPECTED);
  struct nic_change change;
  switch (nic_set(&state->acknowledged[m->epoch % NIC_WINDOW], m->epoch, m->program, 1ULL << m->send, &change)) {
    case NIC_SET:
      return nic_refused(NIC_TAKEN);
    case NIC_WAS_SET:
      return nic_refused(NIC_DUPLICATE);
    case NIC_IS_PAST:
      return nic_refused(NIC_STALE);
    case NIC_OTHER_PROGRAM:
      return nic_refused(NIC_DISAGREEMENT);
    default:
      return nic_refused(NIC_CONTENDED);
  }
}

/* Somebody says that the group is broken. */
NIC_INLINE struct nic_outcome nic_aborted(const struct nic_group* group, struct nic_state* state,
                                          const struct nic_message* m) {
  const __u32 member = (__u32)m->send << 8 | m->count;
  if (m->bit == 0 || m->bit >= NIC_CAUSES || member >= group->size) return nic_refused(NIC_NOT_EXPECTED);
  nic_break(state, (enum nic_cause)m->bit, member);
  return nic_refused(NIC_TAKEN);
}

/* Whether a packet for this group, whose tag is right, shows that its source lives. An answer of earlier times may be
 * somebody's who has kept it. */
NIC_INLINE int nic_is_sign_of_life(const struct nic_group* group, const struct nic_state* state,
                                   const struct nic_message* m) {
  if (m->kind == NIC_MESSAGE || m->kind == NIC_VETO) return 0;
  if (m->target != group->self || m->source >= group->size) return 0;
  return m->kind != NIC_ALIVE || (m->epoch > nic_load(&state->completed) && m->epoch <= nic_load(&state->started));
}

/* A packet for this group, whose tag is right. */
NIC_INLINE struct nic_outcome nic_take(const struct nic_group* group, struct nic_state* state,
                                       const struct nic_message* m) {
  const int is_message = m->kind == NIC_MESSAGE || m->kind == NIC_VETO;
  if (m->target != group->self && !(is_message && m->target == NIC_ALL)) return nic_refused(NIC_MISDIRECTED);
  if (m->source >= group->size || m->source == group->self) return nic_refused(NIC_NOT_EXPECTED);
  struct nic_outcome outcome = nic_refused(NIC_TAKEN);
  if (m->kind == NIC_ALIVE) return outcome;
  if (m->kind == NIC_ABORT) return nic_aborted(group, state, m);
  if (nic_load(&state->broken) != 0) {
    /* Who asks is told so. */
    outcome.verdict = NIC_BROKEN;
    if (m->kind == NIC_NACK || m->kind == NIC_PROBE) outcome.reply = NIC_ABORT;
    return outcome;
  }
  if (m->kind == NIC_PROBE) {
    outcome.reply = NIC_ALIVE;
    return outcome;
  }
  if (m->program >= group->programs || m->program >= NIC_MOST_PROGRAMS) return nic_refused(NIC_NO_PROGRAM);
  const struct nic_program* program = nic_program_at(group, m->program);
  switch (m->kind) {
    case NIC_MESSAGE:
    case NIC_VETO:
      return nic_arrive(group, state, program, m);
    case NIC_NACK:
      return nic_asked(state, program, m);
    case NIC_ACK:
      return nic_acknowledged(state, program, m);
    default:
      return nic_refused(NIC_UNKNOWN_KIND);
  }
}

/* --- what goes out ------------------------------------------------------------------------------------------------ */

NIC_INLINE struct nic_message nic_outgoing(const struct nic_group* group, __u8 kind, __u64 epoch, __u8 program) {
  struct nic_message m = {group->id, epoch, group->self, 0, kind, program, 0, 0, 0, 0, 0};
  return m;
}

/* A program's message as it goes out first, if there is no veto. Gives 0 where there is none of that number. */
NIC_FUNCTION int nic_sent(const struct nic_group* group, __u8 program, __u64 epoch, __u32 number,
                          struct nic_message* m) {
  if (NIC_IS_NULL(group) || NIC_IS_NULL(m) || program >= NIC_MOST_PROGRAMS || number >= NIC_MOST_SENDS) return 0;
  const struct nic_send* send = &nic_program_at(group, program)->send[number];
  *m = nic_outgoing(group, NIC_MESSAGE, epoch, program);
  m->target = send->member;
  m->bit = send->bit;
  m->send = (__u8)number;
  return 1;
}

/* One of the messages that follow from `cause`, a packet or a ring: number `number` of [first_send, end_send). Gives 0
 * where there is none such. */
NIC_INLINE int nic_following(const struct nic_group* group, const struct nic_message* cause,
                             const struct nic_outcome* outcome, __u32 number, struct nic_message* m) {
  if (!nic_sent(group, cause->program, cause->epoch, number, m)) return 0;
  if (outcome->vetoes) m->kind = NIC_VETO;
  if (outcome->repeats) m->target = cause->source;
  return 1;
}

/* What answers `m`. */
NIC_INLINE struct nic_message nic_replied(const struct nic_group* group, const struct nic_state* state, __u8 kind,
                                          const struct nic_message* m) {
  struct nic_message reply = nic_outgoing(group, kind, m->epoch, m->program);
  reply.target = m->source;
  reply.send = m->send;
  reply.bit = m->bit;
  if (kind == NIC_ABORT) {
    const __u64 broken = nic_load(&state->broken);
    reply.bit = (__u8)broken;
    reply.send = (__u8)(broken >> 16);
    reply.count = (__u8)(broken >> 8);
  }
  return reply;
}

#endif
