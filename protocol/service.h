/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How a job speaks to the service that owns a machine's NIC engine: messages over an abstract Unix socket of the
 * network namespace that keeps their borders. A connection stands for a process: when it ends, the groups that it has
 * not left are broken.
 *
 * Nothing here is secret from the job, and nothing that the job says is trusted by others: it describes its own group.
 * All numbers are the machine's own.
 *
 * Thread safety: values. */
#ifndef HOCKET_PROTOCOL_SERVICE_H
#define HOCKET_PROTOCOL_SERVICE_H

#include "protocol/table.h"

enum {
  NIC_SERVICE_VERSION = 5,
  NIC_TEXT_BYTES = 240,
  NIC_INTERFACE_BYTES = 16,
  NIC_MOST_DOORBELL_BYTES = 128,
};

/* The socket of interface eth0 is called so, with the name behind it. */
#define NIC_SERVICE_NAME "hocket-nic/"

enum nic_request_kind {
  NIC_REQUEST_HELLO = 1, /* struct nic_request; answer: struct nic_hello */
  NIC_REQUEST_JOIN,      /* struct nic_join, its programs, its members; answer: struct nic_joined, 2 or 3 descriptors */
  NIC_REQUEST_LEAVE,     /* struct nic_leave; no answer */
  NIC_REQUEST_STATUS,    /* struct nic_request; answer: text, JSON */
  NIC_REQUEST_DOWN,      /* struct nic_request; answer: struct nic_answer, then the service ends */
};

struct nic_request {
  __u32 version;
  __u32 kind;
};

struct nic_answer {
  __u32 version;
  __s32 error; /* 0, or an errno; `text` says what is wrong and what helps */
  char text[NIC_TEXT_BYTES];
};

struct nic_hello {
  struct nic_answer answer;
  char engine[16]; /* "kernel" or "agent" */
  char interface[NIC_INTERFACE_BYTES];
  __u32 ip;   /* big-endian: where the engine is reached */
  __u16 port; /* big-endian */
  __u16 most_members;
  __u32 free_groups;
  __u32 reserved;
};

struct nic_peer {
  __u32 ip; /* big-endian */
  __u16 port;
  __u16 reserved;
};

/* Followed by `programs` of struct nic_program and `size` of struct nic_peer. */
struct nic_join {
  struct nic_request request;
  __u64 id;
  struct nic_key key;
  __u64 silence_ns; /* after which a member counts as gone; 0: the service's default */
  __u16 self;
  __u16 size;
  __u16 programs;
  __u16 has_doorbell; /* whether the doorbell for all groups of the connection has come already, and is there */
};

/* Comes with the page (to be mapped), the wake-up socket (to be slept on) and the doorbell (to be sent to), in this
 * order. Wake-up socket and doorbell may be one socket. A doorbell that is shared is for all groups of the connection
 * that say so, and doesn't come again to whoever has it. What is sent to the doorbell are doorbell_bytes of `doorbell`,
 * with the words of a packet at words_at, which name `group`, followed by the words that the packet carries. */
struct nic_joined {
  struct nic_answer answer;
  __u32 group; /* its number here */
  __u16 doorbell_bytes;
  __u16 words_at;
  __u32 is_shared; /* the doorbell */
  __u8 doorbell[NIC_MOST_DOORBELL_BYTES];
};

struct nic_leave {
  struct nic_request request;
  __u32 group;
  __u32 is_failure; /* the other members are told that this one has gone */
};

#endif
