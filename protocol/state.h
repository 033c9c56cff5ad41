/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A group's operations: what is behind it, what is under way, and what follows when something has come.
 *
 * Thread safety: any number of processors at the same time. Exactly one of them is told what to send. */
#ifndef HOCKET_PROTOCOL_STATE_H
#define HOCKET_PROTOCOL_STATE_H

#include "protocol/operands.h"

/* What a group has behind it and under way. Never in memory that a job may write. */
struct nic_state {
  __u64 started;   /* the newest operation that the host has started */
  __u64 completed; /* this one and all before it are done */
  __u64 broken;    /* 0, or enum nic_cause | member << 8: whose fault it is */
  __u64 heard;     /* of the last answer to a probe: nic_echo_of() */
  __u64 heard_ns;  /* and when it came */
  __u64 record[NIC_WINDOW];
  __u64 acknowledged[NIC_WINDOW]; /* sends, of programs that want it, and of those that are owed: the same layout */
  __u64 owed[NIC_WINDOW];         /* sends that were asked for before they were reached: the same layout */
  __u64 promised[NIC_WINDOW];     /* arrivals that their sender owes; on a reliable wire, has sent: the same layout */
  __u64 claimed[NIC_WINDOW];      /* operands that a processor writes or has written: the same layout */
  __u64 call[NIC_WINDOW];         /* call.h */
  __u64 pool[NIC_WINDOW];         /* operands.h */
};

enum nic_cause {
  NIC_CAUSE_SILENT = 1, /* a member has been silent for too long */
  NIC_CAUSE_LEFT,       /* its process has ended */
  NIC_CAUSE_DISAGREES,  /* it takes part in another collective */
  NIC_CAUSE_LOST,       /* a message of its has been lost on a wire that was said to lose nothing */
  NIC_CAUSES,
};

/* What became of a packet or a doorbell. */
enum nic_verdict {
  NIC_TAKEN,
  NIC_DUPLICATE,    /* it had come before */
  NIC_STALE,        /* of an operation that is over here */
  NIC_EARLY,        /* of an operation that no member can have started */
  NIC_BROKEN,       /* the group is */
  NIC_MISDIRECTED,  /* for another member */
  NIC_NO_PROGRAM,   /* the group has no such program */
  NIC_NOT_EXPECTED, /* the program expects nothing like it from there */
  NIC_DISAGREEMENT, /* the operation is of another program here, or another call */
  NIC_UNSOUND,      /* a call that the program can't do */
  NIC_REJECTED,     /* an operand for which there is no room before the host begins: to be asked for again */
  NIC_TOO_MANY,     /* operations in flight */
  NIC_OUT_OF_TURN,  /* operations begin one after the other */
  NIC_CONTENDED,    /* given up because several processors wanted the record: the message will be asked for again */
  NIC_UNKNOWN_KIND,
  NIC_VERDICTS,
} __attribute__((packed));

/* Small, since the kernel's programs have little room for it. */
struct nic_outcome {
  __u64 call; /* of what goes out */
  __u64 owed; /* which of the messages were asked for before they could go out */
  enum nic_verdict verdict;
  __u8 first_send; /* of the message's program: [first_send, end_send) go out now */
  __u8 end_send;
  __u8 reply;     /* 0, or the kind of what goes back to the source */
  __u8 repeats;   /* whether what goes out has gone out before */
  __u8 vetoes;    /* whether what goes out says no */
  __u8 publishes; /* whether the host is to be given the result: nic_published() */
  __u8 waits;     /* whether what has come is kept until the host begins */
  __u8 completed; /* operations, one after the other */
  __u8 reserved[7];
};

NIC_INLINE struct nic_outcome nic_refused(enum nic_verdict verdict) {
  struct nic_outcome outcome = {0, 0, verdict, 0, 0, 0, 0, 0, 0, 0, 0, {0, 0, 0, 0, 0, 0, 0}};
  return outcome;
}

NIC_INLINE __u64* nic_record(struct nic_state* state, __u64 epoch) { return &state->record[nic_index_of(epoch)]; }

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
                                         const struct nic_program* program, __u64 epoch,
                                         const struct nic_change* change) {
  struct nic_outcome outcome = nic_refused(NIC_TAKEN);
  outcome.first_send = (__u8)nic_sends_reached(program, change->before);
  outcome.end_send = (__u8)nic_sends_reached(program, change->after);
  outcome.vetoes = nic_is_vetoed(program, change->after);
  /* After the change, which orders: nic_promise() looks at the record after it has set its bit. */
  outcome.owed = nic_look(&state->owed[nic_index_of(epoch)], epoch);
  if (nic_is_complete(program, change->after)) {
    outcome.completed = (__u8)nic_advance(group, state);
  } else if (program->operands != 0) {
    outcome.publishes = nic_is_complete(program, change->after | NIC_PUBLISHED) &&
                        !nic_is_complete(program, change->before | NIC_PUBLISHED);
  }
  return outcome;
}

/* The host has been given the result of an operation, as an outcome wanted. Gives how many are complete now. */
NIC_INLINE __u32 nic_published(const struct nic_group* group, struct nic_state* state, __u32 program, __u64 epoch) {
  struct nic_change change;
  (void)nic_set(nic_record(state, epoch), epoch, nic_blank(epoch, program), NIC_PUBLISHED, &change);
  return nic_advance(group, state);
}

NIC_INLINE void nic_break(struct nic_state* state, enum nic_cause cause, __u32 member) {
  (void)nic_compare_exchange(&state->broken, 0, (__u64)cause | (__u64)member << 8);
}

#endif
