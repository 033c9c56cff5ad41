// SPDX-License-Identifier: BSD-3-Clause
// Run with a fault on one rank (failing_calls.c), in packing or unpacking: that rank's call returns the error, nobody
// waits for it. What it couldn't pack is an error on those that need it, and on that communicator from then on; others
// are as right as ever. With LITTLE_ROOM set the rank has no memory to pack into: then the job ends. With little shared
// memory on one rank, all ranks hear of it.
#include <sys/resource.h>

#include "check.h"

enum { kCount = 100 };

static int faulty_rank = 0, faults_in_packing = 0, faults_in_unpacking = 0;

static void add(void* in, void* inout, int* count, MPI_Datatype* type) {
  MPI_Aint lb, extent;
  MPI_Type_get_extent(*type, &lb, &extent);
  for (int i = 0; i < *count; ++i) {
    *(int*)((char*)inout + i * extent) += *(int*)((char*)in + i * extent);
  }
}

static void sums_are_right(MPI_Comm comm) {
  int sum = -1;
  CHECK(MPI_Barrier(comm) == MPI_SUCCESS, "barrier");
  CHECK(MPI_Allreduce(&world_rank, &sum, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS, "allreduce");
  CHECK(sum == world_size * (world_size - 1) / 2, "sum %d", sum);
}

static void expect(int code, int fails_here, const char* what) {
  CHECK((code != MPI_SUCCESS) == fails_here, "%s returned %d", what, code);
}

// An int and a gap of the same size.
static MPI_Datatype sparse_type(void) {
  MPI_Datatype vector, type;
  MPI_Type_vector(1, 1, 1, MPI_INT, &vector);
  MPI_Type_create_resized(vector, 0, 2 * sizeof(int), &type);
  MPI_Type_commit(&type);
  MPI_Type_free(&vector);
  return type;
}

static MPI_Comm duplicate(MPI_Comm comm) {
  MPI_Comm copy;
  MPI_Comm_dup(comm, &copy);
  MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
  set_up(copy);
  return copy;
}

static void all_report_it(MPI_Comm comm) {
  for (int call = 0; call < 2; ++call) CHECK(MPI_Barrier(comm) != MPI_SUCCESS, "the communicator is still good");
}

static void broadcasts_end_on_all_ranks(MPI_Comm comm, MPI_Datatype type) {
  static int data[2 * kCount];
  for (int root = 0; root < world_size; ++root) {
    MPI_Comm used = duplicate(comm);
    for (int i = 0; i < 2 * kCount; ++i) data[i] = world_rank == root ? i : -1;
    const int code = MPI_Bcast(data, kCount, type, root, used);
    const int is_faulty = world_rank == faulty_rank, nothing_came = faults_in_packing && root == faulty_rank;
    expect(code, nothing_came || (is_faulty && root != faulty_rank && faults_in_unpacking), "broadcast");
    for (int i = 0; i < 2 * kCount && code == MPI_SUCCESS; ++i) {
      const int right = i % 2 == 0 || world_rank == root ? i : -1;
      CHECK(data[i] == right, "root %d place %d holds %d", root, i, data[i]);
    }
    nothing_came ? all_report_it(used) : sums_are_right(used);
    sums_are_right(comm);
    MPI_Comm_free(&used);
  }
}

static void reductions_end_on_all_ranks(MPI_Comm comm, MPI_Datatype type) {
  static int input[2 * kCount], result[2 * kCount];
  MPI_Op op;
  MPI_Op_create(add, 1, &op);
  for (int round = 0; round < 6; ++round) {
    const int root = round % world_size, in_place = round % 2;
    for (int i = 0; i < 2 * kCount; ++i) input[i] = world_rank, result[i] = world_rank;
    MPI_Comm used = duplicate(comm);
    int code = MPI_Allreduce(in_place ? MPI_IN_PLACE : (void*)input, result, kCount, type, op, used);
    if (world_rank == faulty_rank || faults_in_packing) expect(code, 1, "allreduce");
    if (faults_in_packing) all_report_it(used);
    MPI_Comm_free(&used);
    used = duplicate(comm);
    const void* operand = in_place && world_rank == root ? MPI_IN_PLACE : input;
    code = MPI_Reduce(operand, result, kCount, type, op, root, used);
    if (faults_in_packing && (world_rank == faulty_rank || world_rank == root)) expect(code, 1, "reduce");
    if (faults_in_packing) all_report_it(used);
    MPI_Comm_free(&used);
    sums_are_right(comm);
  }
  MPI_Op_free(&op);
}

// More than the rank may have; the others get it, and don't touch it while the root has sent nothing.
static void broadcast_without_memory(MPI_Comm comm) {
  enum { kBytes = 512 << 20 };
  MPI_Datatype part, type;
  MPI_Type_vector(2, 1 << 20, 1 << 21, MPI_BYTE, &part);
  MPI_Type_create_resized(part, 0, 1, &type);  // the elements of the root lie over each other
  MPI_Type_commit(&type);
  char* data = malloc(8 << 20);
  if (world_rank == faulty_rank) {
    const struct rlimit limit = {1, 1};
    CHECK(setrlimit(RLIMIT_AS, &limit) == 0, "RLIMIT_AS");
  }
  MPI_Bcast(data, kBytes >> 21, type, faulty_rank, comm);
  CHECK(0, "the job goes on");
}

// One rank may share a MiB, and gives all of it away before the collective that needs some: all ranks get the error.
static void reduction_without_shared_memory(MPI_Comm comm) {
  enum { kElements = 1 << 20, kBlocks = 1 << 10 };
  char* blocks[kBlocks] = {NULL};
  if (world_rank == faulty_rank) {
    for (int i = 0; i < kBlocks; ++i) MPI_Alloc_mem(1 << 10, MPI_INFO_NULL, &blocks[i]);
  }
  double* input = calloc(kElements, sizeof *input);
  double* output = calloc(kElements, sizeof *output);
  for (int call = 0; call < 3; ++call) {
    int class = 0;
    MPI_Error_class(MPI_Allreduce(input, output, kElements, MPI_DOUBLE, MPI_SUM, comm), &class);
    CHECK(class == MPI_ERR_OTHER, "call %d: class %d", call, class);
  }
  for (int i = 0; i < kBlocks; ++i) {
    if (blocks[i] != NULL) MPI_Free_mem(blocks[i]);
  }
  free(input);
  free(output);
  MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  const char *fault = getenv("FAULT"), *rank = getenv("FAULT_RANK");
  faulty_rank = rank != NULL ? atoi(rank) : 0;
  faults_in_packing = fault != NULL && strcmp(fault, "pack") == 0;
  faults_in_unpacking = fault != NULL && strcmp(fault, "unpack") == 0;
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  sums_are_right(comm);
  if (getenv("LITTLE_ROOM") != NULL) broadcast_without_memory(comm);
  if (fault != NULL && strcmp(fault, "little_memory") == 0) {
    reduction_without_shared_memory(comm);
    return finish("lone_failure");
  }
  MPI_Datatype type = sparse_type();
  broadcasts_end_on_all_ranks(comm, type);
  reductions_end_on_all_ranks(comm, type);
  MPI_Type_free(&type);
  MPI_Comm_free(&comm);
  return finish("lone_failure");
}
