// SPDX-License-Identifier: BSD-3-Clause
// Everything around the collectives that a program may rely on: errors are the MPI's own, communicators come and go,
// intercommunicators, attributes and their callbacks, memory, fork, and messages that need a rank which waits.
#define _GNU_SOURCE
#include <stddef.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { kRepeated = 2 << 20 };

static int error_class(int code) {
  int class = 0;
  MPI_Error_class(code, &class);
  return class;
}

static int handled = 0;
static void note_error(MPI_Comm* comm, int* code, ...) {
  (void)comm, (void)code;
  ++handled;
}

static void wrong_arguments_raise_the_errors_of_the_mpi(void) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  int x = 1, y = 0;
  for (int round = 0; round < 2; ++round) {  // before and after the communicator has been set up
    CHECK(error_class(MPI_Bcast(&x, 1, MPI_INT, world_size, comm)) == MPI_ERR_ROOT, "root");
    CHECK(error_class(MPI_Bcast(&x, 1, MPI_INT, -7, comm)) == MPI_ERR_ROOT, "root");
    CHECK(error_class(MPI_Bcast(&x, 1, MPI_DATATYPE_NULL, 0, comm)) == MPI_ERR_TYPE, "type");
    CHECK(error_class(MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_OP_NULL, comm)) == MPI_ERR_OP, "operation");
    CHECK(error_class(MPI_Reduce(&x, &y, 1, MPI_INT, MPI_SUM, -3, comm)) == MPI_ERR_ROOT, "root");
    double d = 1, e = 0;
    CHECK(error_class(MPI_Allreduce(&d, &e, 1, MPI_DOUBLE, MPI_BAND, comm)) == MPI_ERR_OP, "bits of doubles");
#ifdef OPEN_MPI  // these crash in MPICH
    CHECK(error_class(MPI_Bcast(&x, -1, MPI_INT, 0, comm)) == MPI_ERR_COUNT, "count");
    CHECK(error_class(MPI_Allreduce(&x, &y, -1, MPI_INT, MPI_SUM, comm)) == MPI_ERR_COUNT, "count");
#else
    CHECK(error_class(MPI_Allreduce(&x, &x, 1, MPI_INT, MPI_SUM, comm)) == MPI_ERR_BUFFER, "one buffer for both");
#endif
    MPI_Datatype raw;
    MPI_Type_vector(2, 1, 2, MPI_INT, &raw);  // not committed
    int some[8] = {0};
    CHECK(error_class(MPI_Bcast(some, 1, raw, 0, comm)) == MPI_ERR_TYPE, "type that is not committed");
    MPI_Type_free(&raw);
    MPI_Barrier(comm);
  }
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(note_error, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  MPI_Bcast(&x, 1, MPI_INT, -7, comm);
  CHECK(handled == 1, "called %d times", handled);
  MPI_Errhandler_free(&handler);
  MPI_Comm_free(&comm);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  CHECK(error_class(MPI_Barrier(MPI_COMM_NULL)) == MPI_ERR_COMM, "null communicator");
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

static int sum_of_ranks(MPI_Comm comm) {
  int rank, sum = -1;
  MPI_Comm_rank(comm, &rank);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
  return sum;
}

static void communicators_come_and_go(void) {
  for (int round = 0; round < 60; ++round) {
    MPI_Comm comm;
    if (round % 3 == 0) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (round % 3 == 1) MPI_Comm_split(MPI_COMM_WORLD, 0, (world_rank * 7 + round) % world_size, &comm);
    if (round % 3 == 2) {
      MPI_Request request;
      MPI_Comm_idup(MPI_COMM_WORLD, &comm, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    for (int call = 0; call < 5; ++call) {
      CHECK(sum_of_ranks(comm) == world_size * (world_size - 1) / 2, "round %d call %d", round, call);
    }
    if (round % 2 == 0) {
      MPI_Comm_free(&comm);
    } else {
      MPI_Comm_disconnect(&comm);
    }
    CHECK(comm == MPI_COMM_NULL, "round %d", round);
  }
  MPI_Comm a, b;  // freed in different order, and one left for MPI_Finalize
  MPI_Comm_dup(MPI_COMM_WORLD, &a);
  MPI_Comm_dup(MPI_COMM_WORLD, &b);
  CHECK(sum_of_ranks(a) == sum_of_ranks(b), "duplicates");
  MPI_Comm_free(&a);
}

static void intercommunicators_are_left_alone(void) {
  if (world_size < 2) return;
  const int side = world_rank % 2;
  MPI_Comm half, inter;
  MPI_Comm_split(MPI_COMM_WORLD, side, world_rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - side, 5, &inter);
  for (int call = 0; call < 5; ++call) {
    int mine = side == 0 ? 1 : 100, sum = 0;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, inter);
    const int others = side == 0 ? world_size / 2 : (world_size + 1) / 2;
    CHECK(sum == others * (side == 0 ? 100 : 1), "sum %d", sum);
    int value = world_rank == 0 ? 17 : 0;
    MPI_Bcast(&value, 1, MPI_INT, side == 0 ? (world_rank == 0 ? MPI_ROOT : MPI_PROC_NULL) : 0, inter);
    if (side == 1) CHECK(value == 17, "value %d", value);
    MPI_Barrier(inter);
  }
  MPI_Comm merged;
  MPI_Intercomm_merge(inter, side, &merged);
  CHECK(sum_of_ranks(merged) == world_size * (world_size - 1) / 2, "merged");
  MPI_Comm_free(&merged);
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
}

static int copied = 0, deleted = 0;
static int on_copy(MPI_Comm comm, int keyval, void* extra, void* in, void* out, int* flag) {
  (void)comm, (void)keyval, (void)extra;
  ++copied;
  *(void**)out = in;
  *flag = 1;
  return MPI_SUCCESS;
}
static int on_delete(MPI_Comm comm, int keyval, void* value, void* extra) {
  (void)comm, (void)keyval, (void)value, (void)extra;
  ++deleted;
  return MPI_SUCCESS;
}

static void attributes_belong_to_the_program(void) {
  int keyval;
  MPI_Comm comm, copy;
  MPI_Comm_create_keyval(on_copy, on_delete, &keyval, NULL);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_attr(comm, keyval, &keyval);
  for (int call = 0; call < 5; ++call) MPI_Barrier(comm);
  CHECK(copied == 0 && deleted == 0, "%d copied, %d deleted by collectives", copied, deleted);
  MPI_Comm_dup(comm, &copy);
  MPI_Barrier(copy);
  MPI_Comm_free(&copy);
  MPI_Comm_free(&comm);
  CHECK(copied == 1 && deleted == 2, "%d copied, %d deleted", copied, deleted);
  MPI_Comm_free_keyval(&keyval);
}

static void memory_from_mpi_alloc_mem(void) {
  for (size_t bytes = 1; bytes <= (size_t)1 << 22; bytes *= 8) {
    unsigned char* data = NULL;
    CHECK(MPI_Alloc_mem((MPI_Aint)bytes, MPI_INFO_NULL, &data) == MPI_SUCCESS && data != NULL, "%zu bytes", bytes);
    for (int root = 0; root < world_size; ++root) {
      memset(data, world_rank == root ? root + 1 : 0, bytes);
      MPI_Bcast(data, (int)bytes, MPI_BYTE, root, MPI_COMM_WORLD);
      CHECK(data[0] == root + 1 && data[bytes / 2] == root + 1 && data[bytes - 1] == root + 1, "%zu bytes", bytes);
      MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Free_mem(data);
  }
}

static void children_of_fork_leave_the_parent_alone(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  volatile int* memory = NULL;
  MPI_Alloc_mem(sizeof *memory, MPI_INFO_NULL, (void*)&memory);
  *memory = 1;
  const pid_t child = fork();
  if (child == 0) {
    *memory = 2;
    _exit(7);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7, "status %d", status);
  // As documented: memory that peers map is shared with children too.
  CHECK(*memory == 2, "%d", *memory);
  MPI_Free_mem((void*)memory);
  CHECK(sum_of_ranks(MPI_COMM_WORLD) == world_size * (world_size - 1) / 2, "after fork");
}

// A large blocking send ends only if its receiver gives the MPI a chance, which waits in a collective.
static void messages_move_while_a_rank_waits(void) {
  enum { kBytes = 8 << 20 };
  char* data = malloc(kBytes);
  for (int round = 0; round < 3 && world_size >= 2; ++round) {
    memset(data, world_rank + 1, kBytes);
    MPI_Request request = MPI_REQUEST_NULL;
    if (world_rank == 0) MPI_Send(data, kBytes, MPI_BYTE, 1, 3, MPI_COMM_WORLD);
    if (world_rank == 1) MPI_Irecv(data, kBytes, MPI_BYTE, 0, 3, MPI_COMM_WORLD, &request);
    if (round == 0) MPI_Barrier(MPI_COMM_WORLD);
    if (round == 1) CHECK(sum_of_ranks(MPI_COMM_WORLD) >= 0, "sum");
    int x = round;
    if (round == 2) MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (world_rank == 1) CHECK(data[0] == 1 && data[kBytes - 1] == 1, "round %d", round);
  }
  free(data);
}

static void other_collectives_in_between(void) {
  for (int round = 0; round < 50; ++round) {
    int all[64] = {0}, sum = 0;
    MPI_Request request;
    MPI_Iallreduce(&world_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    CHECK(sum_of_ranks(MPI_COMM_WORLD) == world_size * (world_size - 1) / 2, "round %d", round);
    MPI_Allgather(&world_rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
    CHECK(all[world_size - 1] == world_size - 1, "round %d", round);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(sum == world_size * (world_size - 1) / 2, "round %d", round);
  }
}

#ifdef OPEN_MPI
// The same 2 MiB again and again, so that it takes no more memory than that.
static char* repeated_memory(int file, size_t bytes) {
  char* data = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data == MAP_FAILED) return NULL;
  for (size_t at = 0; at < bytes; at += kRepeated) {
    if (mmap(data + at, kRepeated, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED) return NULL;
  }
  return data;
}

// A type with a gap in it, and more bytes than can be packed at once.
static void more_than_two_gigabytes_on_a_single_rank(void) {
  if (world_rank != 0) return;
  struct DoubleInt {
    double value;
    int index;
  };
  enum { kElements = 1400 * (kRepeated / sizeof(struct DoubleInt)) };
  const int files[2] = {memfd_create("input", 0), memfd_create("output", 0)};
  CHECK(ftruncate(files[0], kRepeated) == 0 && ftruncate(files[1], kRepeated) == 0, "no memory");
  struct DoubleInt* input = (struct DoubleInt*)repeated_memory(files[0], kElements * sizeof *input);
  struct DoubleInt* output = (struct DoubleInt*)repeated_memory(files[1], kElements * sizeof *output);
  CHECK(input != NULL && output != NULL, "no memory");
  if (input == NULL || output == NULL) return;
  const int different = kRepeated / sizeof *input;
  for (int i = 0; i < different; ++i) input[i].value = i * .5, input[i].index = i;
  MPI_Allreduce(input, output, kElements, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_SELF);
  for (int i = 0; i < different; ++i) {
    CHECK(output[i].value == i * .5 && output[i].index == i, "place %d: %g %d", i, output[i].value, output[i].index);
  }
  munmap(input, kElements * sizeof *input);
  munmap(output, kElements * sizeof *output);
  close(files[0]);
  close(files[1]);
}

#endif

int main(int argc, char** argv) {
  start(&argc, &argv);
  wrong_arguments_raise_the_errors_of_the_mpi();
  communicators_come_and_go();
  intercommunicators_are_left_alone();
  attributes_belong_to_the_program();
  memory_from_mpi_alloc_mem();
  children_of_fork_leave_the_parent_alone();
  messages_move_while_a_rank_waits();
  other_collectives_in_between();
#ifdef OPEN_MPI  // MPICH takes many seconds
  more_than_two_gigabytes_on_a_single_rank();
#endif
  return finish("behaviour");
}
