/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a job and the engine share of a group: a doorbell one way, a page the other.
 *
 * The engine reads nothing from the page but whether the job sleeps: the job may write all of it, but harms only
 * itself.
 *
 * Thread safety: what the job writes, one thread of it writes at a time; several processors may add to `done`. An
 * operation's result is written before `done` counts it, so a job that sees the new number sees the result. */
#ifndef HOCKET_PROTOCOL_PAGE_H
#define HOCKET_PROTOCOL_PAGE_H

#include "protocol/table.h"

enum {
  /* In place of a kind: the host begins operation `epoch` by `program`, and gives its operand. Never leaves the
   * machine, and bears no tag: the socket that it comes from says whose it is. */
  NIC_DOORBELL = 15,
};

/* What a job sees of its group. */
struct nic_page {
  /* Written by the engine. */
  __u64 done; /* operations completed */
  __u64 broken;
  __u64 reserved[6];
  /* Written by the job. */
  __u32 sleeps; /* whether the job wants to be woken by a packet */
  __u32 reserved_too[15];
  /* Written by the engine: of operation e, in number e modulo NIC_IN_FLIGHT, before `done` says that it is complete.
   * To be read before operation e + NIC_IN_FLIGHT is started. */
  struct nic_operand result[NIC_IN_FLIGHT];
};

#endif
