// SPDX-License-Identifier: BSD-3-Clause
// Run with a forced choice that can't be honoured: every rank hears of it, as of an error that the MPI finds, from each
// call for which it was made; nothing else is carried out in its place.
#include "check.h"

static int errors = 0;
static void note_error(MPI_Comm* comm, int* code, ...) {
  (void)comm, (void)code;
  ++errors;
}

static void add(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count; ++i) ((int*)inout)[i] += ((int*)in)[i];
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  MPI_Op ordered;
  MPI_Op_create(add, 0, &ordered);
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(note_error, &handler);
  // Otherwise the default handler ends the job, which is for the caller of this program to see.
  if (getenv("DEFAULT_HANDLER") == NULL) MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  for (int call = 0; call < 5; ++call) {
    int sum = -1, class = 0;
    const int code = MPI_Allreduce(&world_rank, &sum, 1, MPI_INT, ordered, MPI_COMM_WORLD);
    MPI_Error_class(code, &class);
    CHECK(class == MPI_ERR_OTHER, "class %d", class);
    CHECK(errors == call + 1, "%d errors after %d calls", errors, call + 1);
    CHECK(sum == -1, "sum %d", sum);
  }
  MPI_Errhandler_free(&handler);
  MPI_Op_free(&ordered);
  return finish("forced");
}
