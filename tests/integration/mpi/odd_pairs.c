// SPDX-License-Identifier: BSD-3-Clause
// Predefined operations on predefined types for which the standard doesn't define them: what the MPI computes, hocket
// computes alike; what the MPI refuses, it refuses under hocket, once and by the communicator's error handler.
#include "check.h"

enum { kMost = 40, kBytes = 32 };

static int raised = 0;

static void count_error(MPI_Comm* comm, int* code, ...) {
  (void)comm, (void)code;
  ++raised;
}

// Whether it was computed.
static int compare(MPI_Datatype type, MPI_Op op, int count, MPI_Comm comm, MPI_Comm native) {
  static unsigned char data[kMost * kBytes], expected[kMost * kBytes], result[kMost * kBytes];
  for (int i = 0; i < (int)sizeof data; ++i) data[i] = (unsigned char)((world_rank * 7 + i * 5) % 50);
  memset(expected, 1, sizeof expected);
  memset(result, 1, sizeof result);
  raised = 0;
  const int right = native_allreduce(data, expected, count, type, op, native);
  const int is_refused = raised != 0;  // MPICH 5 returns MPI_SUCCESS all the same
  raised = 0;
  const int code = MPI_Allreduce(data, result, count, type, op, comm);
  CHECK((code == MPI_SUCCESS) == (right == MPI_SUCCESS), "hocket %d, the MPI %d", code, right);
  CHECK(raised == is_refused, "the error was raised %d times", raised);
  if (!is_refused) CHECK(memcmp(result, expected, sizeof result) == 0, "another result");
  return !is_refused;
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  MPI_Comm comm, native;
  MPI_Errhandler counting;
  MPI_Comm_create_errhandler(count_error, &counting);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_dup(MPI_COMM_WORLD, &native);
  MPI_Comm_set_errhandler(comm, counting);
  MPI_Comm_set_errhandler(native, counting);
  set_up(comm);
  const struct {
    MPI_Datatype type;
    MPI_Op op;
  } pairs[] = {{MPI_CHAR, MPI_SUM},   {MPI_CHAR, MPI_PROD}, {MPI_CHAR, MPI_MIN},   {MPI_CHAR, MPI_MAX},
               {MPI_CHAR, MPI_LAND},  {MPI_CHAR, MPI_LOR},  {MPI_CHAR, MPI_LXOR},  {MPI_CHAR, MPI_BAND},
               {MPI_CHAR, MPI_BOR},   {MPI_CHAR, MPI_BXOR}, {MPI_AINT, MPI_LAND},  {MPI_OFFSET, MPI_LOR},
               {MPI_COUNT, MPI_LXOR}, {MPI_2INT, MPI_SUM},  {MPI_INT, MPI_MINLOC}, {MPI_CHAR, MPI_MAXLOC},
#ifdef OPEN_MPI
               {MPI_BYTE, MPI_SUM},   {MPI_BYTE, MPI_LAND},
#endif
               {MPI_WCHAR, MPI_SUM}};
  int sums_of_characters = 0, refused = 0;
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; ++i) {
    for (int count = 1; count <= kMost; count += 13) {
      const int computed = compare(pairs[i].type, pairs[i].op, count, comm, native);
      if (i == 0) sums_of_characters += computed;
      refused += !computed;
    }
  }
  CHECK(sums_of_characters != 0, "this MPI adds no characters: the test shows nothing");
  CHECK(refused != 0, "this MPI refuses nothing: the test shows nothing");
  MPI_Errhandler_free(&counting);
  MPI_Comm_free(&comm);
  MPI_Comm_free(&native);
  return finish("odd_pairs");
}
