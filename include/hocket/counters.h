/* SPDX-License-Identifier: BSD-3-Clause */
/* What hocket counts in this process, for tools that measure programs. Part of the C API; what hocket.h says of status
 * holds here, too.
 *
 *   hocket_counters_enable(1);
 *   for (int i = 0; i < hocket_counter_count(); ++i) {
 *     uint64_t value;
 *     if (hocket_counter_read(i, &value) == HOCKET_OK) printf("%s %llu\n", hocket_counter_name(i), ...);
 *   }
 *
 * Counters only grow, from 0 on: who wants an interval's reads twice. They are of all comms and all threads of the
 * process, and of blocking calls that have ended without an error. A release may add counters behind those that there
 * are; names and what they mean stay.
 *
 * Thread safety: any thread, at any time. A counter is read as a whole, several are not read at one time. */
#ifndef HOCKET_COUNTERS_H
#define HOCKET_COUNTERS_H

#include "hocket.h"

#ifdef __cplusplus
extern "C" {
#endif

/* From the next call on, calls are counted (1) or not (0), which takes some hundred nanoseconds a call. The answer is
 * what held before. Ranks that don't count are never seen as late by others: enable it on all. */
HOCKET_API int hocket_counters_enable(int enabled);

/* How many there are; they are numbered from 0. */
HOCKET_API int hocket_counter_count(void);
/* "calls", and what it is, as a sentence with its unit; NULL: there is none of that number. */
HOCKET_API const char* hocket_counter_name(int counter);
HOCKET_API const char* hocket_counter_description(int counter);

/* Its value now. HOCKET_ERR_INVALID_ARGUMENT: there is none of that number, or `value` is NULL. */
HOCKET_API hocket_status_t hocket_counter_read(int counter, uint64_t* value);

#ifdef __cplusplus
}
#endif

#endif /* HOCKET_COUNTERS_H */
