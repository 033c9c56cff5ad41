// SPDX-License-Identifier: BSD-3-Clause
// Many collectives under way at a time, non-blocking and persistent, on several communicators, among messages, null and
// inactive requests, of which one is a persistent collective; ended by every function there is, in an order that
// differs from rank to rank. Results and statuses are checked.
//
//   requests_mixed [SECONDS] [threads]
#include <pthread.h>
#include <unistd.h>

#include "check.h"

#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define HAS_PERSISTENT 1
#else
#define HAS_PERSISTENT 0
#define MPI_Barrier_init(comm, info, request) (*(request) = MPI_REQUEST_NULL)
#endif

enum { kOperations = 24, kMostRanks = 8, kMostCount = 3000, kKinds = 12, kThreads = 3, kHeld = -2 };

struct operation {
  int kind, count, root, salt, is_over;
  MPI_Request request;
  int* in;
  int* out;
  int counts[kMostRanks], places[kMostRanks];
};

// One communicator of all ranks, and a random sequence that is the same on all of them.
struct work {
  MPI_Comm comm;
  uint64_t common, own;
  MPI_Request held;  // a persistent collective that is never started; null where the MPI has none
  struct operation operations[kOperations];
};

static uint64_t draw(uint64_t* state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state >> 11;
}

static int value(int rank, int salt, int i) { return rank * 1000 + salt * 17 + i; }
static int sum_of(int ranks, int salt, int i) {
  int sum = 0;
  for (int rank = 0; rank < ranks; ++rank) sum += value(rank, salt, i);
  return sum;
}

static void begin_operation(struct work* work, struct operation* one) {
  const MPI_Comm comm = work->comm;
  one->kind = (int)(draw(&work->common) % kKinds);
  one->count = (int)(draw(&work->common) % 8 == 0 ? draw(&work->common) % kMostCount : draw(&work->common) % 20);
  one->root = (int)(draw(&work->common) % (uint64_t)world_size);
  one->salt = (int)(draw(&work->common) % 1000);
  one->is_over = 0;
  const int n = one->count;
  for (int i = 0; i < n * world_size; ++i) {
    one->in[i] = value(world_rank, one->salt, i);
    one->out[i] = -1;
  }
  for (int rank = 0; rank < world_size; ++rank) {
    one->counts[rank] = n;
    one->places[rank] = rank * n;
  }
  int* const in = one->in;
  int* const out = one->out;
  MPI_Request* const request = &one->request;
  switch (one->kind) {
    case 0:
      MPI_Ibarrier(comm, request);
      break;
    case 1:
      if (world_rank == one->root) memcpy(out, in, (size_t)n * sizeof(int));
      MPI_Ibcast(out, n, MPI_INT, one->root, comm, request);
      break;
    case 2:
      MPI_Iallreduce(in, out, n, MPI_INT, MPI_SUM, comm, request);
      break;
    case 3:
      MPI_Ireduce(in, out, n, MPI_INT, MPI_SUM, one->root, comm, request);
      break;
    case 4:
      MPI_Iallgather(in, n, MPI_INT, out, n, MPI_INT, comm, request);
      break;
    case 5:
      MPI_Ialltoall(in, n, MPI_INT, out, n, MPI_INT, comm, request);
      break;
    case 6:
      MPI_Igather(in, n, MPI_INT, out, n, MPI_INT, one->root, comm, request);
      break;
    case 7:
      MPI_Iscatter(in, n, MPI_INT, out, n, MPI_INT, one->root, comm, request);
      break;
    case 8:
      MPI_Ireduce_scatter_block(in, out, n, MPI_INT, MPI_SUM, comm, request);
      break;
    case 9:
      MPI_Iscan(in, out, n, MPI_INT, MPI_SUM, comm, request);
      break;
    case 10:
      MPI_Ialltoallv(in, one->counts, one->places, MPI_INT, out, one->counts, one->places, MPI_INT, comm, request);
      break;
    default:
      for (int i = 0; i < n; ++i) out[i] = in[i];
      MPI_Iallreduce(MPI_IN_PLACE, out, n, MPI_INT, MPI_SUM, comm, request);
      break;
  }
}

static void check_operation(const struct operation* one) {
  const int n = one->count, salt = one->salt;
  for (int i = 0; i < n; ++i) {
    int wanted = -1, got = one->out[i];
    switch (one->kind) {
      case 0:
        wanted = -1;
        break;
      case 1:
        wanted = value(one->root, salt, i);
        break;
      case 2:
      case 11:
        wanted = sum_of(world_size, salt, i);
        break;
      case 3:
        wanted = world_rank == one->root ? sum_of(world_size, salt, i) : -1;
        break;
      case 4:
        got = one->out[(world_size - 1) * n + i];
        wanted = value(world_size - 1, salt, i);
        break;
      case 5:
      case 10:
        got = one->out[(world_size - 1) * n + i];
        wanted = value(world_size - 1, salt, world_rank * n + i);
        break;
      case 6:
        got = one->out[(world_size - 1) * n + i];
        wanted = world_rank == one->root ? value(world_size - 1, salt, i) : -1;
        break;
      case 7:
        wanted = value(one->root, salt, world_rank * n + i);
        break;
      case 8:
        wanted = sum_of(world_size, salt, world_rank * n + i);
        break;
      case 9:
        wanted = sum_of(world_rank + 1, salt, i);
        break;
    }
    CHECK(got == wanted, "kind %d, %d elements, root %d: element %d is %d instead of %d", one->kind, n, one->root, i,
          got, wanted);
    if (got != wanted) return;
  }
}

static int last_how;
static void check_status(const MPI_Status* status) {
  int count = -1, is_cancelled = -1;
  MPI_Get_count(status, MPI_BYTE, &count);
  MPI_Test_cancelled(status, &is_cancelled);
  CHECK(count == 0 && is_cancelled == 0, "count %d, cancelled %d, ended by %d", count, is_cancelled, last_how);
}

static void end_operation(struct operation* one, const MPI_Status* status, int* left) {
  CHECK(one->request == MPI_REQUEST_NULL, "the request stays");
  if (status != MPI_STATUS_IGNORE) check_status(status);
  check_operation(one);
  one->is_over = 1;
  --*left;
}

// Some of the requests, by one of ten ways; how many are over, and which.
struct some {
  struct work* work;
  int how, n, collectives, is_ignored;
  MPI_Request* requests;
  MPI_Status* statuses;
  int* at;
  int* indices;
  MPI_Request* messages;
};

static int end_some(struct some* some) {
  const int m = some->n;
  MPI_Request* const requests = some->requests;
  MPI_Status* const many = some->is_ignored ? MPI_STATUSES_IGNORE : some->statuses;
  MPI_Status* const one = some->is_ignored ? MPI_STATUS_IGNORE : some->statuses;
  int flag = 0, outcount = 0;
  some->indices[0] = 0;
  switch (some->how) {
    case 0:
      MPI_Wait(&requests[0], one);
      return 1;
    case 1:
      MPI_Test(&requests[0], &flag, one);
      return flag ? 1 : 0;
    case 2:
      for (int i = 0; i < 2; ++i) {
        some->at[m + i] = -1;
        requests[m + i] = some->messages[i];
        some->messages[i] = MPI_REQUEST_NULL;
      }
      MPI_Waitall(m + 2, requests, many);
      outcount = m + 2;
      break;
    case 3:
      MPI_Testall(m, requests, &flag, many);
      outcount = flag ? m : 0;
      break;
    case 4:
      MPI_Waitany(m, requests, some->indices, one);
      return 1;
    case 5:
      MPI_Testany(m, requests, some->indices, &flag, one);
      return flag ? 1 : 0;
    case 6:
      MPI_Waitsome(m, requests, &outcount, some->indices, many);
      return outcount;
    case 7:
      MPI_Testsome(m, requests, &outcount, some->indices, many);
      return outcount;
    case 8:
      MPI_Request_get_status(requests[0], &flag, one);
      if (flag && !some->is_ignored) check_status(one);
      if (flag) check_operation(&some->work->operations[some->at[0]]);
      return 0;
    default:
      MPI_Waitall(some->collectives, requests, many);
      outcount = some->collectives;
      break;
  }
  for (int i = 0; i < outcount; ++i) some->indices[i] = i;
  return outcount;
}

// All of the first `n`, and two messages of this rank to itself, which are ended last.
static void end_all(struct work* work, int n) {
  MPI_Request requests[kOperations + 5];
  MPI_Status statuses[kOperations + 5];
  int left = n, message = 5, received = 0, indices[kOperations + 5];
  MPI_Request inactive, messages[2];
  MPI_Recv_init(&received, 1, MPI_INT, MPI_PROC_NULL, 0, work->comm, &inactive);
  MPI_Irecv(&received, 1, MPI_INT, world_rank, 3, work->comm, &messages[0]);
  MPI_Isend(&message, 1, MPI_INT, world_rank, 3, work->comm, &messages[1]);
  while (left > 0) {
    int at[kOperations + 5], m = 0;
    for (int i = 0; i < n; ++i) {
      if (work->operations[i].is_over || draw(&work->own) % 3 == 0) continue;
      at[m] = i;
      requests[m++] = work->operations[i].request;
    }
    if (m == 0) continue;
    const int collectives = m;
    at[m] = -1, requests[m++] = MPI_REQUEST_NULL;
    at[m] = -1, requests[m++] = inactive;
    at[m] = kHeld, requests[m++] = work->held;
    const int how = (int)(draw(&work->own) % 10);
    last_how = how;
    const int is_ignored = (int)(draw(&work->own) % 2);
    struct some some = {work, how, m, collectives, is_ignored, requests, statuses, at, indices, messages};
    const int outcount = end_some(&some);
    const int is_single = how == 0 || how == 1 || how == 4 || how == 5;
    const int is_packed = how == 6 || how == 7;
    for (int i = 0; i < outcount; ++i) {
      const int place = indices[i];
      CHECK(at[place] != kHeld || how < 4 || how > 7, "the inactive call is ended by %d", how);
      if (at[place] < 0) continue;
      struct operation* const ended = &work->operations[at[place]];
      ended->request = requests[place];
      end_operation(ended, is_ignored ? MPI_STATUS_IGNORE : &statuses[is_single ? 0 : is_packed ? i : place], &left);
    }
  }
  MPI_Waitall(2, messages, MPI_STATUSES_IGNORE);
  CHECK(received == message, "the message is %d", received);
  MPI_Request_free(&inactive);
}

#if HAS_PERSISTENT
// Initialised in one order, started in another on each rank.
static void start_in_any_order(struct work* work) {
  enum { kCalls = 7, kCount = 40, kRounds = 3 };
  MPI_Request requests[kCalls];
  int in[kCalls][kCount], out[kCalls][kCount], order[kCalls];
  for (int k = 0; k < kCalls; ++k) {
    order[k] = k;
    MPI_Allreduce_init(in[k], out[k], kCount, MPI_INT, MPI_SUM, work->comm, MPI_INFO_NULL, &requests[k]);
  }
  for (int round = 0; round < kRounds; ++round) {
    for (int k = kCalls - 1; k > 0; --k) {
      const int other = (int)(draw(&work->own) % (uint64_t)(k + 1)), before = order[k];
      order[k] = order[other];
      order[other] = before;
    }
    for (int k = 0; k < kCalls; ++k)
      for (int i = 0; i < kCount; ++i) in[k][i] = value(world_rank, round * 10 + k, i);
    if (draw(&work->common) % 2 == 0) {
      for (int k = 0; k < kCalls; ++k) MPI_Start(&requests[order[k]]);
      if (draw(&work->common) % 2 == 0) MPI_Barrier(work->comm);
      for (int k = kCalls - 1; k >= 0; --k) MPI_Wait(&requests[order[k]], MPI_STATUS_IGNORE);
    } else {
      MPI_Startall(kCalls, requests);
      MPI_Waitall(kCalls, requests, MPI_STATUSES_IGNORE);
    }
    for (int k = 0; k < kCalls; ++k) {
      CHECK(requests[k] != MPI_REQUEST_NULL, "a persistent request goes");
      for (int i = 0; i < kCount; ++i)
        CHECK(out[k][i] == sum_of(world_size, round * 10 + k, i), "call %d in round %d: element %d is %d", k, round, i,
              out[k][i]);
    }
  }
  for (int k = 0; k < kCalls; ++k) MPI_Request_free(&requests[order[k]]);
}

static void add(void* in, void* out, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count; ++i) ((int*)out)[i] += ((int*)in)[i];
}

// By an operation of the program's they are the MPI's own, in whatever way it waits under hocket.
static void wait_for_the_mpis_own(void) {
  enum { kCalls = 3 };
  MPI_Request requests[kCalls];
  int in[kCalls], out[kCalls];
  MPI_Op own;
  MPI_Op_create(add, 1, &own);
  for (int k = 0; k < kCalls; ++k) {
    in[k] = value(world_rank, k, 0);
    out[k] = -1;
    MPI_Allreduce_init(&in[k], &out[k], 1, MPI_INT, own, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[k]);
  }
  MPI_Startall(kCalls, requests);
  MPI_Waitall(kCalls, requests, MPI_STATUSES_IGNORE);
  for (int k = 0; k < kCalls; ++k) {
    CHECK(out[k] == sum_of(world_size, k, 0), "call %d has %d", k, out[k]);
    MPI_Request_free(&requests[k]);
  }
  MPI_Op_free(&own);
}
#else
static void start_in_any_order(struct work* work) { (void)work; }
static void wait_for_the_mpis_own(void) {}
#endif

static double end_time;

static void* run(void* user) {
  struct work* const work = user;
  for (;;) {
    // All ranks go on, or none.
    int goes_on = world_rank == 0 && MPI_Wtime() < end_time;
    MPI_Bcast(&goes_on, 1, MPI_INT, 0, work->comm);
    if (!goes_on) return NULL;
    const int n = 1 + (int)(draw(&work->common) % kOperations);
    for (int i = 0; i < n; ++i) begin_operation(work, &work->operations[i]);
    if (draw(&work->common) % 4 == 0) MPI_Barrier(work->comm);
    if (draw(&work->own) % 16 == 0) usleep(300);
    end_all(work, n);
    if (draw(&work->common) % 8 == 0) start_in_any_order(work);
  }
}

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? atof(argv[1]) : 0.8;
  const int wants_threads = argc > 2 && strcmp(argv[2], "threads") == 0;
  int level = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, wants_threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
  start_after_init();
  const int threads = wants_threads && level == MPI_THREAD_MULTIPLE ? kThreads : 1;
  static struct work works[kThreads];
  pthread_t ids[kThreads];
  wait_for_the_mpis_own();
  end_time = MPI_Wtime() + seconds;
  for (int t = 0; t < threads; ++t) {
    struct work* const work = &works[t];
    MPI_Comm_dup(MPI_COMM_WORLD, &work->comm);
    set_up(work->comm);
    MPI_Barrier_init(work->comm, MPI_INFO_NULL, &work->held);
    work->common = random_state * 31 + (uint64_t)t + 1;
    work->own = work->common * 7 + (uint64_t)world_rank * 1000003 + 1;
    for (int i = 0; i < kOperations; ++i) {
      work->operations[i].in = malloc(sizeof(int) * kMostCount * kMostRanks);
      work->operations[i].out = malloc(sizeof(int) * kMostCount * kMostRanks);
    }
  }
  for (int t = 1; t < threads; ++t) pthread_create(&ids[t], NULL, run, &works[t]);
  run(&works[0]);
  for (int t = 1; t < threads; ++t) pthread_join(ids[t], NULL);
  for (int t = 0; t < threads; ++t) {
    if (works[t].held != MPI_REQUEST_NULL) MPI_Request_free(&works[t].held);
    MPI_Comm_free(&works[t].comm);
    for (int i = 0; i < kOperations; ++i) {
      free(works[t].operations[i].in);
      free(works[t].operations[i].out);
    }
  }
  return finish("requests_mixed");
}
