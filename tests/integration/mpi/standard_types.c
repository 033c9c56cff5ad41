// SPDX-License-Identifier: BSD-3-Clause
// Types that only the standard binary interface names. Not every MPI behind it has all of them; where it lacks one, its
// own error comes, on all ranks, and where it has it, its own result.
#include "check.h"

struct Type {
  MPI_Datatype type;
  const char* name;
  MPI_Op op;
};

static int class_of(int code) {
  int class = 0;
  MPI_Error_class(code, &class);
  return class;
}

// Small numbers in whatever format it is: the same bytes, added up by both.
static void fill(unsigned char* bytes, size_t size) {
  for (size_t i = 0; i < size; ++i) bytes[i] = i % 4 == 0 ? 1 : 0;
}

static void compare(const struct Type* type) {
  enum { kRoom = 256, kCount = 3 };
  unsigned char input[kRoom], ours[kRoom], theirs[kRoom];
  fill(input, kRoom);
  memset(ours, 0x55, kRoom);
  memset(theirs, 0x55, kRoom);
  int class = class_of(MPI_Allreduce(input, ours, kCount, type->type, type->op, MPI_COMM_WORLD));
  int expected = class_of(native_allreduce(input, theirs, kCount, type->type, type->op, MPI_COMM_WORLD));
  CHECK(class == expected, "allreduce of %s: class %d, %d by the MPI", type->name, class, expected);
  if (expected == MPI_SUCCESS) CHECK(memcmp(ours, theirs, kRoom) == 0, "allreduce of %s", type->name);

  const int root = world_size - 1;
  memcpy(ours, world_rank == root ? input : theirs, kRoom);
  memcpy(theirs, ours, kRoom);
  class = class_of(MPI_Bcast(ours, kCount, type->type, root, MPI_COMM_WORLD));
  expected = class_of(native_bcast(theirs, kCount, type->type, root, MPI_COMM_WORLD));
  CHECK(class == expected, "broadcast of %s: class %d, %d by the MPI", type->name, class, expected);
  CHECK(memcmp(ours, theirs, kRoom) == 0, "broadcast of %s", type->name);
  if (world_rank == 0) printf("%s: class %d\n", type->name, expected);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
#define TYPE(name, op) {name, #name, op}
  const struct Type types[] = {
      TYPE(MPI_LOGICAL1, MPI_LOR),  TYPE(MPI_LOGICAL2, MPI_LOR),  TYPE(MPI_LOGICAL4, MPI_LAND),
      TYPE(MPI_LOGICAL8, MPI_LXOR), TYPE(MPI_LOGICAL16, MPI_LOR), TYPE(MPI_INTEGER1, MPI_SUM),
      TYPE(MPI_INTEGER8, MPI_MAX),  TYPE(MPI_INTEGER16, MPI_SUM), TYPE(MPI_REAL2, MPI_SUM),
      TYPE(MPI_REAL8, MPI_MIN),     TYPE(MPI_REAL16, MPI_SUM),    TYPE(MPI_COMPLEX4, MPI_SUM),
      TYPE(MPI_COMPLEX8, MPI_PROD), TYPE(MPI_COMPLEX16, MPI_SUM), TYPE(MPI_C_FLOAT_COMPLEX, MPI_SUM),
      TYPE(MPI_CXX_BOOL, MPI_LOR),  TYPE(MPI_PACKED, MPI_SUM),    TYPE(MPI_CHARACTER, MPI_SUM)};
  for (size_t i = 0; i < sizeof types / sizeof *types; ++i) compare(&types[i]);
  return finish("standard_types");
}
