// SPDX-License-Identifier: BSD-3-Clause
// Calls that situations.c measures and that end by requests: started collectives, loops of each function by which a
// program can wait, and exchanges of many messages.
//
// In loops a computation of compute_us comes between two tests.
//
// Thread safety: none.
#pragma once

#include "calls.h"

static void finish(MPI_Request* request) { MPI_Wait(request, MPI_STATUS_IGNORE); }

static void do_ibarrier(int number) {
  MPI_Request request;
  (void)number;
  MPI_Ibarrier(comm, &request);
  finish(&request);
}

static void do_iallreduce(int number) {
  MPI_Request request;
  (void)number;
  write_blocks(1);
  MPI_Iallreduce(input, output, bytes / 8, MPI_DOUBLE, MPI_SUM, comm, &request);
  finish(&request);
}

static void do_ibcast(int number) {
  MPI_Request request;
  const int root = number % size;
  if (rank == root) write_blocks(1);
  MPI_Ibcast(rank == root ? input : output, bytes, MPI_CHAR, root, comm, &request);
  finish(&request);
}

static void do_iallgather(int number) {
  MPI_Request request;
  (void)number;
  write_blocks(1);
  MPI_Iallgather(input, bytes, MPI_CHAR, output, bytes, MPI_CHAR, comm, &request);
  finish(&request);
}

static void do_ialltoall(int number) {
  MPI_Request request;
  (void)number;
  write_blocks(size);
  MPI_Ialltoall(input, bytes, MPI_CHAR, output, bytes, MPI_CHAR, comm, &request);
  finish(&request);
}

static void do_ineighbor_alltoall(int number) {
  MPI_Request request;
  (void)number;
  write_blocks(2);
  MPI_Ineighbor_alltoall(input, bytes, MPI_CHAR, output, bytes, MPI_CHAR, ring, &request);
  finish(&request);
}

static void do_eight_iallreduce(int number) {
  MPI_Request requests[8];
  (void)number;
  for (int i = 0; i < 8; ++i) MPI_Iallreduce(input + 8 * i, output + 8 * i, 1, MPI_DOUBLE, MPI_SUM, comm, &requests[i]);
  MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
}

#if HAS_MPI_4
static MPI_Request persistent = MPI_REQUEST_NULL;

static void make_persistent(void) {
  MPI_Allreduce_init(input, output, bytes / 8, MPI_DOUBLE, MPI_SUM, comm, MPI_INFO_NULL, &persistent);
}

static void free_persistent(void) { MPI_Request_free(&persistent); }

static void do_persistent_allreduce(int number) {
  (void)number;
  write_blocks(1);
  MPI_Start(&persistent);
  finish(&persistent);
}
#endif

static void test_ibarrier(int number) {
  MPI_Request request;
  int is_done = 0;
  (void)number;
  MPI_Ibarrier(comm, &request);
  for (;;) {
    MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
    if (is_done) return;
    compute(compute_us);
  }
}

static void test_iallreduce(int number) {
  MPI_Request request;
  int is_done = 0;
  (void)number;
  MPI_Iallreduce(input, output, bytes / 8, MPI_DOUBLE, MPI_SUM, comm, &request);
  for (;;) {
    MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
    if (is_done) return;
    compute(compute_us);
  }
}

static void get_status_of_ibarrier(int number) {
  MPI_Request request;
  int is_done = 0;
  (void)number;
  MPI_Ibarrier(comm, &request);
  for (;;) {
    MPI_Request_get_status(request, &is_done, MPI_STATUS_IGNORE);
    if (is_done) break;
    compute(compute_us);
  }
  finish(&request);
}

static void begin_two(MPI_Request* requests) {
  MPI_Ibarrier(comm, &requests[0]);
  MPI_Iallreduce(input, output, bytes / 8, MPI_DOUBLE, MPI_SUM, comm, &requests[1]);
}

static void testall_of_two(int number) {
  MPI_Request requests[2];
  int are_done = 0;
  (void)number;
  begin_two(requests);
  for (;;) {
    MPI_Testall(2, requests, &are_done, MPI_STATUSES_IGNORE);
    if (are_done) return;
    compute(compute_us);
  }
}

static void testany_of_two(int number) {
  MPI_Request requests[2];
  (void)number;
  begin_two(requests);
  for (int done = 0; done < 2;) {
    int index, is_done;
    MPI_Testany(2, requests, &index, &is_done, MPI_STATUS_IGNORE);
    if (is_done)
      ++done;
    else
      compute(compute_us);
  }
}

static void testsome_of_two(int number) {
  MPI_Request requests[2];
  (void)number;
  begin_two(requests);
  for (int done = 0; done < 2;) {
    int some, indices[2];
    MPI_Testsome(2, requests, &some, indices, MPI_STATUSES_IGNORE);
    if (some > 0)
      done += some;
    else
      compute(compute_us);
  }
}

// A message to the next rank of the ring, and one from the last, which is looked for.
static void iprobe_ring(int number) {
  const int next = (rank + 1) % size, last = (rank + size - 1) % size;
  MPI_Request request;
  int has_arrived = 0;
  (void)number;
  MPI_Isend(input, bytes, MPI_CHAR, next, 4, comm, &request);
  for (;;) {
    MPI_Iprobe(last, 4, comm, &has_arrived, MPI_STATUS_IGNORE);
    if (has_arrived) break;
    compute(compute_us);
  }
  MPI_Recv(output, bytes, MPI_CHAR, last, 4, comm, MPI_STATUS_IGNORE);
  finish(&request);
}

static void improbe_ring(int number) {
  const int next = (rank + 1) % size, last = (rank + size - 1) % size;
  MPI_Request request;
  MPI_Message message;
  int has_arrived = 0;
  (void)number;
  MPI_Isend(input, bytes, MPI_CHAR, next, 5, comm, &request);
  for (;;) {
    MPI_Improbe(last, 5, comm, &has_arrived, &message, MPI_STATUS_IGNORE);
    if (has_arrived) break;
    compute(compute_us);
  }
  MPI_Mrecv(output, bytes, MPI_CHAR, &message, MPI_STATUS_IGNORE);
  finish(&request);
}

#if HAS_MPI_4
enum { kPartitions = 4 };
static MPI_Request partitioned[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};

static void make_partitioned(void) {
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  MPI_Psend_init(input, kPartitions, bytes, MPI_CHAR, next, 7, comm, MPI_INFO_NULL, &partitioned[0]);
  MPI_Precv_init(output, kPartitions, bytes, MPI_CHAR, previous, 7, comm, MPI_INFO_NULL, &partitioned[1]);
}

static void free_partitioned(void) {
  MPI_Request_free(&partitioned[0]);
  MPI_Request_free(&partitioned[1]);
}

// Sends partitions to the next rank of the ring, and polls for each partition of the previous rank.
static void parrived_ring(int number) {
  (void)number;
  MPI_Startall(2, partitioned);
  for (int i = 0; i < kPartitions; ++i) MPI_Pready(i, partitioned[0]);
  for (int i = 0; i < kPartitions; ++i) {
    int has_arrived = 0;
    for (;;) {
      MPI_Parrived(partitioned[1], i, &has_arrived);
      if (has_arrived) break;
      compute(compute_us);
    }
  }
  MPI_Waitall(2, partitioned, MPI_STATUSES_IGNORE);
}
#endif

static MPI_Request exchanged[2 * kExchanged];

static void begin_exchange(void) {
  const int next = (rank + 1) % size, last = (rank + size - 1) % size;
  for (int i = 0; i < kExchanged; ++i) {
    MPI_Irecv(output + bytes * i, bytes, MPI_CHAR, last, 6, comm, &exchanged[i]);
    MPI_Isend(input + bytes * i, bytes, MPI_CHAR, next, 6, comm, &exchanged[kExchanged + i]);
  }
}

static void waitany_of_200(int number) {
  (void)number;
  begin_exchange();
  for (int i = 0; i < 2 * kExchanged; ++i) {
    int index;
    MPI_Waitany(2 * kExchanged, exchanged, &index, MPI_STATUS_IGNORE);
  }
}

static void waitsome_of_200(int number) {
  int indices[2 * kExchanged];
  (void)number;
  begin_exchange();
  for (int done = 0; done < 2 * kExchanged;) {
    int some;
    MPI_Waitsome(2 * kExchanged, exchanged, &some, indices, MPI_STATUSES_IGNORE);
    done += some;
  }
}

static void waitall_of_200(int number) {
  (void)number;
  begin_exchange();
  MPI_Waitall(2 * kExchanged, exchanged, MPI_STATUSES_IGNORE);
}
