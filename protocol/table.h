/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A group as one of its members knows it, and the stage tables that schedules become.
 *
 * A program is one member's part of one collective: stages, each with the arrivals that must have come before its
 * messages go out. All masks are of the record's bits (record.h): an arrival has a bit, and so has the host's start.
 * A mask contains those of the stages before it, so how far a program has got is a function of the record alone.
 *
 * What a message carries is a function of the operands that must have come before it: the program has a list of them,
 * in the order in which they are combined, and a message's content is a run of that list. So a result depends on
 * nothing but the operands, and what is asked for again is worked out again. Operands have places: the host's is 0.
 *
 * A program may combine some of its operands as they come instead: then a content of several of them, which is always
 * all of these, is in whatever order they came, and so is its result (operands.h).
 *
 * A program with slices is an exchange: the host's operand has a slice for each member, and its result, in place 1, a
 * slice from each.
 *
 * A program with a root is written for root 0. From another root, the operand goes to member 0 before; to another, the
 * result goes there from member 0 in the end: this message is bit 0 of every member that may get it. So the order of
 * operands does not depend on the root.
 *
 * A program that votes: one member asks all, by one packet; each answers with a message if its host has started, else
 * with a veto. The asking member sends the outcome to all: without a veto the operation is complete, otherwise the
 * stages that need NIC_VETOED follow. A veto sets that bit wherever it comes, as does the question where the host
 * hasn't started.
 *
 * The engine's owner writes all of this before the group is in use; a job never does.
 *
 * Thread safety: any number of processors may read a group that is in use. */
#ifndef HOCKET_PROTOCOL_TABLE_H
#define HOCKET_PROTOCOL_TABLE_H

#include "protocol/operation.h"

enum {
  NIC_MOST_ARRIVALS = 47, /* of one member in one program: as many as the record has bits */
  NIC_MOST_SENDS = 47,    /* the same: acknowledgements have a record of their own */
  NIC_MOST_STAGES = 16,
  NIC_MOST_FOLDS = 64, /* power of two */
  NIC_MOST_PROGRAMS = 16,
  NIC_MOST_MEMBERS = 4096,
  NIC_MOST_GROUPS = 512, /* of an engine: its report fits into one message */
  NIC_WINDOW = 40,       /* operations of a group that have a record at the same time */
  NIC_IN_FLIGHT = 16,    /* operations that a host may have started and not finished */
  /* Of this many successive operations, one is such that a member that has completed it knows that all hosts have
   * started it: the one whose number is a multiple of this. Why, and why the window is so wide: record.h. */
  NIC_SYNCHRONIZES = 8,
};

/* In place of a member. */
enum {
  NIC_ROOT = 0xfffe,     /* the root, unless that is oneself */
  NIC_HUB = 0xfffd,      /* member 0, if oneself is the root */
  NIC_NOT_USED = 0xfffc, /* a bit that others have */
};

enum {
  NIC_NO_OPERAND = 0xff, /* a message without content */
  NIC_WHOLE = 0xff,      /* no slice */
  NIC_IS_LEFT = 0x80,    /* beside a place in the list of operands: combined from the left */
};

enum nic_program_flags {
  NIC_RELIABLE_WIRE = 1, /* no message is missed: nothing is sent again, and one that doesn't come breaks the group */
  NIC_ACKNOWLEDGED = 2,  /* each message by itself, and its sender repeats it; none has content */
  NIC_VOTES = 4,         /* the only ones with messages to NIC_ALL, and whose first stage may not need the host */
  NIC_TO_ROOT = 8,       /* only the root gets the result */
  NIC_FROM_ROOT = 16,    /* only the root's host gives an operand */
};

/* [first, end) of the program's list of operands; nothing where they are equal. */
struct nic_content {
  __u8 first;
  __u8 end;
};

struct nic_send {
  __u16 member; /* or NIC_ALL, NIC_ROOT, NIC_HUB */
  __u8 bit;     /* at that member */
  __u8 slice;   /* of the content, or NIC_WHOLE */
  struct nic_content content;
};

struct nic_arrival {
  __u16 member; /* or NIC_ROOT, NIC_NOT_USED */
  __u8 send;    /* in that member's list */
  __u8 operand; /* the place where its content goes, or NIC_NO_OPERAND */
  __u8 slice;   /* of that place, or NIC_WHOLE */
  __u8 depth;   /* how many messages there are one after the other up to and with this one, at most; 255: or more */
};

struct nic_program {
  __u64 all;     /* complete when these have come */
  __u64 instead; /* or, once there is a veto, these */
  __u64 pooled;  /* a bit for each place whose operand is combined when it comes; 0: all are kept as they are */
  __u8 stages;
  __u8 sends;
  __u8 arrivals;
  __u8 flags;
  __u8 question;          /* the arrival that asks, of a program that votes; NIC_MOST_ARRIVALS: of whom asks */
  __u8 operands;          /* places; 0: no message has content */
  __u8 slices;            /* 0: operands go as they are */
  __u8 folds;             /* in the list of operands */
  struct nic_send result; /* what the host gets, by its content: nothing, or with NIC_PUBLISHED in `all` */
  __u8 reserved[2];
  __u64 need[NIC_MOST_STAGES];    /* before the stage's messages go out */
  __u8 end_send[NIC_MOST_STAGES]; /* stage i sends [end_send[i-1], end_send[i]) */
  struct nic_send send[NIC_MOST_SENDS + 1];
  struct nic_arrival arrival[NIC_MOST_ARRIVALS + 1];
  __u8 fold[NIC_MOST_FOLDS]; /* places, and NIC_IS_LEFT */
};

struct nic_group {
  __u64 id;
  struct nic_key key;
  __u16 self;
  __u16 size;
  __u16 programs;
  __u16 operands;   /* places of one operation: as many as the program has that needs most */
  __u16 unexpected; /* how many operations ahead of the host operands are kept; what is further ahead is rejected */
  __u16 reserved[3];
  struct nic_program program[NIC_MOST_PROGRAMS];
};

/* `index` below NIC_MOST_PROGRAMS. The compiler, which may know that, must not leave the mask out: the verifier sees
 * other registers than those that were compared. */
NIC_INLINE const struct nic_program* nic_program_at(const struct nic_group* group, __u64 index) {
  __asm__ volatile("" : "+r"(index));
  return &group->program[index % NIC_MOST_PROGRAMS];
}

/* Beyond the last member the list is empty. The mask is for the verifier, as above. */
NIC_INLINE const struct nic_send* nic_send_at(const struct nic_program* program, __u64 number) {
  __asm__ volatile("" : "+r"(number));
  return &program->send[number < NIC_MOST_SENDS ? number : (__u64)NIC_MOST_SENDS];
}
NIC_INLINE const struct nic_arrival* nic_arrival_at(const struct nic_program* program, __u64 bit) {
  __asm__ volatile("" : "+r"(bit));
  return &program->arrival[bit < NIC_MOST_ARRIVALS ? bit : (__u64)NIC_MOST_ARRIVALS];
}
NIC_INLINE __u32 nic_fold_at(const struct nic_program* program, __u64 entry) {
  __asm__ volatile("" : "+r"(entry));
  return program->fold[entry % NIC_MOST_FOLDS];
}

#endif
