// SPDX-License-Identifier: BSD-3-Clause
// To be preloaded behind the interposer where Intel MPI's runtime serves the standard binary interface: that one takes
// MPI_ERRORS_RETURN for MPI_ERRORS_ARE_FATAL. Here the program gets a handler that does nothing in its place, which
// comes to what the standard says. The interposer uses the PMPI names and doesn't get it.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stddef.h>

// The library may have been loaded with local scope, so RTLD_NEXT doesn't find it.
static void* real(const char* name) {
  static void* library = NULL;
  if (library == NULL) library = dlopen("libmpi_abi.so.1", RTLD_LAZY | RTLD_NOLOAD);
  return library != NULL ? dlsym(library, name) : NULL;
}
#define REAL(name) ((__typeof__(&name))real(#name))

// For each kind of object: the handler, and the functions that take and give one.
#define KIND(kind)                                                                                 \
  static void return_from_##kind(MPI_##kind* object, int* code, ...) { (void)object, (void)code; } \
  static MPI_Errhandler kind##_handler = MPI_ERRHANDLER_NULL;                                      \
  static MPI_Errhandler replaced_in_##kind(MPI_Errhandler handler) {                               \
    if (handler != MPI_ERRORS_RETURN) return handler;                                              \
    if (kind##_handler == MPI_ERRHANDLER_NULL) {                                                   \
      REAL(PMPI_##kind##_create_errhandler)(return_from_##kind, &kind##_handler);                  \
    }                                                                                              \
    return kind##_handler;                                                                         \
  }                                                                                                \
  int MPI_##kind##_set_errhandler(MPI_##kind object, MPI_Errhandler handler) {                     \
    return REAL(PMPI_##kind##_set_errhandler)(object, replaced_in_##kind(handler));                \
  }                                                                                                \
  int MPI_##kind##_get_errhandler(MPI_##kind object, MPI_Errhandler* handler) {                    \
    const int error = REAL(PMPI_##kind##_get_errhandler)(object, handler);                         \
    if (error != MPI_SUCCESS || *handler == MPI_ERRHANDLER_NULL) return error;                     \
    if (*handler != kind##_handler) return MPI_SUCCESS;                                            \
    REAL(PMPI_Errhandler_free)(handler);                                                           \
    *handler = MPI_ERRORS_RETURN;                                                                  \
    return MPI_SUCCESS;                                                                            \
  }
KIND(Comm)
KIND(Win)
KIND(File)
KIND(Session)

int MPI_Session_init(MPI_Info info, MPI_Errhandler handler, MPI_Session* session) {
  return REAL(PMPI_Session_init)(info, replaced_in_Session(handler), session);
}

int MPI_Comm_create_from_group(MPI_Group group, const char* tag, MPI_Info info, MPI_Errhandler handler,
                               MPI_Comm* comm) {
  return REAL(PMPI_Comm_create_from_group)(group, tag, info, replaced_in_Comm(handler), comm);
}

int MPI_Intercomm_create_from_groups(MPI_Group local, int local_leader, MPI_Group remote, int remote_leader,
                                     const char* tag, MPI_Info info, MPI_Errhandler handler, MPI_Comm* comm) {
  return REAL(PMPI_Intercomm_create_from_groups)(local, local_leader, remote, remote_leader, tag, info,
                                                 replaced_in_Comm(handler), comm);
}
