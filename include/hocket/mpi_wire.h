/* SPDX-License-Identifier: BSD-3-Clause */
/* An MPI's point-to-point as hocket's wire between nodes: for programs that use MPI and call hocket's C API.
 *
 *   hocket_mpi_wire_t mpi;
 *   hocket_mpi_wire_open(&mpi, MPI_COMM_WORLD);
 *   hocket_context_options_t options = {sizeof options};
 *   options.wire = &mpi.wire;
 *   hocket_context_create(&options, &context);
 *   ...
 *   hocket_context_destroy(context);
 *   hocket_mpi_wire_close(&mpi);
 *
 * All code is in this header, compiled against the program's own mpi.h; hocket itself is linked with no MPI. It defines
 * HOCKET_MPI(name) as the MPI function of that name; define it first to have other names (PMPI_..., function pointers).
 *
 * Errors: a message that is longer than its receive is HOCKET_ERR_MISMATCH under Open MPI and MPICH from version 5 on.
 * MPICH 4 and Intel MPI tell of it by the error handlers of MPI_COMM_WORLD and MPI_COMM_SELF, which are the program's:
 * if these are fatal, as they are by default, it ends the job in the MPI's own words.
 *
 * Thread safety: that of the MPI; several threads that use comms of several nodes need MPI_THREAD_MULTIPLE.
 */
#ifndef HOCKET_MPI_WIRE_H
#define HOCKET_MPI_WIRE_H

#include <limits.h>
#ifndef MPI_VERSION
#include <mpi.h>
#endif
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hocket/hocket.h"

#ifndef HOCKET_MPI
#define HOCKET_MPI(name) MPI_##name
#endif

typedef struct hocket_mpi_wire {
  hocket_wire_t wire;
  MPI_Comm comm; /* of our own: what the program sends can't be mistaken for hocket's */
  MPI_Datatype byte;
  int tests_one_by_one;
} hocket_mpi_wire_t;

/* How many requests are looked at in one go. */
#define HOCKET_MPI_AT_ONCE 64
/* How often what can't be cancelled is looked at before it is left alone. */
#define HOCKET_MPI_LAST_LOOKS 1000

/* A request of the MPI as a number that is not 0. */
static inline uint64_t hocket_mpi_number(MPI_Request request) {
  uint64_t number = 0;
  memcpy(&number, &request, sizeof request);
  return number + 1;
}
static inline MPI_Request hocket_mpi_request(uint64_t number) {
  MPI_Request request;
  --number;
  memcpy(&request, &number, sizeof request);
  return request;
}

static inline int hocket_mpi_answer(int code) {
  int error_class = MPI_ERR_OTHER;
  if (code == MPI_SUCCESS) return 0;
  HOCKET_MPI(Error_class)(code, &error_class);
  return error_class == MPI_ERR_TRUNCATE ? HOCKET_ERR_MISMATCH : HOCKET_ERR_SYSTEM;
}

static inline int hocket_mpi_send(uint32_t to, uint32_t tag, const void* data, size_t bytes, uint64_t* number,
                                  void* user) {
  hocket_mpi_wire_t* self = (hocket_mpi_wire_t*)user;
  MPI_Request request;
  int code;
  if (bytes > INT_MAX) return HOCKET_ERR_NOT_SUPPORTED;
  code = HOCKET_MPI(Isend)(data, (int)bytes, self->byte, (int)to, (int)tag, self->comm, &request);
  if (code == MPI_SUCCESS) *number = hocket_mpi_number(request);
  return hocket_mpi_answer(code);
}

static inline int hocket_mpi_receive(uint32_t from, uint32_t tag, void* data, size_t bytes, uint64_t* number,
                                     void* user) {
  hocket_mpi_wire_t* self = (hocket_mpi_wire_t*)user;
  MPI_Request request;
  int code;
  if (bytes > INT_MAX) return HOCKET_ERR_NOT_SUPPORTED;
  code = HOCKET_MPI(Irecv)(data, (int)bytes, self->byte, (int)from, (int)tag, self->comm, &request);
  if (code == MPI_SUCCESS) *number = hocket_mpi_number(request);
  return hocket_mpi_answer(code);
}

/* MPICH 5 reports a failed request through its communicator's error handler, which is ours, only if the request is
 * tested alone (MPI_Test); in MPI_Testsome through that of MPI_COMM_SELF or MPI_COMM_WORLD, whichever has been set, and
 * these are the program's: to set one and set it back is a change, since "never set" is then over. */
static inline int hocket_mpi_test_one_by_one(int count, uint64_t* numbers, size_t* received,
                                             const hocket_mpi_wire_t* self) {
  int i;
  for (i = 0; i < count; ++i) {
    MPI_Request request = hocket_mpi_request(numbers[i]);
    MPI_Status status;
    int done = 0;
    int bytes = 0;
    int code = HOCKET_MPI(Test)(&request, &done, &status);
    if (code == MPI_SUCCESS && !done) continue;
    numbers[i] = 0; /* also of one that failed: it is gone */
    received[i] = 0;
    if (code == MPI_SUCCESS) code = HOCKET_MPI(Get_count)(&status, self->byte, &bytes);
    if (code != MPI_SUCCESS) return hocket_mpi_answer(code);
    received[i] = bytes > 0 ? (size_t)bytes : 0;
  }
  return 0;
}

static inline int hocket_mpi_test_some(int count, uint64_t* numbers, size_t* received, const hocket_mpi_wire_t* self) {
  MPI_Request requests[HOCKET_MPI_AT_ONCE];
  MPI_Status statuses[HOCKET_MPI_AT_ONCE];
  int indices[HOCKET_MPI_AT_ONCE];
  int done = 0;
  int i;
  int code;
  for (i = 0; i < count; ++i) requests[i] = hocket_mpi_request(numbers[i]);
  code = HOCKET_MPI(Testsome)(count, requests, &done, indices, statuses);
  if (code != MPI_SUCCESS) {
    int error_class = MPI_ERR_OTHER;
    HOCKET_MPI(Error_class)(code, &error_class);
    if (error_class != MPI_ERR_IN_STATUS) return hocket_mpi_answer(code);
    code = MPI_SUCCESS;
    for (i = 0; i < done; ++i) {
      /* All of them are gone, those that failed and those that didn't. */
      numbers[indices[i]] = 0;
      received[indices[i]] = 0;
      if (code == MPI_SUCCESS) code = statuses[i].MPI_ERROR;
    }
    if (code != MPI_SUCCESS) return hocket_mpi_answer(code);
  }
  for (i = 0; i < done; ++i) {
    int bytes = 0;
    code = HOCKET_MPI(Get_count)(&statuses[i], self->byte, &bytes);
    if (code != MPI_SUCCESS) return hocket_mpi_answer(code);
    received[indices[i]] = bytes > 0 ? (size_t)bytes : 0;
    numbers[indices[i]] = 0;
  }
  return 0;
}

static inline int hocket_mpi_test(size_t count, uint64_t* numbers, size_t* received, void* user) {
  const hocket_mpi_wire_t* self = (const hocket_mpi_wire_t*)user;
  size_t first;
  if (count == 0) {
    /* A look for messages moves those that are under way. */
    int found = 0;
    return hocket_mpi_answer(HOCKET_MPI(Iprobe)(MPI_ANY_SOURCE, 0, self->comm, &found, MPI_STATUS_IGNORE));
  }
  for (first = 0; first < count; first += HOCKET_MPI_AT_ONCE) {
    const size_t rest = count - first;
    const int some = rest < HOCKET_MPI_AT_ONCE ? (int)rest : HOCKET_MPI_AT_ONCE;
    const int answer = self->tests_one_by_one
                           ? hocket_mpi_test_one_by_one(some, numbers + first, received + first, self)
                           : hocket_mpi_test_some(some, numbers + first, received + first, self);
    if (answer != 0) return answer;
  }
  return 0;
}

/* Receives are taken back that no message has been found for; sends are, too, by few MPIs. What is on its way gets some
 * time to come to its end, and is then left to the MPI, which may still use its memory. */
static inline void hocket_mpi_cancel(uint64_t number, void* user) {
  MPI_Request request = hocket_mpi_request(number);
  int done = 0;
  int look;
  int code;
  (void)user;
  code = HOCKET_MPI(Cancel)(&request);
  for (look = 0; code == MPI_SUCCESS && look < HOCKET_MPI_LAST_LOOKS && !done; ++look)
    code = HOCKET_MPI(Test)(&request, &done, MPI_STATUS_IGNORE);
  if (code == MPI_SUCCESS && !done) HOCKET_MPI(Request_free)(&request);
}

static inline int hocket_mpi_notify(uint32_t to, uint32_t tag, void* user) {
  uint64_t number = 0;
  const int answer = hocket_mpi_send(to, tag, NULL, 0, &number, user);
  MPI_Request request;
  if (answer != 0) return answer;
  request = hocket_mpi_request(number);
  return hocket_mpi_answer(HOCKET_MPI(Request_free)(&request));
}

static inline int hocket_mpi_take_notice(uint32_t tag, uint32_t* from, void* user) {
  hocket_mpi_wire_t* self = (hocket_mpi_wire_t*)user;
  MPI_Status status;
  int found = 0;
  int code = HOCKET_MPI(Iprobe)(MPI_ANY_SOURCE, (int)tag, self->comm, &found, &status);
  if (code != MPI_SUCCESS || !found) return hocket_mpi_answer(code);
  *from = (uint32_t)status.MPI_SOURCE;
  code = HOCKET_MPI(Recv)(NULL, 0, self->byte, status.MPI_SOURCE, (int)tag, self->comm, MPI_STATUS_IGNORE);
  return code == MPI_SUCCESS ? 1 : hocket_mpi_answer(code);
}

static inline int hocket_mpi_probe(uint32_t from, uint32_t tag, void* user) {
  const hocket_mpi_wire_t* self = (const hocket_mpi_wire_t*)user;
  int found = 0;
  const int code = HOCKET_MPI(Iprobe)((int)from, (int)tag, self->comm, &found, MPI_STATUS_IGNORE);
  return code == MPI_SUCCESS ? found != 0 : hocket_mpi_answer(code);
}

/* What tables call the MPI, "openmpi-5": they may choose otherwise where messages are started and looked for at another
   price, and its own collectives are better or worse. "" where it is none of these. */
static inline void hocket_mpi_name(const char* version, char* name, size_t size) {
  static const char* const kNames[][2] = {{"Open MPI", "openmpi"}, {"Intel(R) MPI", "intel"}, {"MPICH", "mpich"}};
  size_t i;
  name[0] = '\0';
  for (i = 0; i < sizeof kNames / sizeof kNames[0]; ++i) {
    const char* const found = strstr(version, kNames[i][0]);
    if (found == NULL) continue;
    if (snprintf(name, size, "%s-%d", kNames[i][1], atoi(found + strcspn(found, "0123456789\n"))) >= (int)size)
      name[0] = '\0';
    return;
  }
}
/* "MPICH Version:      5.0.2" */
static inline int hocket_mpi_is_mpich_5(const char* version) {
  static const char kWords[] = "MPICH Version:";
  const char* found = strstr(version, kWords);
  return found != NULL && atoi(found + sizeof kWords - 1) >= 5;
}

/* As hocket_mpi_wire_open(), for a caller that has the MPI's constants as values that are known at run time only. */
static inline int hocket_mpi_wire_open_by(hocket_mpi_wire_t* self, MPI_Comm comm, MPI_Datatype byte,
                                          MPI_Errhandler errors_return) {
  char version[MPI_MAX_LIBRARY_VERSION_STRING + 1] = "";
  void* most = NULL;
  int found = 0;
  int length = 0;
  int rank = 0;
  int size = 1;
  int code;
  memset(self, 0, sizeof *self);
  (void)HOCKET_MPI(Get_library_version)(version, &length);
  code = HOCKET_MPI(Comm_dup)(comm, &self->comm);
  if (code != MPI_SUCCESS) return code;
  code = HOCKET_MPI(Comm_set_errhandler)(self->comm, errors_return);
  if (code == MPI_SUCCESS) code = HOCKET_MPI(Comm_get_attr)(comm, MPI_TAG_UB, &most, &found);
  if (code == MPI_SUCCESS) code = HOCKET_MPI(Comm_rank)(comm, &rank);
  if (code == MPI_SUCCESS) code = HOCKET_MPI(Comm_size)(comm, &size);
  self->byte = byte;
  self->wire.struct_size = sizeof self->wire;
  self->tests_one_by_one = hocket_mpi_is_mpich_5(version);
  hocket_mpi_name(version, self->wire.name, sizeof self->wire.name);
  self->wire.rank = (uint32_t)rank;
  self->wire.size = (uint32_t)size;
  self->wire.tags = found ? (uint32_t)*(int*)most : 32767; /* the standard promises that many */
  self->wire.send = hocket_mpi_send;
  self->wire.receive = hocket_mpi_receive;
  self->wire.test = hocket_mpi_test;
  self->wire.cancel = hocket_mpi_cancel;
  self->wire.notify = hocket_mpi_notify;
  self->wire.take_notice = hocket_mpi_take_notice;
  self->wire.probe = hocket_mpi_probe;
  self->wire.user = self;
  if (code != MPI_SUCCESS) HOCKET_MPI(Comm_free)(&self->comm);
  return code;
}

/* Collective over `comm`, which is duplicated. Returns an MPI error code; after a failure nothing is open. *self must
 * not be moved or copied, and outlives all contexts that have its wire. */
static inline int hocket_mpi_wire_open(hocket_mpi_wire_t* self, MPI_Comm comm) {
  return hocket_mpi_wire_open_by(self, comm, MPI_BYTE, MPI_ERRORS_RETURN);
}

/* Messages that no rank has received, as they are left by calls that have failed: MPICH 5 refuses to free a
 * communicator that has some. One whose sender doesn't go on with it is left. */
static inline void hocket_mpi_take_rest(const hocket_mpi_wire_t* self) {
  int misses = 0;
  while (misses < HOCKET_MPI_LAST_LOOKS) {
    MPI_Status status;
    MPI_Request request;
    void* memory = NULL;
    int found = 0;
    int bytes = 0;
    int done = 0;
    if (HOCKET_MPI(Iprobe)(MPI_ANY_SOURCE, MPI_ANY_TAG, self->comm, &found, &status) != MPI_SUCCESS) return;
    ++misses;
    if (!found) continue;
    if (HOCKET_MPI(Get_count)(&status, self->byte, &bytes) != MPI_SUCCESS || bytes < 0) return;
    if (bytes != 0 && (memory = malloc((size_t)bytes)) == NULL) return;
    if (HOCKET_MPI(Irecv)(memory, bytes, self->byte, status.MPI_SOURCE, status.MPI_TAG, self->comm, &request) ==
        MPI_SUCCESS) {
      int look;
      for (look = 0; look < HOCKET_MPI_LAST_LOOKS && !done; ++look)
        if (HOCKET_MPI(Test)(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) return;
      if (!done) return; /* the MPI may still write there */
      misses = 0;
    }
    free(memory);
  }
}

/* Collective; when no context uses it any more. Returns an MPI error code. */
static inline int hocket_mpi_wire_close(hocket_mpi_wire_t* self) {
  hocket_mpi_take_rest(self);
  return HOCKET_MPI(Comm_free)(&self->comm);
}

#endif
