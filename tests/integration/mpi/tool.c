// SPDX-License-Identifier: BSD-3-Clause
// A profiling tool, as it would be preloaded before hocket or behind it: it counts what the program calls, by the MPI's
// profiling interface, and says so at the end, rank by rank.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

// function, its parameters, and the same as arguments
#define COUNTED(X)                                                                                               \
  X(Barrier, (MPI_Comm comm), (comm))                                                                            \
  X(Bcast, (void* data, int count, MPI_Datatype type, int root, MPI_Comm comm), (data, count, type, root, comm)) \
  X(Reduce, (const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm),       \
    (in, out, count, type, op, root, comm))                                                                      \
  X(Allreduce, (const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),              \
    (in, out, count, type, op, comm))                                                                            \
  X(Comm_dup, (MPI_Comm comm, MPI_Comm * made), (comm, made))                                                    \
  X(Comm_free, (MPI_Comm * comm), (comm))                                                                        \
  X(Type_free, (MPI_Datatype * type), (type))                                                                    \
  X(Send, (const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm),                      \
    (data, count, type, to, tag, comm))                                                                          \
  X(Ssend, (const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm),                     \
    (data, count, type, to, tag, comm))                                                                          \
  X(Recv, (void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status),      \
    (data, count, type, from, tag, comm, status))                                                                \
  X(Irecv, (void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* request),   \
    (data, count, type, from, tag, comm, request))                                                               \
  X(Wait, (MPI_Request * request, MPI_Status * status), (request, status))                                       \
  X(Waitall, (int count, MPI_Request requests[], MPI_Status statuses[]), (count, requests, statuses))            \
  X(Probe, (int from, int tag, MPI_Comm comm, MPI_Status* status), (from, tag, comm, status))                    \
  X(Mprobe, (int from, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status),                        \
    (from, tag, comm, message, status))                                                                          \
  X(Mrecv, (void* data, int count, MPI_Datatype type, MPI_Message* message, MPI_Status* status),                 \
    (data, count, type, message, status))

#define COUNT(name, parameters, arguments) \
  static long name##_calls;                \
  int MPI_##name parameters {              \
    ++name##_calls;                        \
    return PMPI_##name arguments;          \
  }
COUNTED(COUNT)

// A line in one piece, since ranks write at the same time.
int MPI_Finalize(void) {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char* mark = getenv("TOOL_MARK");
  char line[1024];
  int length = snprintf(line, sizeof line, "%s: tool of rank %d:", mark == NULL ? "tool" : mark, rank);
#define SAY(name, parameters, arguments) \
  if (name##_calls != 0) length += snprintf(line + length, sizeof line - length, " " #name " %ld", name##_calls);
  COUNTED(SAY)
  line[length++] = '\n';
  fflush(stdout);
  if (write(1, line, length) != length) abort();
  return PMPI_Finalize();
}
