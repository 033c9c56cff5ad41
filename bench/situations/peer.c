// SPDX-License-Identifier: BSD-3-Clause
// Latency of a rank that needs the MPI of a waiting rank, and the processor time of the latter.
//
//   peer board=FILE group=rma|messages silence_s=0.1 places=first,later,receive [operation_ms=20] [limit_s=120]
//        [threads=multiple] [bound=1]
//
// All ranks but 0 wait in a place: the job's first MPI_Barrier, a later one, or MPI_Recv. Rank 0 computes for that
// long, then accesses rank 1: microseconds of each access, the mean of as many as fit into operation_ms, 50 at most.
// Accesses of rma (window from MPI_Win_create): lock, get of 8 bytes and unlock; MPI_Accumulate of 4 KiB with its lock;
// MPI_Fetch_and_op and flush. Of messages: MPI_Ssend, and MPI_Send of 64 KiB, to a posted receive; MPI_Iprobe for a
// message of 64 KiB that rank 1 has started to send, and its MPI_Recv. Where the silence lasts 50 ms or more, also the
// percent of a core that rank 1 used during it, with that window open (processor_window) or these receives posted
// (processor_messages). Lines of JSON on rank 0.
#include "board.h"

enum { kMost = 50, kMessages = 32, kLong = 64 << 10, kLongs = 512, kReleaseTag = 9 };
enum { kSsendTag = 1, kSendTag = 2, kProbeTag = 3 };

static double operation_us, silence_us;
static const char *place, *group;
static MPI_Win window = MPI_WIN_NULL;
static MPI_Request requests[3 * kMessages];
static char* messages;
static int messages_sent[4];

// The processor time of rank 1, seen from rank 0.
static double processor_us(clockid_t of_rank_1) {
  struct timespec time;
  return clock_gettime(of_rank_1, &time) != 0 ? -1 : 1e6 * (double)time.tv_sec + 1e-3 * (double)time.tv_nsec;
}

static void lock_get_unlock(int number) {
  static long got;
  (void)number;
  MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, window);
  MPI_Get(&got, 1, MPI_LONG, 1, 0, 1, MPI_LONG, window);
  MPI_Win_unlock(1, window);
}

static void accumulate(int number) {
  static long many[kLongs];
  (void)number;
  MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, window);
  MPI_Accumulate(many, kLongs, MPI_LONG, 1, 0, kLongs, MPI_LONG, MPI_SUM, window);
  MPI_Win_unlock(1, window);
}

static void fetch_and_op(int number) {
  static long one = 1, got;
  (void)number;
  MPI_Fetch_and_op(&one, &got, MPI_LONG, 1, 0, MPI_SUM, window);
  MPI_Win_flush(1, window);
}

static void ssend(int number) {
  static char message[8];
  MPI_Ssend(message, sizeof message, MPI_CHAR, 1, kSsendTag, MPI_COMM_WORLD);
  messages_sent[kSsendTag] = number + 1;
}

static void send_long(int number) {
  MPI_Send(messages, kLong, MPI_CHAR, 1, kSendTag, MPI_COMM_WORLD);
  messages_sent[kSendTag] = number + 1;
}

static void iprobe_and_receive(int number) {
  for (int has_arrived = 0; !has_arrived;) MPI_Iprobe(1, kProbeTag, MPI_COMM_WORLD, &has_arrived, MPI_STATUS_IGNORE);
  MPI_Recv(messages, kLong, MPI_CHAR, 1, kProbeTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  messages_sent[kProbeTag] = number + 1;
}

static void print_access(const char* name, double value) {
  char cell[80];
  snprintf(cell, sizeof cell, "%s:%s", place, name);
  print_cell(cell, value);
}

static int is_group(const char* name) { return strcmp(group, name) == 0; }

static void access_peer(const char* name, void (*once)(int number), int most_accesses) {
  int accesses = 0;
  const double begin = now_us();
  double end = begin;
  while (accesses < most_accesses && end < begin + operation_us) {
    once(accesses++);
    end = now_us();
  }
  print_access(name, (end - begin) / accesses);
}

static void access_window(void) {
  access_peer("lock_get_unlock", lock_get_unlock, kMost);
  access_peer("accumulate_4K", accumulate, kMost);
  MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, window);
  access_peer("fetch_and_op", fetch_and_op, kMost);
  MPI_Win_unlock(1, window);
}

static void post_messages(void) {
  for (int i = 0; i < kMessages; ++i) {
    char* const message = messages + (size_t)i * kLong;
    MPI_Irecv(message, 8, MPI_CHAR, 0, kSsendTag, MPI_COMM_WORLD, &requests[3 * i]);
    MPI_Irecv(message + (size_t)kMessages * kLong, kLong, MPI_CHAR, 0, kSendTag, MPI_COMM_WORLD, &requests[3 * i + 1]);
    MPI_Isend(message + (size_t)2 * kMessages * kLong, kLong, MPI_CHAR, 0, kProbeTag, MPI_COMM_WORLD,
              &requests[3 * i + 2]);
  }
}

static void access_by_messages(void) {
  memset(messages_sent, 0, sizeof messages_sent);
  access_peer("ssend", ssend, kMessages);
  access_peer("send_64K", send_long, kMessages);
  access_peer("iprobe_64K", iprobe_and_receive, kMessages);
}

// The operations that did not fit into operation_ms, once rank 1 waits no more.
static void send_rest(void) {
  char byte = 0;
  for (int tag = kSsendTag; tag <= kSendTag; ++tag)
    for (int i = messages_sent[tag]; i < kMessages; ++i) MPI_Send(&byte, 1, MPI_CHAR, 1, tag, MPI_COMM_WORLD);
  for (int i = messages_sent[kProbeTag]; i < kMessages; ++i)
    MPI_Recv(messages, kLong, MPI_CHAR, 1, kProbeTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void compute_in_silence(clockid_t of_rank_1) {
  const double begin = now_us(), used = processor_us(of_rank_1);
  double now = begin;
  while (now < begin + silence_us) now = now_us();
  const char* const name = is_group("rma") ? "processor_window" : "processor_messages";
  if (silence_us >= 50e3) print_access(name, 100 * (processor_us(of_rank_1) - used) / (now - begin));
}

static void wait_in_place(int is_receive) {
  char byte;
  if (is_receive && rank != 0)
    MPI_Recv(&byte, 1, MPI_CHAR, 0, kReleaseTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  else
    MPI_Barrier(MPI_COMM_WORLD);
}

static void release(int is_receive) {
  const char byte = 0;
  for (int to = 1; is_receive && to < size; ++to) MPI_Send(&byte, 1, MPI_CHAR, to, kReleaseTag, MPI_COMM_WORLD);
  if (!is_receive) MPI_Barrier(MPI_COMM_WORLD);
}

static void measure_place(clockid_t of_rank_1) {
  const int is_receive = strcmp(place, "receive") == 0, has_messages = is_group("messages");
  print_begin(place);
  if (has_messages && rank == 1) post_messages();
  meet_at_board();
  if (rank == 0) {
    compute_in_silence(of_rank_1);
    if (is_group("rma")) access_window();
    if (has_messages) access_by_messages();
    release(is_receive);
    if (has_messages) send_rest();
  } else {
    wait_in_place(is_receive);
    if (has_messages && rank == 1) MPI_Waitall(3 * kMessages, requests, MPI_STATUSES_IGNORE);
  }
  meet_at_board();
}

// Later places are those of a communicator that hocket has taken over.
static void warm_up(void) {
  const double limit = largest(now_us()) + 50e3;
  for (int i = 0; i < 15 && largest(now_us()) < limit; ++i)
    for (int j = 0; j < 20; ++j) MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  begin_program(argc, argv);
  group = word(argc, argv, "group", "rma");
  silence_us = 1e6 * atof(word(argc, argv, "silence_s", "0.1"));
  operation_us = 1e3 * atof(word(argc, argv, "operation_ms", "20"));
  char* const places = strdup(word(argc, argv, "places", "first"));
  static long memory[kLongs];
  messages = calloc((size_t)3 * kMessages, kLong);
  clockid_t of_rank_1 = CLOCK_PROCESS_CPUTIME_ID;
  clock_getcpuclockid((pid_t)all_values(getpid())[1], &of_rank_1);
  if (is_group("rma")) MPI_Win_create(memory, sizeof memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  for (char *rest = places, *one = strtok_r(places, ",", &rest); one != NULL; one = strtok_r(NULL, ",", &rest)) {
    if (strcmp(one, "first") != 0) warm_up();
    place = one;
    measure_place(of_rank_1);
  }
  if (is_group("rma")) MPI_Win_free(&window);
  free(places);
  free(messages);
  MPI_Finalize();
  return 0;
}
