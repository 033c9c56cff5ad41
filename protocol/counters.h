/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What an engine counts. tools/nic/report.cc has the names by which it is shown.
 *
 * Thread safety: constants. */
#ifndef HOCKET_PROTOCOL_COUNTERS_H
#define HOCKET_PROTOCOL_COUNTERS_H

#include "protocol/machine.h"

/* Counted beside the verdicts of protocol/machine.h: what the packet's way ended with before it came to those. */
enum nic_other_verdict {
  NIC_BAD_LENGTH = NIC_VERDICTS, /* not a header and 0 to 64 whole words */
  NIC_BAD_TAG,
  NIC_NO_GROUP,   /* passed on: it may be an agent's */
  NIC_NO_ROOM,    /* the kernel could not send */
  NIC_SENT,       /* messages sent */
  NIC_RESENT,     /* messages sent again, not counted above */
  NIC_REPLIED,    /* answers to questions, acknowledgements */
  NIC_WOKEN,      /* sleepers */
  NIC_DOORBELLS,  /* operations started by the hosts */
  NIC_OPERATIONS, /* completed */
  NIC_KEPT,       /* operands that have come before the host has started */
  NIC_IN_DRIVER,  /* packets that the driver's program was done with */
  NIC_ASKED,      /* questions: for messages that are missing, and whether members live */
  NIC_COUNTERS,
};

#endif
