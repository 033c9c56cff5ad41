// SPDX-License-Identifier: BSD-3-Clause
// The exchange of sparse data where no rank knows from whom it receives: synchronous sends, probes for whatever comes,
// and a barrier that is started when a rank's own messages have arrived and over when all have (T. Hoefler, C. Siebert,
// A. Lumsdaine: Scalable communication protocols for dynamic sparse data exchange, PPoPP 2010, where it is called NBX).
//
//   nbx [ROUNDS]
#include <signal.h>
#include <unistd.h>

#include "check.h"

enum { kMostRanks = 16, kMostMessages = 4, kMostLongs = 4000, kLimitSeconds = 60 };

static int current_round;
static MPI_Comm comm;

static void on_alarm(int number) {
  (void)number;
  char text[80];
  const int length = snprintf(text, sizeof text, "\nFAILED: rank %d hangs in round %d\n", world_rank, current_round);
  _exit(write(2, text, (size_t)length) > 0 ? 1 : 2);
}

// What is sent in a round, the same on all ranks: how many messages from one to another, and how long they are.
static int messages[kMostRanks][kMostRanks];
static int lengths[kMostRanks][kMostRanks][kMostMessages];

static void choose_pattern(void) {
  const int density = (int)(random_number() % 4);  // nothing at all, now and then
  for (int from = 0; from < world_size; ++from)
    for (int to = 0; to < world_size; ++to) {
      messages[from][to] = (int)(random_number() % 4) < density ? (int)(random_number() % (kMostMessages + 1)) : 0;
      for (int i = 0; i < messages[from][to]; ++i) {
        const int is_long = random_number() % 16 == 0;
        lengths[from][to][i] = (int)(random_number() % (is_long ? kMostLongs : 20));
      }
    }
}

static long content(int from, int to, int number, int at) {
  return current_round * 1000003L + from * 10007L + to * 101L + number * 17L + at;
}

static long sent[kMostRanks * kMostMessages][kMostLongs], received[kMostLongs];

static int send_all(int tag, MPI_Request* requests) {
  int used = 0;
  for (int to = 0; to < world_size; ++to)
    for (int i = 0; i < messages[world_rank][to]; ++i) {
      const int length = lengths[world_rank][to][i];
      for (int k = 0; k < length; ++k) sent[used][k] = content(world_rank, to, i, k);
      MPI_Issend(sent[used], length, MPI_LONG, to, tag, comm, &requests[used]);
      ++used;
    }
  return used;
}

// One that has come, if there is one: the next in order from its sender.
static void receive_one(int tag, int* next) {
  int flag = 0, length = -1;
  MPI_Status status;
  MPI_Iprobe(MPI_ANY_SOURCE, tag, comm, &flag, &status);
  if (!flag) return;
  MPI_Get_count(&status, MPI_LONG, &length);
  const int from = status.MPI_SOURCE, number = next[from]++;
  CHECK(length >= 0 && length <= kMostLongs, "a message of %d longs from rank %d", length, from);
  MPI_Recv(received, kMostLongs, MPI_LONG, from, tag, comm, MPI_STATUS_IGNORE);
  CHECK(number < messages[from][world_rank], "a message too many from rank %d in round %d", from, current_round);
  if (number >= messages[from][world_rank]) return;
  CHECK(length == lengths[from][world_rank][number], "round %d: message %d from rank %d has %d longs, not %d",
        current_round, number, from, length, lengths[from][world_rank][number]);
  for (int k = 0; k < length; ++k)
    if (received[k] != content(from, world_rank, number, k)) {
      CHECK(0, "round %d: message %d from rank %d is wrong at %d", current_round, number, from, k);
      return;
    }
}

static void exchange(int tag) {
  MPI_Request requests[kMostRanks * kMostMessages], barrier = MPI_REQUEST_NULL;
  MPI_Status statuses[kMostRanks * kMostMessages];
  int next[kMostRanks] = {0}, is_over = 0, have_arrived = 0;
  const int used = send_all(tag, requests);
  while (!is_over) {
    receive_one(tag, next);
    if (have_arrived) {
      MPI_Test(&barrier, &is_over, MPI_STATUS_IGNORE);
      continue;
    }
    MPI_Testall(used, requests, &have_arrived, statuses);
    if (have_arrived) MPI_Ibarrier(comm, &barrier);
  }
  CHECK(barrier == MPI_REQUEST_NULL, "the barrier's request in round %d", current_round);
  for (int from = 0; from < world_size; ++from)
    CHECK(next[from] == messages[from][world_rank], "round %d: %d messages from rank %d, not %d", current_round,
          next[from], from, messages[from][world_rank]);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  const int rounds = argc > 1 ? atoi(argv[1]) : 500;
  signal(SIGALRM, on_alarm);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  set_up(comm);
  for (current_round = 0; current_round < rounds && failures == 0; ++current_round) {
    alarm(kLimitSeconds);
    choose_pattern();
    // A rank that has ended a round may send in the next one while another has yet to see the end.
    exchange(current_round % 2);
  }
  MPI_Comm_free(&comm);
  return finish("nbx");
}
