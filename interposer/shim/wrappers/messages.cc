// SPDX-License-Identifier: BSD-3-Clause
// Messages and file operations that are started, counted until the program has seen their end (completion.h): a peer
// may wait for the ones while this rank waits in hocket, and some MPIs move the others only when they are called.
#include <climits>

#include "core/awaited_progress.h"
#include "shim/job/job.h"
#include "shim/requests/waits.h"
#include "shim/underneath/handles.h"
#include "shim/wrappers/wrappers.h"

namespace interposer = hocket::interposer;

namespace {

// One to MPI_PROC_NULL, say, may be over at once.
template <typename PassThrough>
int begin_message(const MPI_Request* request, const PassThrough& pass_through) {
  const int error = pass_through();
  if (error == MPI_SUCCESS && *request != interposer::handles.request_null &&
      interposer::mode() == interposer::Mode::kServing && !interposer::is_nested())
    interposer::awaited_progress.message_begins();
  return error;
}

// What an MPI sends on the way is its own.
template <typename PassThrough>
int begin_file_operation(const MPI_Request* request, const PassThrough& pass_through) {
  return begin_message(request, [&] {
    const interposer::NestedCall nested;
    return pass_through();
  });
}

}  // namespace

#define HOCKET_WRAP_SEND(name)                                                                                  \
  HOCKET_WRAP_PEER(                                                                                             \
      name, to, tag,                                                                                            \
      (const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request), \
      (buffer, count, type, to, tag, comm, request),                                                            \
      (interposer::ring_peer(to, comm), begin_message(request, pass_through)))
HOCKET_WRAP_SEND(Isend)
HOCKET_WRAP_SEND(Issend)
HOCKET_WRAP_SEND(Irsend)
HOCKET_WRAP_PEER(Irecv, from, tag,
                 (void* buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* request),
                 (buffer, count, type, from, tag, comm, request),
                 (interposer::ring_peer(from, comm), begin_message(request, pass_through)))
HOCKET_WRAP(Imrecv, (void* buffer, int count, MPI_Datatype type, MPI_Message* message, MPI_Request* request),
            (buffer, count, type, message, request), begin_message(request, pass_through))

#define HOCKET_WRAP_FILE(name, buffer_type)                                                                         \
  HOCKET_WRAP(File_##name, (MPI_File file, buffer_type buffer, int count, MPI_Datatype type, MPI_Request* request), \
              (file, buffer, count, type, request), begin_file_operation(request, pass_through))
#define HOCKET_WRAP_FILE_AT(name, buffer_type)                                                                    \
  HOCKET_WRAP(                                                                                                    \
      File_##name,                                                                                                \
      (MPI_File file, MPI_Offset offset, buffer_type buffer, int count, MPI_Datatype type, MPI_Request* request), \
      (file, offset, buffer, count, type, request), begin_file_operation(request, pass_through))
HOCKET_WRAP_FILE(iread, void*)
HOCKET_WRAP_FILE(iread_all, void*)
HOCKET_WRAP_FILE(iread_shared, void*)
HOCKET_WRAP_FILE(iwrite, const void*)
HOCKET_WRAP_FILE(iwrite_all, const void*)
HOCKET_WRAP_FILE(iwrite_shared, const void*)
HOCKET_WRAP_FILE_AT(iread_at, void*)
HOCKET_WRAP_FILE_AT(iread_at_all, void*)
HOCKET_WRAP_FILE_AT(iwrite_at, const void*)
HOCKET_WRAP_FILE_AT(iwrite_at_all, const void*)

#if HOCKET_HAS_COUNT_FUNCTIONS
// `narrow`: the same by the function with int, for an MPI that is older than those with MPI_Count.
#define HOCKET_WRAP_MESSAGE(prefix, next, ring, begin, name, parameters, wide, narrow)                  \
  HOCKET_EXPORT int prefix##name##_c parameters {                                                       \
    HOCKET_IN(name##_c);                                                                                \
    ring;                                                                                               \
    return begin(request, [&] {                                                                         \
      if (const auto function = interposer::next().name##_c; function != nullptr) return function wide; \
      return count > INT_MAX ? MPI_ERR_COUNT : interposer::next().name narrow;                          \
    });                                                                                                 \
  }
#define HOCKET_WRAP_BOTH_MESSAGES(...)             \
  HOCKET_WRAP_MESSAGE(MPI_, next_mpi, __VA_ARGS__) \
  HOCKET_WRAP_MESSAGE(PMPI_, next_pmpi, __VA_ARGS__)
#define HOCKET_WRAP_LONG_SEND(name)                                                                                   \
  HOCKET_WRAP_BOTH_MESSAGES(                                                                                          \
      interposer::ring_peer(to, comm), begin_message, name,                                                           \
      (const void* buffer, MPI_Count count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request), \
      (buffer, count, type, to, tag, comm, request), (buffer, static_cast<int>(count), type, to, tag, comm, request))
HOCKET_WRAP_LONG_SEND(Isend)
HOCKET_WRAP_LONG_SEND(Issend)
HOCKET_WRAP_LONG_SEND(Irsend)
HOCKET_WRAP_BOTH_MESSAGES(interposer::ring_peer(from, comm), begin_message, Irecv,
                          (void* buffer, MPI_Count count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                           MPI_Request* request),
                          (buffer, count, type, from, tag, comm, request),
                          (buffer, static_cast<int>(count), type, from, tag, comm, request))
HOCKET_WRAP_BOTH_MESSAGES(interposer::ring_waiting(), begin_message, Imrecv,
                          (void* buffer, MPI_Count count, MPI_Datatype type, MPI_Message* message,
                           MPI_Request* request),
                          (buffer, count, type, message, request),
                          (buffer, static_cast<int>(count), type, message, request))
#define HOCKET_WRAP_LONG_FILE(name, buffer_type)                                                      \
  HOCKET_WRAP_BOTH_MESSAGES(                                                                          \
      static_cast<void>(0), begin_file_operation, File_##name,                                        \
      (MPI_File file, buffer_type buffer, MPI_Count count, MPI_Datatype type, MPI_Request * request), \
      (file, buffer, count, type, request), (file, buffer, static_cast<int>(count), type, request))
#define HOCKET_WRAP_LONG_FILE_AT(name, buffer_type)                                                                    \
  HOCKET_WRAP_BOTH_MESSAGES(static_cast<void>(0), begin_file_operation, File_##name,                                   \
                            (MPI_File file, MPI_Offset offset, buffer_type buffer, MPI_Count count, MPI_Datatype type, \
                             MPI_Request * request),                                                                   \
                            (file, offset, buffer, count, type, request),                                              \
                            (file, offset, buffer, static_cast<int>(count), type, request))
HOCKET_WRAP_LONG_FILE(iread, void*)
HOCKET_WRAP_LONG_FILE(iread_all, void*)
HOCKET_WRAP_LONG_FILE(iread_shared, void*)
HOCKET_WRAP_LONG_FILE(iwrite, const void*)
HOCKET_WRAP_LONG_FILE(iwrite_all, const void*)
HOCKET_WRAP_LONG_FILE(iwrite_shared, const void*)
HOCKET_WRAP_LONG_FILE_AT(iread_at, void*)
HOCKET_WRAP_LONG_FILE_AT(iread_at_all, void*)
HOCKET_WRAP_LONG_FILE_AT(iwrite_at, const void*)
HOCKET_WRAP_LONG_FILE_AT(iwrite_at_all, const void*)
#endif
