/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What time does to a group: messages that are missing are asked for, and a member that is silent for too long breaks
 * it. For user space: the agent, and the service that looks after a kernel's engine. The kernel's part answers all
 * this.
 *
 * A late host is no failure: its engine answers for it, and the other members wait for the host without limit.
 *
 * Thread safety: one thread at a time, beside any number of processors in machine.h. */
#ifndef HOCKET_PROTOCOL_WATCH_H
#define HOCKET_PROTOCOL_WATCH_H

#include "protocol/machine.h"

struct nic_backoff {
  __u64 ask_ns;     /* the shortest time until a message counts as missing and is asked for */
  __u64 most_ns;    /* the longest time until a question without an answer is repeated, unless a round trip is longer */
  __u64 silence_ns; /* how long a member may be silent until it counts as gone */
};

/* How long answers take: smoothed, and how far they lie from that, as Jacobson and Karels have it for TCP. */
struct nic_round_trip {
  __u64 smooth_ns; /* 0: not known yet */
  __u64 spread_ns;
  __u64 learned_ns; /* when */
};

struct nic_watched_member {
  __u64 received_ns; /* when the count of its signs of life was last seen to grow */
  __u32 signs_of_life;
  __u32 reserved;
};

struct nic_watched_record {
  __u64 epoch;
  __u64 since_ns;
  __u64 next_ns;    /* when there is something to do again */
  __u64 asked;      /* arrivals that have been asked for */
  __u64 again_ns;   /* when those of them are asked for again of which nothing has been said */
  __u64 said;       /* arrivals of which something has been said */
  __u64 check_ns;   /* when their senders are looked after */
  __u64 checked_ns; /* since when they have been asked; 0: all have answered */
  __u32 soundings;  /* without an answer */
  __u32 reserved;
};

enum { NIC_PROBES = 16 };
struct nic_probe_sent {
  __u64 echo; /* what its answer is known by */
  __u64 at_ns;
};

struct nic_watch {
  struct nic_backoff backoff;
  struct nic_round_trip round_trip;
  __u64 heard;  /* the last answer that something was learned from */
  __u32 probes; /* that have gone out */
  __u32 reserved;
  struct nic_probe_sent probe[NIC_PROBES]; /* the last: number i in place i modulo NIC_PROBES */
  struct nic_watched_record record[NIC_WINDOW];
  struct nic_watched_record unacknowledged[NIC_WINDOW];
  struct nic_watched_member* member; /* of the group's size */
  const __u32* signs_of_life;        /* signs of life of each member, which the engine counts */
  __u32 signs_of_life_stride;        /* of these, in bytes */
  void (*emit)(void* user, const struct nic_message* message);
  void* user;
};

enum {
  NIC_LEARN_AGAIN_NS = 1000000000, /* an estimate counts for so long; then it is made anew when something is late */
  NIC_MOST_ROUND_TRIP_NS = 1000000000,
  NIC_MOST_SOUNDINGS = 8, /* without an answer; then all is asked for */
};
#define NIC_NEVER_NS (1ULL << 50)

static inline __u32 nic_signs_of_life(const struct nic_watch* watch, __u32 member) {
  return *(const volatile __u32*)((const char*)watch->signs_of_life + (__u64)member * watch->signs_of_life_stride);
}

/* Takes note of how long an answer took. */
static inline void nic_learn(struct nic_watch* watch, __u64 took_ns, __u64 now_ns) {
  struct nic_round_trip* known = &watch->round_trip;
  if (took_ns > NIC_MOST_ROUND_TRIP_NS) took_ns = NIC_MOST_ROUND_TRIP_NS;
  if (took_ns == 0) took_ns = 1;
  if (known->smooth_ns == 0 || took_ns > 2 * known->smooth_ns || took_ns < known->smooth_ns / 2) {
    /* Another network than before, or the first that is known of it. */
    known->smooth_ns = took_ns;
    known->spread_ns = took_ns / 8;
  } else {
    const __u64 off_ns = took_ns > known->smooth_ns ? took_ns - known->smooth_ns : known->smooth_ns - took_ns;
    known->spread_ns = known->spread_ns - known->spread_ns / 4 + off_ns / 4;
    known->smooth_ns = known->smooth_ns - known->smooth_ns / 8 + took_ns / 8;
  }
  known->learned_ns = now_ns;
}

static inline void nic_learn_from_answer(const struct nic_state* state, struct nic_watch* watch, __u64 now_ns) {
  const __u64 heard = nic_load(&state->heard);
  if (heard == watch->heard) return;
  watch->heard = heard;
  const struct nic_probe_sent* probe = &watch->probe[heard % NIC_PROBES];
  const __u64 heard_ns = nic_load(&state->heard_ns);
  if (probe->echo != heard || heard_ns < probe->at_ns) return;
  nic_learn(watch, heard_ns - probe->at_ns, now_ns);
  /* What comes of these from now on is late, or has been kept and sent once more by somebody. */
  for (__u32 i = 0; i < NIC_PROBES; ++i) watch->probe[i].echo = 0;
}

/* Asks a member for a sign of life, which tells how long answers take. */
static inline void nic_probe(const struct nic_group* group, struct nic_watch* watch, __u32 member, __u64 epoch,
                             __u64 now_ns) {
  struct nic_message m = nic_outgoing(group, NIC_PROBE, epoch, NIC_PROBING);
  const __u32 number = ++watch->probes;
  m.target = (__u16)member;
  m.send = (__u8)(number >> 8);
  m.bit = (__u8)number;
  watch->probe[number % NIC_PROBES].echo = nic_echo_of(member, &m);
  watch->probe[number % NIC_PROBES].at_ns = now_ns;
  watch->emit(watch->user, &m);
}

/* How long a question waits for its answer until it is repeated, and a message for its acknowledgement: a round trip,
 * and a quarter of the time that has passed with nothing heard. */
static inline __u64 nic_answer_ns(const struct nic_watch* watch, __u64 passed_ns) {
  const struct nic_round_trip* known = &watch->round_trip;
  __u64 wait_ns = known->smooth_ns + 4 * known->spread_ns;
  if (wait_ns < watch->backoff.ask_ns) wait_ns = watch->backoff.ask_ns;
  const __u64 most_ns = wait_ns > watch->backoff.most_ns ? wait_ns : watch->backoff.most_ns;
  if (wait_ns < passed_ns / 4) wait_ns = passed_ns / 4;
  return wait_ns < most_ns ? wait_ns : most_ns;
}

/* How long after the host's start an arrival counts as missing: as long as the messages before it take, and this one,
 * if all hosts start at the same time, and a round trip's half beside. A host that is later answers itself. */
static inline __u64 nic_expected(const struct nic_watch* watch, const struct nic_arrival* arrival) {
  const struct nic_round_trip* known = &watch->round_trip;
  const __u64 depth = arrival->depth == 0 ? 1 : arrival->depth;
  const __u64 wait_ns = (depth + 1) * known->smooth_ns / 2 + 4 * known->spread_ns;
  const __u64 most_ns = watch->backoff.silence_ns / 4; /* before a member that is asked counts as gone */
  if (wait_ns < watch->backoff.ask_ns) return watch->backoff.ask_ns;
  return wait_ns < most_ns ? wait_ns : most_ns;
}

static inline void nic_report_to_all(const struct nic_group* group, const struct nic_state* state,
                                     struct nic_watch* watch) {
  struct nic_message m = nic_outgoing(group, NIC_ABORT, nic_load(&state->started), 0);
  nic_blame(state, &m);
  for (__u32 member = 0; member < group->size; ++member) {
    if (member == group->self) continue;
    m.target = (__u16)member;
    watch->emit(watch->user, &m);
  }
}

/* Whether the member has given no sign of life for too long. */
static inline int nic_is_silent(struct nic_watch* watch, __u32 member, __u64 since_ns, __u64 now_ns) {
  struct nic_watched_member* watched = &watch->member[member];
  const __u32 signs_of_life = nic_signs_of_life(watch, member);
  if (signs_of_life != watched->signs_of_life) {
    watched->signs_of_life = signs_of_life;
    watched->received_ns = now_ns;
  }
  const __u64 last = watched->received_ns > since_ns ? watched->received_ns : since_ns;
  return now_ns - last > watch->backoff.silence_ns;
}

/* The member that an arrival of an operation comes from; the group's size or more: it isn't known. */
static inline __u32 nic_awaited(const struct nic_state* state, const struct nic_program* program, __u64 epoch,
                                __u32 bit) {
  const __u32 root = nic_call_root(nic_described(&state->call[nic_index_of(epoch)], epoch));
  return nic_source_of(&program->arrival[bit], root);
}

static inline void nic_break_and_tell(const struct nic_group* group, struct nic_state* state, struct nic_watch* watch,
                                      enum nic_cause cause, __u32 member) {
  nic_break(state, cause, member);
  nic_report_to_all(group, state, watch);
}

/* Asks the member about an arrival that is missing. */
static inline void nic_ask(const struct nic_group* group, struct nic_watch* watch, const struct nic_program* program,
                           __u64 epoch, __u32 bit, __u32 member, __u64 now_ns) {
  /* Where messages are acknowledged, their sender repeats them: only whether it lives is asked. */
  if ((program->flags & NIC_ACKNOWLEDGED) != 0) {
    nic_probe(group, watch, member, epoch, now_ns);
    return;
  }
  struct nic_message m = nic_outgoing(group, NIC_NACK, epoch, (__u8)(program - group->program));
  m.target = (__u16)member;
  m.send = program->arrival[bit].send;
  m.bit = (__u8)bit;
  watch->emit(watch->user, &m);
}

/* Whether a member has given a sign of life since it was asked. */
static inline int nic_has_answered(struct nic_watch* watch, __u32 member, __u64 asked_ns, __u64 now_ns) {
  (void)nic_is_silent(watch, member, 0, now_ns);
  return watch->member[member].received_ns > asked_ns;
}

/* Those of which their senders have said that they will come: asked for once more now and then, in case that a sender
 * has ended, or has given up. On a wire that loses nothing, those that are said to have gone out. */
static inline void nic_watch_said(const struct nic_group* group, struct nic_state* state, struct nic_watch* watch,
                                  struct nic_watched_record* watched, const struct nic_program* program, __u64 said,
                                  __u64 now_ns) {
  const int is_reliable = (program->flags & NIC_RELIABLE_WIRE) != 0;
  const __u64 wait_ns = watch->backoff.silence_ns / 4;
  const int is_new = (said & ~watched->said) != 0;
  watched->said = said;
  if (is_new) {
    watched->check_ns = now_ns + wait_ns;
    watched->checked_ns = 0;
  }
  if (said == 0 || now_ns < watched->check_ns) return;
  const __u64 checked_ns = watched->checked_ns;
  int is_open = 0;
  for (__u32 bit = 0; bit < program->arrivals; ++bit) {
    if ((said >> bit & 1) == 0) continue;
    const __u32 member = nic_awaited(state, program, watched->epoch, bit);
    if (member >= group->size) continue;
    if (is_reliable || nic_is_silent(watch, member, watched->since_ns, now_ns)) {
      nic_break_and_tell(group, state, watch, is_reliable ? NIC_CAUSE_LOST : NIC_CAUSE_SILENT, member);
      return;
    }
    if (checked_ns != 0 && nic_has_answered(watch, member, checked_ns, now_ns)) continue;
    /* A message that has gone out meanwhile is no sign of life. */
    nic_ask(group, watch, program, watched->epoch, bit, member, now_ns);
    nic_probe(group, watch, member, watched->epoch, now_ns);
    is_open = 1;
  }
  if (checked_ns == 0) watched->checked_ns = now_ns;
  if (!is_open) watched->checked_ns = 0;
  watched->check_ns = now_ns + (is_open ? nic_answer_ns(watch, now_ns - watched->checked_ns) : wait_ns);
}

/* While it isn't known how long answers take: whether one of the members lives, less and less often. Gives when to look
 * again. */
static inline __u64 nic_sound(const struct nic_group* group, const struct nic_state* state, struct nic_watch* watch,
                              struct nic_watched_record* watched, const struct nic_program* program, __u64 open,
                              __u64 now_ns) {
  if (now_ns < watched->again_ns) return watched->again_ns;
  for (__u32 bit = 0; bit < program->arrivals; ++bit) {
    const __u32 member = nic_awaited(state, program, watched->epoch, bit);
    if ((open >> bit & 1) == 0 || member >= group->size) continue;
    nic_probe(group, watch, member, watched->epoch, now_ns);
    break;
  }
  /* The answer may be on its way for any time: twice as long as until now. */
  const __u64 passed_ns = now_ns - watched->since_ns;
  watched->again_ns = now_ns + (passed_ns > watch->backoff.ask_ns ? passed_ns : watch->backoff.ask_ns);
  ++watched->soundings;
  return watched->again_ns;
}

/* Those of which nothing is known. Gives when to look at them again. */
static inline __u64 nic_watch_open(const struct nic_group* group, struct nic_state* state, struct nic_watch* watch,
                                   struct nic_watched_record* watched, const struct nic_program* program, __u64 open,
                                   __u64 now_ns) {
  if (watch->round_trip.smooth_ns == 0 && watched->asked == 0 && watched->soundings < NIC_MOST_SOUNDINGS)
    return nic_sound(group, state, watch, watched, program, open, now_ns);
  __u64 newly = 0;
  __u64 next_ns = ~0ULL;
  for (__u32 bit = 0; bit < program->arrivals; ++bit) {
    const __u32 member = nic_awaited(state, program, watched->epoch, bit);
    if ((open >> bit & 1) == 0 || member >= group->size) continue;
    const int was_asked = (int)(watched->asked >> bit & 1);
    const __u64 due_ns =
        was_asked ? watched->again_ns : watched->since_ns + nic_expected(watch, &program->arrival[bit]);
    if (now_ns < due_ns) {
      if (due_ns < next_ns) next_ns = due_ns;
      continue;
    }
    if (was_asked && nic_is_silent(watch, member, watched->since_ns, now_ns)) {
      nic_break_and_tell(group, state, watch, NIC_CAUSE_SILENT, member);
      return next_ns;
    }
    if (newly == 0 && now_ns - watch->round_trip.learned_ns > NIC_LEARN_AGAIN_NS)
      nic_probe(group, watch, member, watched->epoch, now_ns);
    nic_ask(group, watch, program, watched->epoch, bit, member, now_ns);
    newly |= 1ULL << bit;
  }
  if (newly == 0) return next_ns;
  watched->asked |= newly;
  watched->again_ns = now_ns + nic_answer_ns(watch, now_ns - watched->since_ns);
  return watched->again_ns < next_ns ? watched->again_ns : next_ns;
}

/* Looks after an operation that has been started here. */
static inline void nic_watch_operation(const struct nic_group* group, struct nic_state* state, struct nic_watch* watch,
                                       __u64 epoch, __u64 now_ns) {
  struct nic_watched_record* watched = &watch->record[nic_index_of(epoch)];
  if (watched->epoch != epoch) {
    const struct nic_watched_record fresh = {epoch, now_ns, now_ns + watch->backoff.ask_ns, 0, 0, 0, 0, 0, 0, 0};
    *watched = fresh;
    return;
  }
  if (now_ns < watched->next_ns) return;
  const __u64 word = nic_look(nic_record(state, epoch), epoch);
  watched->next_ns = now_ns + watch->backoff.ask_ns;
  if ((word & NIC_STARTED) == 0) return;
  const struct nic_program* program = nic_program_at(group, nic_program_of(word));
  const __u64 missing = nic_wanted(program, word) & ~word & ((1ULL << program->arrivals) - 1);
  const __u64 said = missing & nic_look(&state->promised[nic_index_of(epoch)], epoch);
  nic_watch_said(group, state, watch, watched, program, said, now_ns);
  if (nic_load(&state->broken) != 0) return;
  const __u64 next_ns = nic_watch_open(group, state, watch, watched, program, missing & ~said, now_ns);
  watched->next_ns = said != 0 && watched->check_ns < next_ns ? watched->check_ns : next_ns;
  if (watched->next_ns == ~0ULL) watched->next_ns = now_ns + watch->backoff.ask_ns;
}

/* The oldest operation of which messages may have to be repeated. */
static inline __u64 nic_oldest_sent(__u64 started) { return started >= NIC_WINDOW ? started - NIC_WINDOW + 1 : 1; }

/* Which sends of the operation whose record is `word` have gone out and not been acknowledged, where that is wanted. */
static inline __u64 nic_unacknowledged(const struct nic_group* group, const struct nic_state* state, __u64 epoch,
                                       __u64 word) {
  if ((word & NIC_STARTED) == 0) return 0;
  const struct nic_program* program = nic_program_at(group, nic_program_of(word));
  const int is_each = (program->flags & NIC_ACKNOWLEDGED) != 0;
  const __u64 owed = is_each ? NIC_STARTED - 1 : nic_look(&state->owed[nic_index_of(epoch)], epoch);
  if ((owed & (NIC_STARTED - 1)) == 0) return 0;
  const __u64 sent = (1ULL << nic_sends_reached(program, word)) - 1;
  return sent & owed & ~nic_look(&state->acknowledged[nic_index_of(epoch)], epoch);
}

/* Repeats what has not been acknowledged, to a member that may be there. */
static inline void nic_watch_acknowledgements(const struct nic_group* group, struct nic_state* state,
                                              struct nic_watch* watch, __u64 epoch, __u64 now_ns) {
  const __u64 word = nic_look(nic_record(state, epoch), epoch);
  const __u64 missing = nic_unacknowledged(group, state, epoch, word);
  struct nic_watched_record* watched = &watch->unacknowledged[nic_index_of(epoch)];
  if (missing == 0) return;
  if (watched->epoch != epoch || (missing & ~watched->asked) != 0) {
    /* They have gone out just now. */
    const struct nic_watched_record sent = {epoch, now_ns, now_ns + nic_answer_ns(watch, 0), missing, 0, 0, 0, 0, 0, 0};
    *watched = sent;
    return;
  }
  if (now_ns < watched->next_ns) return;
  watched->next_ns = now_ns + nic_answer_ns(watch, now_ns - watched->since_ns);
  const __u64 call = nic_described(&state->call[nic_index_of(epoch)], epoch);
  const __u8 program = (__u8)nic_program_of(word);
  const int is_owed = (nic_program_at(group, program)->flags & NIC_ACKNOWLEDGED) == 0;
  /* A receiver that is there asks itself for what is owed; what is acknowledged anyway, nobody asks for. */
  if (now_ns - watched->since_ns > watch->backoff.silence_ns)
    watched->next_ns = now_ns + (is_owed ? NIC_NEVER_NS : watch->backoff.silence_ns / 4);
  for (__u32 number = 0; number < NIC_MOST_SENDS; ++number) {
    struct nic_message m;
    if ((missing >> number & 1) == 0 || nic_sent(group, program, epoch, call, number, &m) == 0) continue;
    if (is_owed) m.kind = NIC_OWED;
    watch->emit(watch->user, &m);
  }
}

static inline __u64 nic_left(const struct nic_watched_record* watched, const struct nic_backoff* backoff, __u64 epoch,
                             __u64 now_ns) {
  const __u64 due_ns = watched->epoch == epoch ? watched->next_ns : now_ns + backoff->ask_ns;
  return due_ns > now_ns ? due_ns - now_ns : 0;
}

/* In how many nanoseconds something is due again; all ones: when an operation begins. */
static inline __u64 nic_watch_wait(const struct nic_group* group, const struct nic_state* state,
                                   const struct nic_watch* watch, __u64 now_ns) {
  __u64 wait_ns = ~0ULL;
  const __u64 started = nic_load(&state->started);
  if (nic_load(&state->broken) != 0) return wait_ns;
  for (__u64 epoch = nic_load(&state->completed) + 1; epoch <= started; ++epoch) {
    const __u64 left_ns = nic_left(&watch->record[nic_index_of(epoch)], &watch->backoff, epoch, now_ns);
    if (left_ns < wait_ns) wait_ns = left_ns;
  }
  for (__u64 epoch = nic_oldest_sent(started); epoch <= started; ++epoch) {
    const __u64 word = nic_look(&state->record[nic_index_of(epoch)], epoch);
    if (nic_unacknowledged(group, state, epoch, word) == 0) continue;
    const __u64 left_ns = nic_left(&watch->unacknowledged[nic_index_of(epoch)], &watch->backoff, epoch, now_ns);
    if (left_ns < wait_ns) wait_ns = left_ns;
  }
  return wait_ns;
}

/* To be called regularly while an operation is under way. Returns how many complete operations it found that had not
 * been counted yet. */
static inline __u32 nic_watch_group(const struct nic_group* group, struct nic_state* state, struct nic_watch* watch,
                                    __u64 now_ns) {
  if (nic_load(&state->broken) != 0) return 0;
  nic_learn_from_answer(state, watch, now_ns);
  const __u32 advanced = nic_advance(group, state);
  const __u64 started = nic_load(&state->started);
  for (__u64 epoch = nic_load(&state->completed) + 1; epoch <= started; ++epoch) {
    nic_watch_operation(group, state, watch, epoch, now_ns);
    if (nic_load(&state->broken) != 0) return advanced;
  }
  for (__u64 epoch = nic_oldest_sent(started); epoch <= started; ++epoch)
    nic_watch_acknowledgements(group, state, watch, epoch, now_ns);
  return advanced;
}

#endif
