// SPDX-License-Identifier: BSD-3-Clause
// File operations that are started, all of them, with a barrier before their end: each writes or reads what it should.
#include <unistd.h>

#include "check.h"

enum { kAt, kAtAll, kPlain, kAll, kShared, kOperations };
enum { kLongs = 1000 };
static long block[kLongs];
static int operation;

static long value(int rank, int at) { return 100000L * operation + 1000L * rank + at; }

static void fill(long nothing) {
  for (int i = 0; i < kLongs; ++i) block[i] = nothing != 0 ? nothing : value(world_rank, i);
}

// Of this rank's block, or of the next one through the shared pointer.
static int begin(MPI_File file, int writes, MPI_Request* request) {
  const MPI_Offset own = (MPI_Offset)world_rank * (MPI_Offset)sizeof block;
  MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
  MPI_File_seek(file, own, MPI_SEEK_SET);
  switch (operation) {
    case kAt:
      return writes ? MPI_File_iwrite_at(file, own, block, kLongs, MPI_LONG, request)
                    : MPI_File_iread_at(file, own, block, kLongs, MPI_LONG, request);
    case kAtAll:
      return writes ? MPI_File_iwrite_at_all(file, own, block, kLongs, MPI_LONG, request)
                    : MPI_File_iread_at_all(file, own, block, kLongs, MPI_LONG, request);
    case kPlain:
      return writes ? MPI_File_iwrite(file, block, kLongs, MPI_LONG, request)
                    : MPI_File_iread(file, block, kLongs, MPI_LONG, request);
    case kAll:
      return writes ? MPI_File_iwrite_all(file, block, kLongs, MPI_LONG, request)
                    : MPI_File_iread_all(file, block, kLongs, MPI_LONG, request);
    default:
      return writes ? MPI_File_iwrite_shared(file, block, kLongs, MPI_LONG, request)
                    : MPI_File_iread_shared(file, block, kLongs, MPI_LONG, request);
  }
}

// Between the beginning and the end of each.
static void end(int code, MPI_Request* request) {
  MPI_Status status;
  int count = 0;
  CHECK(code == MPI_SUCCESS, "operation %d", operation);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(MPI_Wait(request, &status) == MPI_SUCCESS, "operation %d", operation);
  MPI_Get_count(&status, MPI_LONG, &count);
  CHECK(count == kLongs, "operation %d: %d", operation, count);
  MPI_Barrier(MPI_COMM_WORLD);
}

// Blocks through the shared pointer lie in any order.
static void compare(int is_in_order) {
  const int rank = is_in_order ? world_rank : (int)((block[0] - value(0, 0)) / 1000);
  CHECK(rank >= 0 && rank < world_size, "operation %d: %ld", operation, block[0]);
  for (int i = 0; i < kLongs; ++i) CHECK(block[i] == value(rank, i), "operation %d at %d: %ld", operation, i, block[i]);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  set_up(MPI_COMM_WORLD);
  char name[256] = "";
  if (world_rank == 0)
    snprintf(name, sizeof name, "%s/hocket-files-%d", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", (int)getpid());
  MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
  MPI_File file;
  CHECK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                      &file) == MPI_SUCCESS,
        "%s", name);
  for (operation = 0; operation < kOperations; ++operation) {
    for (int writes = 1; writes >= 0; --writes) {
      MPI_Request request;
      fill(writes ? 0 : -1);
      end(begin(file, writes, &request), &request);
    }
    compare(operation != kShared);
  }
  MPI_File_close(&file);
  return finish("files");
}
