/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A group as one of its members knows it, and the stage tables that schedules become.
 *
 * A program is one member's part of one collective: stages, each with the arrivals that must have come before its
 * messages go out. All masks are of the record's bits (record.h): an arrival has a bit, and so has the host's start.
 * A mask contains those of the stages before it, so how far a program has got is a function of the record alone.
 *
 * A program that votes: one member asks all, by one packet; each answers whether its host has begun, by a message or a
 * veto; all are told, and by a message are done. One veto, and the stages that need NIC_VETOED follow instead. A veto
 * sets that bit wherever it comes, as does the question where the host hasn't begun.
 *
 * Written by whoever owns the engine, before the group is in use; never by a job. */
#ifndef HOCKET_PROTOCOL_TABLE_H
#define HOCKET_PROTOCOL_TABLE_H

#include "protocol/packet.h"

enum {
  NIC_MOST_ARRIVALS = 47, /* of one member in one program: the record has so many bits */
  NIC_MOST_SENDS = 47,    /* the same: acknowledgements have a record of their own */
  NIC_MOST_STAGES = 16,
  NIC_MOST_PROGRAMS = 8,
  NIC_MOST_MEMBERS = 4096,
  NIC_MOST_GROUPS = 512, /* of an engine: its report fits into one message */
  NIC_WINDOW = 32,       /* operations of a group that have a record at the same time */
  NIC_IN_FLIGHT = 16,    /* operations that a host may have begun and not finished: half the window (record.h) */
};

enum nic_program_flags {
  NIC_RELIABLE_WIRE = 1, /* no message is missed: nothing is asked for again */
  NIC_ACKNOWLEDGED = 2,  /* each message by itself, and its sender repeats it */
  NIC_VOTES = 4,         /* the only ones with messages to NIC_ALL, and whose first stage may not need the host */
};

struct nic_send {
  __u16 member; /* or NIC_ALL */
  __u8 bit;     /* at that member */
  __u8 stage;
};

struct nic_arrival {
  __u16 member;
  __u8 send; /* in that member's list */
  __u8 reserved;
};

struct nic_program {
  __u64 all;     /* complete when these have come */
  __u64 instead; /* or, once there is a veto, these */
  __u8 stages;
  __u8 sends;
  __u8 arrivals;
  __u8 flags;
  __u8 question; /* the arrival that asks, of a program that votes; NIC_MOST_ARRIVALS: of whom asks */
  __u8 reserved[3];
  __u64 need[NIC_MOST_STAGES];    /* before the stage's messages go out */
  __u8 end_send[NIC_MOST_STAGES]; /* stage i sends [end_send[i-1], end_send[i]) */
  struct nic_send send[NIC_MOST_SENDS + 1];
  struct nic_arrival arrival[NIC_MOST_ARRIVALS + 1];
};

struct nic_group {
  __u64 id;
  struct nic_key key;
  __u16 self;
  __u16 size;
  __u16 programs;
  __u16 reserved;
  struct nic_program program[NIC_MOST_PROGRAMS];
};

/* `index` below NIC_MOST_PROGRAMS. The compiler, which may know that, must not leave the mask out: the verifier sees
 * other registers than those that were compared. */
NIC_INLINE const struct nic_program* nic_program_at(const struct nic_group* group, __u64 index) {
  __asm__ volatile("" : "+r"(index));
  return &group->program[index % NIC_MOST_PROGRAMS];
}

#endif
