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
  __u64 ask_ns;     /* how long until a message counts as missing and is asked for */
  __u64 most_ns;    /* the longest time until it is asked for again, which is a quarter of the time that it has been
                       missing */
  __u64 silence_ns; /* how long a member may be silent until it counts as gone */
};

struct nic_watched_member {
  __u64 received_ns; /* when the count of its signs of life was last seen to grow */
  __u32 signs_of_life;
  __u32 reserved;
};

struct nic_watched_record {
  __u64 epoch;
  __u64 since_ns;
  __u64 next_ns;
};

struct nic_watch {
  struct nic_backoff backoff;
  struct nic_watched_record record[NIC_WINDOW];
  struct nic_watched_record unacknowledged[NIC_WINDOW];
  struct nic_watched_member* member; /* of the group's size */
  const __u32* signs_of_life;        /* signs of life of each member, which the engine counts */
  __u32 signs_of_life_stride;        /* of these, in bytes */
  void (*emit)(void* user, const struct nic_message* message);
  void* user;
};

static inline __u32 nic_signs_of_life(const struct nic_watch* watch, __u32 member) {
  return *(const volatile __u32*)((const char*)watch->signs_of_life + (__u64)member * watch->signs_of_life_stride);
}

/* Whether the record's time has come; the next time is later. */
static inline int nic_is_due(struct nic_watched_record* watched, const struct nic_backoff* backoff, __u64 epoch,
                             __u64 now_ns) {
  if (watched->epoch != epoch) {
    watched->epoch = epoch;
    watched->since_ns = now_ns;
    watched->next_ns = now_ns + backoff->ask_ns;
    return 0;
  }
  if (now_ns < watched->next_ns) return 0;
  const __u64 quarter = (now_ns - watched->since_ns) / 4;
  const __u64 wait_ns = quarter > backoff->ask_ns ? quarter : backoff->ask_ns;
  watched->next_ns = now_ns + (wait_ns < backoff->most_ns ? wait_ns : backoff->most_ns);
  return 1;
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

/* Asks for what is missing of an operation that has been started here. */
static inline void nic_watch_operation(const struct nic_group* group, struct nic_state* state, struct nic_watch* watch,
                                       __u64 epoch, __u64 now_ns) {
  struct nic_watched_record* watched = &watch->record[nic_index_of(epoch)];
  if (!nic_is_due(watched, &watch->backoff, epoch, now_ns)) return;
  const __u64 word = nic_look(nic_record(state, epoch), epoch);
  if ((word & NIC_STARTED) == 0) return;
  const __u32 index = (__u32)nic_program_of(word) % NIC_MOST_PROGRAMS;
  const struct nic_program* program = nic_program_at(group, index);
  /* On a wire that loses nothing, only signs of life are asked for; where messages are acknowledged, the sender repeats
   * them. */
  const int asks = (program->flags & (NIC_RELIABLE_WIRE | NIC_ACKNOWLEDGED)) == 0;
  const __u64 missing = nic_wanted(program, word) & ~word;
  const __u32 root = nic_call_root(nic_described(&state->call[nic_index_of(epoch)], epoch));
  for (__u32 bit = 0; bit < program->arrivals; ++bit) {
    if ((missing >> bit & 1) == 0) continue;
    const struct nic_arrival* arrival = &program->arrival[bit];
    const __u32 member = nic_source_of(arrival, root);
    if (member >= group->size) continue; /* an operation has its call before it has started */
    if (nic_is_silent(watch, member, watched->since_ns, now_ns)) {
      nic_break(state, NIC_CAUSE_SILENT, member);
      nic_report_to_all(group, state, watch);
      return;
    }
    struct nic_message m = nic_outgoing(group, asks ? NIC_NACK : NIC_PROBE, epoch, (__u8)index);
    m.target = (__u16)member;
    m.send = arrival->send;
    m.bit = (__u8)bit;
    watch->emit(watch->user, &m);
  }
}

/* The oldest operation of which messages may have to be repeated. */
static inline __u64 nic_oldest_sent(__u64 started) { return started >= NIC_WINDOW ? started - NIC_WINDOW + 1 : 1; }

/* Which sends of the operation have gone out and not been acknowledged, where that is wanted. */
static inline __u64 nic_unacknowledged(const struct nic_group* group, const struct nic_state* state, __u64 epoch) {
  const __u64 word = nic_look(&state->record[nic_index_of(epoch)], epoch);
  if ((word & NIC_STARTED) == 0) return 0;
  const struct nic_program* program = nic_program_at(group, nic_program_of(word));
  if ((program->flags & NIC_ACKNOWLEDGED) == 0) return 0;
  const __u64 sent = (1ULL << nic_sends_reached(program, word)) - 1;
  return sent & ~nic_look(&state->acknowledged[nic_index_of(epoch)], epoch);
}

/* Repeats what has not been acknowledged. */
static inline void nic_watch_acknowledgements(const struct nic_group* group, struct nic_state* state,
                                              struct nic_watch* watch, __u64 epoch, __u64 now_ns) {
  const __u64 missing = nic_unacknowledged(group, state, epoch);
  if (missing == 0 || !nic_is_due(&watch->unacknowledged[nic_index_of(epoch)], &watch->backoff, epoch, now_ns)) return;
  const __u8 program = (__u8)nic_program_of(nic_look(nic_record(state, epoch), epoch));
  for (__u32 number = 0; number < NIC_MOST_SENDS; ++number) {
    struct nic_message m;
    if ((missing >> number & 1) != 0 && nic_sent(group, program, epoch, 0, number, &m) != 0)
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
    if (nic_unacknowledged(group, state, epoch) == 0) continue;
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
