/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the NIC engine's programs and the service that loads them share, beside protocol/. Nothing of it lies in memory
 * that a job may write.
 *
 * Thread safety: any number of processors may read it; `signs_of_life` they count by atomic additions. */
#ifndef HOCKET_BPF_NIC_H
#define HOCKET_BPF_NIC_H

#include "protocol/counters.h"
#include "protocol/page.h"

enum {
  NIC_MEMBER_POOL = 8 * (NIC_MOST_MEMBERS + 1), /* entries of all groups together: two of the largest communicators */
  NIC_OPERAND_POOL = 65536,                     /* operands of all groups together: 32 MiB */
  NIC_MARK = 0x686b6e63,                        /* of packets that the engine itself sends */
  NIC_ETHERNET_BYTES = 14,
  NIC_IP_BYTES = 20,
  NIC_UDP_BYTES = 8,
  NIC_BEFORE_HEADER = NIC_ETHERNET_BYTES + NIC_IP_BYTES + NIC_UDP_BYTES,
  NIC_FRAME_BYTES = NIC_BEFORE_HEADER + NIC_HEADER_BYTES, /* of a packet that carries nothing */
  NIC_TTL = 64,
};

/* How a member is reached, in the bytes of a frame. Behind a group's members is one entry more, for NIC_ALL: the
 * group's multicast address. */
struct nic_member {
  __u8 mac[6]; /* of the next hop */
  __u16 port;  /* big-endian, as all that follows */
  __u32 ip;
  __u16 ip_check;      /* of the header between this member and oneself, either way, of a packet that carries nothing */
  __u16 is_peer;       /* whether a program of the group speaks with it; else the above are not all known */
  __u32 signs_of_life; /* packets from it that show that its engine is alive */
  __u32 reserved_too;
};

/* A socket whose packets are rings for the slot that they name. */
struct nic_doorbell {
  __u64 socket; /* its cookie */
  __u64 slot;
};

struct nic_slot {
  struct nic_group group;
  __u32 first_member;  /* in the pool */
  __u32 first_operand; /* the same */
  __u32 interface;
  __u8 mac[6];
  __u16 port; /* big-endian, these, too */
  __u32 ip;
  __u16 wakeup_port; /* where the job listens while it sleeps; 0: it never sleeps */
  __u16 reserved;
  __u32 reserved_too;
};

#endif
