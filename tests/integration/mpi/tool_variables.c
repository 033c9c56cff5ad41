// SPDX-License-Identifier: BSD-3-Clause
// A tool reads performance variables by MPI_T: hocket's among the MPI's own, which stay what they are.
#include <string.h>

#include "check.h"

enum { kLength = 256, kCalls = 10 };

struct variable {
  char name[kLength], description[kLength];
  int name_length, description_length, verbosity, class, bound_to, is_readonly, is_continuous, is_atomic;
  MPI_Datatype type;
  MPI_T_enum enumeration;
};

static int ask(int number, struct variable* variable) {
  memset(variable, 0, sizeof *variable);
  variable->name_length = variable->description_length = kLength;
  return MPI_T_pvar_get_info(number, variable->name, &variable->name_length, &variable->verbosity, &variable->class,
                             &variable->type, &variable->enumeration, variable->description,
                             &variable->description_length, &variable->bound_to, &variable->is_readonly,
                             &variable->is_continuous, &variable->is_atomic);
}

// Every number has a variable, and its name leads back to it.
static int check_all(void) {
  int count = 0, own = 0;
  CHECK(MPI_T_pvar_get_num(&count) == MPI_SUCCESS, "%d", count);
  for (int number = 0; number < count; ++number) {
    struct variable variable;
    int found = -1;
    if (ask(number, &variable) != MPI_SUCCESS) continue;  // the MPI's own may have gone
    own += strncmp(variable.name, "hocket_", 7) == 0;
    CHECK(MPI_T_pvar_get_index(variable.name, variable.class, &found) == MPI_SUCCESS, "%s", variable.name);
    CHECK(found == number, "%s: %d is %d", variable.name, number, found);
  }
  return own;
}

static MPI_T_pvar_handle handle_of(MPI_T_pvar_session session, const char* name) {
  int number = -1, count = 0;
  MPI_T_pvar_handle handle = NULL;
  CHECK(MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_COUNTER, &number) == MPI_SUCCESS, "%s", name);
  struct variable variable;
  CHECK(ask(number, &variable) == MPI_SUCCESS && variable.type == MPI_UNSIGNED_LONG, "%s", name);
  CHECK(variable.is_readonly && variable.is_continuous && variable.bound_to == MPI_T_BIND_NO_OBJECT, "%s", name);
  CHECK(variable.description_length == (int)strlen(variable.description) + 1, "%s", variable.description);
  CHECK(MPI_T_pvar_handle_alloc(session, number, NULL, &handle, &count) == MPI_SUCCESS, "%s", name);
  CHECK(count == 1, "%d", count);
  return handle;
}

static unsigned long value_of(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
  unsigned long value = 0;
  CHECK(MPI_T_pvar_read(session, handle, &value) == MPI_SUCCESS, "%lu", value);
  return value;
}

// Of the MPI's own, the first that can be had without an object.
static void use_mpis_own(MPI_T_pvar_session session) {
  struct variable variable;
  int variables = 0;
  MPI_T_pvar_get_num(&variables);
  for (int number = 0; number < variables; ++number) {
    MPI_T_pvar_handle handle;
    int count = 0;
    if (ask(number, &variable) != MPI_SUCCESS) continue;
    if (strncmp(variable.name, "hocket_", 7) == 0 || variable.bound_to != MPI_T_BIND_NO_OBJECT) continue;
    CHECK(MPI_T_pvar_handle_alloc(session, number, NULL, &handle, &count) == MPI_SUCCESS, "%s", variable.name);
    CHECK(MPI_T_pvar_handle_free(session, &handle) == MPI_SUCCESS, "%s", variable.name);
    return;
  }
}

int main(int argc, char** argv) {
  int level;
  MPI_T_init_thread(MPI_THREAD_SINGLE, &level);
  const int before = check_all();
  start(&argc, &argv);
  CHECK(check_all() == before && before >= 8, "%d", before);
  set_up(MPI_COMM_WORLD);
  MPI_T_pvar_session session;
  MPI_T_pvar_session_create(&session);
  MPI_T_pvar_handle calls = handle_of(session, "hocket_calls_carried_out"), bytes = handle_of(session, "hocket_bytes");
  MPI_T_pvar_handle late = handle_of(session, "hocket_late_ns"), time = handle_of(session, "hocket_time_ns");
  const unsigned long calls_before = value_of(session, calls), bytes_before = value_of(session, bytes);
  const unsigned long time_before = value_of(session, time), late_before = value_of(session, late);
  for (int i = 0; i < kCalls; ++i) {
    long mine = world_rank, sum = 0;
    MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == (long)world_size * (world_size - 1) / 2, "%ld", sum);
  }
  CHECK(value_of(session, calls) - calls_before == kCalls, "%lu", value_of(session, calls) - calls_before);
  CHECK(value_of(session, bytes) - bytes_before == kCalls * sizeof(long), "%lu", value_of(session, bytes));
  const unsigned long took = value_of(session, time) - time_before;
  CHECK(took > 0 && value_of(session, late) - late_before <= took, "%lu", took);
  CHECK(MPI_T_pvar_start(session, calls) == MPI_T_ERR_PVAR_NO_STARTSTOP, "%d", 0);
  CHECK(MPI_T_pvar_stop(session, calls) == MPI_T_ERR_PVAR_NO_STARTSTOP, "%d", 0);
  CHECK(MPI_T_pvar_reset(session, calls) == MPI_T_ERR_PVAR_NO_WRITE, "%d", 0);
  CHECK(MPI_T_pvar_write(session, calls, &took) == MPI_T_ERR_PVAR_NO_WRITE, "%d", 0);
  MPI_T_pvar_handle* const all[] = {&calls, &bytes, &late, &time};
  for (int i = 0; i < 4; ++i)
    CHECK(MPI_T_pvar_handle_free(session, all[i]) == MPI_SUCCESS && *all[i] == MPI_T_PVAR_HANDLE_NULL, "%d", i);
  use_mpis_own(session);
  MPI_T_pvar_session_free(&session);
  MPI_T_finalize();
  return finish("tool_variables");
}
