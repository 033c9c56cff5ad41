// SPDX-License-Identifier: BSD-3-Clause
// Persistent collectives of communicators of one rank, where a rank waits for nobody: what each of them moves, with and
// without gaps in its types, which are freed meanwhile; and whatever a program may do with the requests.
#include "check.h"

#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)

enum { kInts = 4 };
static MPI_Comm comm;

static void add(void* in, void* out, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count; ++i) ((int*)out)[i] += ((int*)in)[i];
}

// Of `kInts` ints, each at every `stride`-th place.
static MPI_Datatype ints(int stride) {
  MPI_Datatype type;
  MPI_Type_vector(kInts, 1, stride, MPI_INT, &type);
  MPI_Type_commit(&type);
  return type;
}

enum { kGather, kGatherv, kScatter, kScatterv, kAllgather, kAllgatherv, kAlltoall, kAlltoallv, kAlltoallw, kMoves };

static int make_move(int which, const int* in, MPI_Datatype from, int* out, MPI_Datatype to, MPI_Request* request) {
  static const int one = 1, nowhere = 0;
  static MPI_Datatype sent, received;  // an MPI may read them later
  sent = from;
  received = to;
  const MPI_Info info = MPI_INFO_NULL;
  switch (which) {
    case kGather:
      return MPI_Gather_init(in, 1, from, out, 1, to, 0, comm, info, request);
    case kGatherv:
      return MPI_Gatherv_init(in, 1, from, out, &one, &nowhere, to, 0, comm, info, request);
    case kScatter:
      return MPI_Scatter_init(in, 1, from, out, 1, to, 0, comm, info, request);
    case kScatterv:
      return MPI_Scatterv_init(in, &one, &nowhere, from, out, 1, to, 0, comm, info, request);
    case kAllgather:
      return MPI_Allgather_init(in, 1, from, out, 1, to, comm, info, request);
    case kAllgatherv:
      return MPI_Allgatherv_init(in, 1, from, out, &one, &nowhere, to, comm, info, request);
    case kAlltoall:
      return MPI_Alltoall_init(in, 1, from, out, 1, to, comm, info, request);
    case kAlltoallv:
      return MPI_Alltoallv_init(in, &one, &nowhere, from, out, &one, &nowhere, to, comm, info, request);
    default:
      return MPI_Alltoallw_init(in, &one, &nowhere, &sent, out, &one, &nowhere, &received, comm, info, request);
  }
}

static void move(int which, int from_stride, int to_stride) {
  int in[4 * kInts], out[4 * kInts];
  MPI_Datatype from = ints(from_stride), to = ints(to_stride);
  MPI_Request request;
  CHECK(make_move(which, in, from, out, to, &request) == MPI_SUCCESS, "move %d", which);
  // Open MPI's own read types that have gone.
  const int is_hockets = from_stride == 1 || to_stride == 1;
  if (is_hockets) MPI_Type_free(&from);
  if (is_hockets) MPI_Type_free(&to);
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 4 * kInts; ++i) {
      in[i] = 100 * round + i;
      out[i] = -1;
    }
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < 4 * kInts; ++i) {
      const int is_data = i % to_stride == 0 && i / to_stride < kInts;
      const int right = is_data ? 100 * round + i / to_stride * from_stride : -1;
      CHECK(out[i] == right, "move %d from every %d. to every %d.: %d at %d, not %d", which, from_stride, to_stride,
            out[i], i, right);
    }
  }
  MPI_Request_free(&request);
  CHECK(request == MPI_REQUEST_NULL, "move %d: its request is still there", which);
  if (!is_hockets) MPI_Type_free(&from);
  if (!is_hockets) MPI_Type_free(&to);
}

enum { kReduce, kAllreduce, kReduceScatter, kReduceScatterBlock, kScan, kExscan, kReductions };

static int make_reduction(int which, const int* in, int* out, MPI_Op op, MPI_Request* request) {
  static const int count = kInts;
  const MPI_Info info = MPI_INFO_NULL;
  switch (which) {
    case kReduce:
      return MPI_Reduce_init(in, out, count, MPI_INT, op, 0, comm, info, request);
    case kAllreduce:
      return MPI_Allreduce_init(in, out, count, MPI_INT, op, comm, info, request);
    case kReduceScatter:
      return MPI_Reduce_scatter_init(in, out, &count, MPI_INT, op, comm, info, request);
    case kReduceScatterBlock:
      return MPI_Reduce_scatter_block_init(in, out, count, MPI_INT, op, comm, info, request);
    case kScan:
      return MPI_Scan_init(in, out, count, MPI_INT, op, comm, info, request);
    default:
      return MPI_Exscan_init(in, out, count, MPI_INT, op, comm, info, request);
  }
}

// By an operation of MPI's or the program's: nothing is combined.
static void reduce(int which, MPI_Op op, int is_in_place) {
  int in[kInts], out[kInts];
  MPI_Request request;
  CHECK(make_reduction(which, is_in_place ? MPI_IN_PLACE : in, out, op, &request) == MPI_SUCCESS, "reduction %d",
        which);
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < kInts; ++i) {
      in[i] = 10 * round + i;
      out[i] = -1 - i;
    }
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < kInts; ++i) {
      const int right = is_in_place || which == kExscan ? -1 - i : 10 * round + i;
      CHECK(out[i] == right, "reduction %d, in place %d: %d at %d, not %d", which, is_in_place, out[i], i, right);
    }
  }
  MPI_Request_free(&request);
}

static void move_nothing(void) {
  int data = 7;
  MPI_Request requests[2];
  MPI_Barrier_init(comm, MPI_INFO_NULL, &requests[0]);
  MPI_Bcast_init(&data, 1, MPI_INT, 0, comm, MPI_INFO_NULL, &requests[1]);
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 2; ++i) {
      MPI_Start(&requests[i]);
      MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    }
    CHECK(data == 7, "a broadcast has made %d of it", data);
  }
  for (int i = 0; i < 2; ++i) MPI_Request_free(&requests[i]);
}

// More than several ranks may have, also when the communicator has gone; one is freed as soon as it is started, and one
// after a question.
static void use_requests(void) {
  enum { kCalls = 100 };
  MPI_Request requests[kCalls];
  int in[kCalls], out[kCalls], flag = 0;
  for (int k = 0; k < kCalls; ++k)
    MPI_Allgather_init(&in[k], 1, MPI_INT, &out[k], 1, MPI_INT, comm, MPI_INFO_NULL, &requests[k]);
  MPI_Comm_free(&comm);
  for (int round = 0; round < 2; ++round) {
    for (int k = 0; k < kCalls; ++k) {
      in[k] = 1000 * round + k;
      out[k] = -1;
    }
    MPI_Startall(kCalls, requests);
    MPI_Waitall(kCalls, requests, MPI_STATUSES_IGNORE);
    for (int k = 0; k < kCalls; ++k) CHECK(out[k] == in[k], "call %d in round %d has %d", k, round, out[k]);
  }
  MPI_Startall(2, requests);
  MPI_Request_free(&requests[0]);
  MPI_Request_get_status(requests[1], &flag, MPI_STATUS_IGNORE);
  CHECK(flag != 0, "what needs nobody is not over");
  for (int k = 1; k < kCalls; ++k) MPI_Request_free(&requests[k]);
  for (int k = 0; k < kCalls; ++k) CHECK(requests[k] == MPI_REQUEST_NULL, "request %d is still there", k);
}

static void run(void) {
  MPI_Op own;
  MPI_Op_create(add, 1, &own);
  MPI_Comm_split(MPI_COMM_WORLD, world_rank, 0, &comm);
  for (int which = 0; which < kMoves; ++which)
    for (int strides = 0; strides < 4; ++strides) move(which, 1 + strides % 2, 1 + strides / 2 * 2);
  for (int which = 0; which < kReductions; ++which) {
    for (int is_in_place = 0; is_in_place < 2; ++is_in_place) {
      reduce(which, MPI_SUM, is_in_place);
      reduce(which, own, is_in_place);
    }
  }
  move_nothing();
  use_requests();
  MPI_Op_free(&own);
}

#else
static void run(void) {}
#endif

int main(int argc, char** argv) {
  start(&argc, &argv);
  run();
  return finish("requests_alone");
}
