/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What happens when a message comes, or when a host starts an operation: which messages go out now, and what has been
 * completed. These functions neither send nor wait: that is the caller's business.
 *
 * Thread safety: any number of processors at the same time. Exactly one of them is told what to send. */
#ifndef HOCKET_PROTOCOL_MACHINE_H
#define HOCKET_PROTOCOL_MACHINE_H

#include "protocol/outgoing.h"

/* The operand that the host gives with its doorbell, if it gives one. */
NIC_INLINE enum nic_verdict nic_begin_call(const struct nic_group* group, struct nic_state* state, __u64 memory,
                                           const struct nic_program* program, const struct nic_message* doorbell,
                                           const struct nic_operand* operand) {
  const __u64 call = nic_call_of(doorbell);
  if (nic_describe(&state->call[nic_index_of(doorbell->epoch)], call) != NIC_SET) return NIC_DISAGREEMENT;
  if (doorbell->carried == 0) return NIC_TAKEN;
  const __u64 places = nic_places_of(group, memory, doorbell->epoch);
  if (!nic_put_hosts(group, program, places, call, operand)) return NIC_NO_PROGRAM;
  if (!nic_is_pooled(program, NIC_HOSTS_OPERAND)) return NIC_TAKEN;
  __u64* pool = &state->pool[nic_index_of(doorbell->epoch)];
  return nic_pool(pool, places, NIC_HOSTS_OPERAND, call) ? NIC_TAKEN : NIC_CONTENDED;
}

/* How many words the host gives. */
NIC_INLINE __u32 nic_words_of_host(const struct nic_group* group, const struct nic_program* program,
                                   const struct nic_message* doorbell) {
  return (program->flags & NIC_FROM_ROOT) != 0 && doorbell->root != group->self ? 0 : doorbell->words;
}

/* Words that not every operation writes are kept from growing so old that they would be taken for later. */
NIC_INLINE void nic_refresh(__u64* word, __u64 epoch) {
  const __u64 seen = nic_load(word);
  if ((nic_round(epoch) - nic_round_of(seen)) % NIC_ROUNDS >= NIC_ROUNDS / 4)
    (void)nic_compare_exchange(word, seen, nic_blank(epoch, 0));
}

/* The host begins an operation: as its doorbell says by epoch, program and call. */
NIC_INLINE struct nic_outcome nic_start(const struct nic_group* group, struct nic_state* state, __u64 memory,
                                        const struct nic_message* doorbell, const struct nic_operand* operand) {
  const __u64 epoch = doorbell->epoch;
  if (nic_load(&state->broken) != 0) return nic_refused(NIC_BROKEN);
  if (doorbell->program >= group->programs || doorbell->program >= NIC_MOST_PROGRAMS)
    return nic_refused(NIC_NO_PROGRAM);
  const struct nic_program* program = nic_program_at(group, doorbell->program);
  if (!nic_is_sound(group, program, doorbell) || doorbell->carried != nic_words_of_host(group, program, doorbell))
    return nic_refused(NIC_UNSOUND);
  if (epoch != nic_load(&state->started) + 1) return nic_refused(NIC_OUT_OF_TURN);
  if (epoch - nic_load(&state->completed) > NIC_IN_FLIGHT) return nic_refused(NIC_TOO_MANY);
  if (nic_compare_exchange(&state->started, epoch - 1, epoch) != epoch - 1) return nic_refused(NIC_OUT_OF_TURN);
  /* The operation that used this word is over. Its round may be of any age, because operations without acknowledgements
   * never touch it. */
  if ((program->flags & NIC_ACKNOWLEDGED) != 0)
    (void)nic_exchange(&state->acknowledged[nic_index_of(epoch)], nic_blank(epoch, doorbell->program));
  nic_refresh(&state->owed[nic_index_of(epoch)], epoch);
  nic_refresh(&state->promised[nic_index_of(epoch)], epoch);
  nic_refresh(&state->acknowledged[nic_index_of(epoch)], epoch);
  if (group->operands != 0) {
    nic_refresh(&state->call[nic_index_of(epoch)], epoch);
    nic_refresh(&state->claimed[nic_index_of(epoch)], epoch);
    nic_refresh(&state->pool[nic_index_of(epoch)], epoch);
  }
  if (program->operands != 0) {
    const enum nic_verdict verdict = nic_begin_call(group, state, memory, program, doorbell, operand);
    if (verdict == NIC_DISAGREEMENT) nic_break(state, NIC_CAUSE_DISAGREES, group->self);
    if (verdict != NIC_TAKEN) return nic_refused(verdict);
  }
  struct nic_change change;
  struct nic_outcome outcome;
  switch (nic_set(nic_record(state, epoch), epoch, nic_beginning(group, program, doorbell), NIC_STARTED, &change)) {
    case NIC_SET:
      outcome = nic_follow(group, state, program, epoch, &change);
      outcome.call = nic_call_of(doorbell);
      return outcome;
    case NIC_OTHER_PROGRAM:
      nic_break(state, NIC_CAUSE_DISAGREES, group->self);
      return nic_refused(NIC_DISAGREEMENT);
    default:
      return nic_refused(NIC_CONTENDED);
  }
}

/* The source takes part in another collective than is under way here. If both hosts have started, neither collective
 * can ever end. */
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

/* The member that sends a given arrival of an operation. */
NIC_INLINE __u32 nic_source_of(const struct nic_arrival* arrival, __u32 root) {
  return arrival->member == NIC_ROOT ? root : arrival->member;
}

/* What a message carries is written where it belongs, by the first processor that claims the place: the record says
 * later that it has come. NIC_TAKEN: go on. */
NIC_INLINE enum nic_verdict nic_keep(const struct nic_group* group, struct nic_state* state, __u64 memory,
                                     const struct nic_program* program, const struct nic_message* m,
                                     const struct nic_operand* operand) {
  const struct nic_arrival* arrival = nic_arrival_at(program, m->bit);
  const int has_content = arrival->operand != NIC_NO_OPERAND;
  const __u64 call = nic_call_of(m);
  const __u32 words = nic_words_of_slice(program, call);
  if (!nic_is_sound(group, program, m) || m->carried != (has_content ? words : 0)) return NIC_UNSOUND;
  /* No process here waits for it: only the root gets the result. */
  if ((nic_beginning(group, program, m) >> m->bit & 1) != 0) return NIC_NOT_EXPECTED;
  /* On a wire that loses nothing, nothing is asked for again. */
  const int may_reject = (program->flags & NIC_RELIABLE_WIRE) == 0;
  if (has_content && may_reject && m->epoch > nic_load(&state->started) + group->unexpected) return NIC_REJECTED;
  /* This is checked before the message leaves a trace, since what correct members send later would disagree with it. */
  const __u64 word = nic_look(nic_record(state, m->epoch), m->epoch);
  if ((word & NIC_EVENTS) != 0 && nic_program_of(word) != m->program) return NIC_DISAGREEMENT;
  switch (nic_describe(&state->call[nic_index_of(m->epoch)], call)) {
    case NIC_SET:
      break;
    case NIC_OTHER_PROGRAM:
      return NIC_DISAGREEMENT;
    default:
      return NIC_STALE;
  }
  if (!has_content) return NIC_TAKEN;
  struct nic_change change;
  __u64* claimed = &state->claimed[nic_index_of(m->epoch)];
  switch (nic_set(claimed, m->epoch, nic_blank(m->epoch, m->program), 1ULL << m->bit, &change)) {
    case NIC_SET:
      break;
    case NIC_WAS_SET:
      return NIC_DUPLICATE;
    case NIC_OTHER_PROGRAM:
      return NIC_DISAGREEMENT;
    default:
      return NIC_STALE;
  }
  const __u64 places = nic_places_of(group, memory, m->epoch);
  const __u32 at = arrival->slice == NIC_WHOLE ? 0 : arrival->slice * words;
  if (!nic_put(nic_place(places, arrival->operand), operand, 0, at, words)) return NIC_NO_PROGRAM;
  if (!nic_is_pooled(program, arrival->operand)) return NIC_TAKEN;
  return nic_pool(&state->pool[nic_index_of(m->epoch)], places, arrival->operand, call) ? NIC_TAKEN : NIC_STALE;
}

/* Whether a message has come that its sender repeats until it hears so. */
NIC_INLINE int nic_has_come(struct nic_state* state, const struct nic_message* m) {
  if (m->epoch <= nic_load(&state->completed)) return 1;
  return (int)(nic_look(nic_record(state, m->epoch), m->epoch) >> m->bit & 1);
}

/* A message of the schedule has come. */
NIC_INLINE struct nic_outcome nic_arrive(const struct nic_group* group, struct nic_state* state, __u64 memory,
                                         const struct nic_program* program, const struct nic_message* m,
                                         const struct nic_operand* operand) {
  if (m->bit >= program->arrivals || m->bit >= NIC_MOST_ARRIVALS) return nic_refused(NIC_NOT_EXPECTED);
  const struct nic_arrival* arrival = nic_arrival_at(program, m->bit);
  if (nic_source_of(arrival, m->root) != m->source || arrival->send != m->send) return nic_refused(NIC_NOT_EXPECTED);
  if ((m->kind == NIC_VETO || m->target == NIC_ALL) && (program->flags & NIC_VOTES) == 0)
    return nic_refused(NIC_NOT_EXPECTED);
  const __u64 completed = nic_load(&state->completed);
  if (m->epoch > completed + NIC_WINDOW) return nic_refused(NIC_EARLY);
  struct nic_outcome outcome = nic_refused(NIC_STALE);
  if (m->epoch > completed) {
    if (program->operands != 0) {
      const enum nic_verdict verdict = nic_keep(group, state, memory, program, m, operand);
      if (verdict == NIC_DISAGREEMENT) return nic_disagreed(state, m);
      if (verdict != NIC_TAKEN) {
        outcome.verdict = verdict;
        if (m->kind == NIC_OWED && verdict == NIC_DUPLICATE && nic_has_come(state, m)) outcome.reply = NIC_ACK;
        return outcome;
      }
    } else if (m->carried != 0 || !nic_is_sound(group, program, m)) {
      return nic_refused(NIC_UNSOUND);
    }
    struct nic_change change;
    const __u64 blank = nic_beginning(group, program, m);
    switch (nic_set(nic_record(state, m->epoch), m->epoch, blank, nic_bits_of(program, m), &change)) {
      case NIC_SET:
        outcome = nic_follow(group, state, program, m->epoch, &change);
        outcome.call = nic_call_of(m);
        outcome.waits = m->carried != 0 && (change.after & NIC_STARTED) == 0;
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
  if ((program->flags & NIC_ACKNOWLEDGED) != 0 || m->kind == NIC_OWED) outcome.reply = NIC_ACK;
  return outcome;
}

/* A message that can't be sent yet is asked for: from now on it is owed. Gives the kind of the answer; 0: it has been
 * reached meanwhile, without anybody knowing of it. */
NIC_FUNCTION __u32 nic_promise(struct nic_state* state, const struct nic_program* program,
                               const struct nic_message* m) {
  if (NIC_IS_NULL(state) || NIC_IS_NULL(program) || NIC_IS_NULL(m)) return NIC_ALIVE;
  /* Of a program that votes, what goes out depends on when; and acknowledged messages are repeated anyway. */
  if ((program->flags & (NIC_VOTES | NIC_ACKNOWLEDGED | NIC_RELIABLE_WIRE)) != 0) return NIC_ALIVE;
  struct nic_change change;
  const enum nic_set_result set = nic_set(&state->owed[nic_index_of(m->epoch)], m->epoch,
                                          nic_blank(m->epoch, m->program), 1ULL << (m->send & 63), &change);
  if (set != NIC_SET && set != NIC_WAS_SET) return NIC_ALIVE;
  const __u64 word = nic_look(nic_record(state, m->epoch), m->epoch);
  return nic_program_of(word) == m->program && m->send < nic_sends_reached(program, word) ? 0 : (__u32)NIC_LATER;
}

/* A member misses a message: it goes out again if it has gone out before. */
NIC_INLINE struct nic_outcome nic_asked(const struct nic_group* group, struct nic_state* state,
                                        const struct nic_program* program, const struct nic_message* m) {
  if (m->send >= program->sends || m->send >= NIC_MOST_SENDS) return nic_refused(NIC_NOT_EXPECTED);
  const __u64 completed = nic_load(&state->completed);
  if (m->epoch > completed + NIC_WINDOW) return nic_refused(NIC_EARLY);
  /* A member that is this far behind has asked for something older than anything that can still be missing. */
  if (m->epoch == 0 || completed >= m->epoch + 2 * NIC_WINDOW) return nic_refused(NIC_STALE);
  struct nic_outcome outcome = nic_refused(NIC_TAKEN);
  const __u64 word = nic_look(nic_record(state, m->epoch), m->epoch);
  int is_over = m->epoch <= completed;
  if (program->operands != 0) {
    outcome.call = nic_described(&state->call[nic_index_of(m->epoch)], m->epoch);
    /* Once its operands are gone, no member can miss any message of it. */
    if (is_over && (outcome.call == 0 || word == 0)) return nic_refused(NIC_STALE);
    is_over = 0;
  }
  const struct nic_send* send = nic_send_at(program, m->send);
  const int is_ours = nic_program_of(word) == m->program;
  if (!is_over && !is_ours && (word & NIC_STARTED) != 0) return nic_disagreed(state, m);
  int is_reached = is_over || (is_ours && m->send < nic_sends_reached(program, word));
  const __u32 target = nic_target_of(group, send, nic_call_root(outcome.call));
  /* While the call is unknown, this member can't tell to whom it will send. */
  if ((is_reached || !nic_has_root(program)) && ((target != m->source && target != NIC_ALL) || send->bit != m->bit))
    return nic_refused(NIC_NOT_EXPECTED);
  __u32 answer = NIC_GONE;
  if (!is_reached) {
    answer = nic_promise(state, program, m);
    is_reached = answer == 0;
    if (program->operands != 0) outcome.call = nic_described(&state->call[nic_index_of(m->epoch)], m->epoch);
  }
  if (is_reached && (program->flags & NIC_RELIABLE_WIRE) == 0) {
    outcome.first_send = m->send;
    outcome.end_send = (__u8)(m->send + 1);
    outcome.repeats = 1;
    outcome.vetoes = nic_is_vetoed(program, word);
    outcome.owed = nic_look(&state->owed[nic_index_of(m->epoch)], m->epoch);
  } else {
    outcome.reply = (__u8)answer;
  }
  return outcome;
}

/* A member that was asked says that what is missing is owed or, on a wire that loses nothing, that it has gone out. */
NIC_FUNCTION enum nic_verdict nic_answered(struct nic_state* state, const struct nic_program* program,
                                           const struct nic_message* m) {
  if (NIC_IS_NULL(state) || NIC_IS_NULL(program) || NIC_IS_NULL(m)) return NIC_NOT_EXPECTED;
  if (m->bit >= program->arrivals || m->bit >= NIC_MOST_ARRIVALS) return NIC_NOT_EXPECTED;
  const struct nic_arrival* arrival = nic_arrival_at(program, m->bit);
  if (arrival->send != m->send || (arrival->member != m->source && arrival->member != NIC_ROOT))
    return NIC_NOT_EXPECTED;
  if (((program->flags & NIC_RELIABLE_WIRE) != 0) != (m->kind == NIC_GONE)) return NIC_NOT_EXPECTED;
  if (m->epoch <= nic_load(&state->completed)) return NIC_STALE;
  if (m->epoch > nic_load(&state->started)) return NIC_EARLY;
  if (nic_program_of(nic_look(nic_record(state, m->epoch), m->epoch)) != m->program) return NIC_DISAGREEMENT;
  struct nic_change change;
  switch (nic_set(&state->promised[nic_index_of(m->epoch)], m->epoch, nic_blank(m->epoch, m->program), 1ULL << m->bit,
                  &change)) {
    case NIC_SET:
      return NIC_TAKEN;
    case NIC_WAS_SET:
      return NIC_DUPLICATE;
    default:
      return NIC_STALE;
  }
}

/* A message of ours has come: one that has gone out. */
NIC_INLINE struct nic_outcome nic_acknowledged(const struct nic_group* group, struct nic_state* state,
                                               const struct nic_program* program, const struct nic_message* m) {
  if (m->send >= program->sends || m->send >= NIC_MOST_SENDS) return nic_refused(NIC_NOT_EXPECTED);
  const __u64 owed = nic_look(&state->owed[nic_index_of(m->epoch)], m->epoch);
  const __u32 root = nic_call_root(nic_described(&state->call[nic_index_of(m->epoch)], m->epoch));
  if (nic_target_of(group, nic_send_at(program, m->send), root) != m->source) return nic_refused(NIC_NOT_EXPECTED);
  if ((program->flags & NIC_ACKNOWLEDGED) == 0 && (owed >> m->send & 1) == 0) return nic_refused(NIC_NOT_EXPECTED);
  const __u64 started = nic_load(&state->started);
  if (m->epoch > started) return nic_refused(NIC_EARLY);
  const __u64 word = nic_look(nic_record(state, m->epoch), m->epoch);
  /* Without the second, rounds that have come around would be taken for later ones. */
  if (m->epoch == 0 || started - m->epoch >= NIC_WINDOW || (word & NIC_STARTED) == 0) return nic_refused(NIC_STALE);
  if (nic_program_of(word) != m->program) return nic_refused(NIC_DISAGREEMENT);
  if (m->send >= nic_sends_reached(program, word)) return nic_refused(NIC_NOT_EXPECTED);
  struct nic_change change;
  switch (nic_set(&state->acknowledged[nic_index_of(m->epoch)], m->epoch, nic_blank(m->epoch, m->program),
                  1ULL << m->send, &change)) {
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

/* A member reports that the group is broken. */
NIC_INLINE struct nic_outcome nic_aborted(const struct nic_group* group, struct nic_state* state,
                                          const struct nic_message* m) {
  if (m->bit == 0 || m->bit >= NIC_CAUSES || m->root >= group->size) return nic_refused(NIC_NOT_EXPECTED);
  nic_break(state, (enum nic_cause)m->bit, m->root);
  return nic_refused(NIC_TAKEN);
}

/* What the answer to a probe is known by: the member that is asked, and the number that the probe bears. */
NIC_INLINE __u64 nic_echo_of(__u32 member, const struct nic_message* m) {
  return 1ULL << 32 | (__u64)member << 16 | (__u64)m->send << 8 | m->bit;
}

/* To be told of each packet whose tag is right before it is taken. */
NIC_INLINE void nic_hear(const struct nic_group* group, struct nic_state* state, const struct nic_message* m,
                         __u64 now_ns) {
  if (m->kind != NIC_ALIVE || m->program != NIC_PROBING) return;
  if (m->target != group->self || m->source >= group->size || m->source == group->self) return;
  state->heard_ns = now_ns;
  (void)nic_exchange(&state->heard, nic_echo_of(m->source, m));
}

NIC_INLINE int nic_is_of_schedule(const struct nic_message* m) {
  return m->kind == NIC_MESSAGE || m->kind == NIC_VETO || m->kind == NIC_OWED;
}

/* Whether a packet for this group, whose tag is right, shows that its source lives. An attacker may have kept an answer
 * of earlier times and sent it again. */
NIC_INLINE int nic_is_sign_of_life(const struct nic_group* group, const struct nic_state* state,
                                   const struct nic_message* m) {
  if (nic_is_of_schedule(m)) return 0;
  if (m->target != group->self || m->source >= group->size) return 0;
  const int is_answer = m->kind == NIC_ALIVE || m->kind == NIC_LATER || m->kind == NIC_GONE;
  return !is_answer || (m->epoch > nic_load(&state->completed) && m->epoch <= nic_load(&state->started));
}

/* A packet for this group, whose tag is right. `operand`: what it carries. */
NIC_INLINE struct nic_outcome nic_take(const struct nic_group* group, struct nic_state* state, __u64 memory,
                                       const struct nic_message* m, const struct nic_operand* operand) {
  const int is_message = nic_is_of_schedule(m);
  if (m->target != group->self && !(is_message && m->target == NIC_ALL)) return nic_refused(NIC_MISDIRECTED);
  if (m->source >= group->size || m->source == group->self) return nic_refused(NIC_NOT_EXPECTED);
  struct nic_outcome outcome = nic_refused(NIC_TAKEN);
  if (m->kind == NIC_ALIVE) return outcome;
  if (m->kind == NIC_ABORT) return nic_aborted(group, state, m);
  if (nic_load(&state->broken) != 0) {
    /* The member that asks gets this as its answer. */
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
    case NIC_OWED:
      return nic_arrive(group, state, memory, program, m, operand);
    case NIC_NACK:
      return nic_asked(group, state, program, m);
    case NIC_ACK:
      return nic_acknowledged(group, state, program, m);
    case NIC_LATER:
    case NIC_GONE:
      return nic_refused(nic_answered(state, program, m));
    default:
      return nic_refused(NIC_UNKNOWN_KIND);
  }
}

#endif
