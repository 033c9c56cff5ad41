// SPDX-License-Identifier: BSD-3-Clause
// A library that is preloaded behind the interposer and makes one rank's MPI, or its kernel, fail where a test wants
// it: FAULT says what, FAULT_RANK on which rank.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

// Before MPI_Init only the launcher's variables tell the rank.
static int is_here(const char* fault) {
  const char *wanted = getenv("FAULT"), *where = getenv("FAULT_RANK"), *rank = getenv("PMI_RANK");
  if (rank == NULL) rank = getenv("OMPI_COMM_WORLD_RANK");
  if (wanted == NULL || where == NULL || rank == NULL) return 0;
  return strcmp(wanted, fault) == 0 && strcmp(where, rank) == 0;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

// One rank's environment differs from the others'.
__attribute__((constructor)) static void change_environment(void) {
  if (is_here("setting")) setenv("HOCKET_WAIT", "typo", 1);
  if (is_here("little_memory")) setenv("HOCKET_MEMORY", "1M", 1);
}

int memfd_create(const char* name, unsigned flags) {
  if (is_here("memory_file") && strcmp(name, "hocket") == 0) {
    errno = EMFILE;
    return -1;
  }
  return REAL(memfd_create)(name, flags);
}

// The interposer's first message comes as if another version had sent it.
int PMPI_Bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  static int calls = 0;
  const int error = REAL(PMPI_Bcast)(buffer, count, type, root, comm);
  if (calls++ == 0 && is_here("other_version")) memset(buffer, 0, (size_t)count);
  return error;
}

int PMPI_Comm_create_keyval(MPI_Comm_copy_attr_function* copy, MPI_Comm_delete_attr_function* delete, int* keyval,
                            void* extra) {
  if (is_here("attributes")) return MPI_ERR_OTHER;
  return REAL(PMPI_Comm_create_keyval)(copy, delete, keyval, extra);
}

int PMPI_Comm_dup(MPI_Comm comm, MPI_Comm* copy) {
  const int error = REAL(PMPI_Comm_dup)(comm, copy);
  return is_here("duplicate") ? MPI_ERR_OTHER : error;
}

int PMPI_Comm_set_attr(MPI_Comm comm, int keyval, void* value) {
  if (is_here("comm_attribute")) return MPI_ERR_OTHER;
  return REAL(PMPI_Comm_set_attr)(comm, keyval, value);
}

int PMPI_Type_set_attr(MPI_Datatype type, int keyval, void* value) {
  if (is_here("type_attribute")) return MPI_ERR_OTHER;
  return REAL(PMPI_Type_set_attr)(type, keyval, value);
}

// Single elements, by which the interposer examines a type, are packed as ever.
int PMPI_Pack(const void* in, int count, MPI_Datatype type, void* out, int bytes, int* position, MPI_Comm comm) {
  static int calls = 0;
  if (count > 1 && is_here("pack")) return MPI_ERR_OTHER;
  // In the middle of what is packed part by part, as a rule.
  if (count > 1 && is_here("pack_at_times") && ++calls % 5 == 0) return MPI_ERR_OTHER;
  return REAL(PMPI_Pack)(in, count, type, out, bytes, position, comm);
}

int PMPI_Unpack(const void* in, int bytes, int* position, void* out, int count, MPI_Datatype type, MPI_Comm comm) {
  if (count > 1 && is_here("unpack")) return MPI_ERR_OTHER;
  return REAL(PMPI_Unpack)(in, bytes, position, out, count, type, comm);
}
