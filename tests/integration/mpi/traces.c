// SPDX-License-Identifier: BSD-3-Clause
// Takes down what a program can observe of MPI's predefined objects and of its own process, before MPI_Init, after it,
// after collectives and after MPI_Finalize; and what errors that belong to no communicator come back as. Printed line
// by line as "trace: ..." by rank 0: the lines must be the same with hocket and without, which run.sh compares.
#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

extern char** environ;
static int handler_calls = 0;

static void trace(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  if (world_rank == 0) {
    printf("trace: ");
    vprintf(format, arguments);
    putchar('\n');
    fflush(stdout);
  }
  va_end(arguments);
}

static const char* class_of(int code) {
  static char text[32];
  int error_class = code;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &error_class);
  snprintf(text, sizeof text, "%s", error_class == MPI_SUCCESS ? "success" : "error");
  return text;
}

static void count_call(MPI_Comm* comm, int* code, ...) {
  (void)comm, (void)code;
  ++handler_calls;
}

// --- of the process --------------------------------------------------------------------------------------------------

static void trace_process(const char* when) {
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction action;
    if (sigaction(number, NULL, &action) != 0) continue;
    const char* what = action.sa_handler == SIG_DFL ? "default" : action.sa_handler == SIG_IGN ? "ignored" : "handled";
    if (action.sa_handler != SIG_DFL) trace("%s: signal %d is %s", when, number, what);
  }
  sigset_t blocked;
  sigprocmask(SIG_BLOCK, NULL, &blocked);
  for (int number = 1; number < NSIG; ++number)
    if (sigismember(&blocked, number) == 1) trace("%s: signal %d is blocked", when, number);
  for (char** variable = environ; *variable != NULL; ++variable) {
    const char* end = strchr(*variable, '=');
    const int length = end != NULL ? (int)(end - *variable) : (int)strlen(*variable);
    // Its value may be another in each run; hocket's own settings and the preload are what differs by intention.
    if (strncmp(*variable, "HOCKET_", 7) != 0 && strncmp(*variable, "LD_PRELOAD", 10) != 0)
      trace("%s: environment has %.*s", when, length, *variable);
  }
  const mode_t mask = umask(0);
  umask(mask);
  char folder[4096] = "";
  trace("%s: umask %o, folder %s, nice %d, policy %d", when, (unsigned)mask,
        getcwd(folder, sizeof folder) != NULL ? "there" : "gone", getpriority(PRIO_PROCESS, 0), sched_getscheduler(0));
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof set, &set);
  trace("%s: %d processors", when, CPU_COUNT(&set));
  const int limits[] = {RLIMIT_NOFILE, RLIMIT_AS, RLIMIT_CORE, RLIMIT_MEMLOCK, RLIMIT_STACK, RLIMIT_DATA, RLIMIT_NPROC};
  for (size_t i = 0; i < sizeof limits / sizeof *limits; ++i) {
    struct rlimit limit;
    getrlimit((__rlimit_resource_t)limits[i], &limit);
    trace("%s: limit %d is %lld of %lld", when, limits[i], (long long)limit.rlim_cur, (long long)limit.rlim_max);
  }
  char name[16] = "";
  prctl(PR_GET_NAME, name);
  int death_signal = 0, subreaper = 0;
  prctl(PR_GET_PDEATHSIG, &death_signal);
  prctl(PR_GET_CHILD_SUBREAPER, &subreaper);
  trace("%s: dumpable %d, death signal %d, subreaper %d, timer slack %d, name %s", when, prctl(PR_GET_DUMPABLE),
        death_signal, subreaper, prctl(PR_GET_TIMERSLACK), name);
}

// The lowest free descriptor is what open() gives: the program's numbers must not change.
static void trace_descriptors(const char* when) {
  const int lowest = open("/dev/null", O_RDONLY | O_CLOEXEC);
  close(lowest);
  trace("%s: the next descriptor is %d", when, lowest);
  DIR* folder = opendir("/proc/self/fd");
  int inherited = 0;
  for (struct dirent* entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
    const int number = isdigit((unsigned char)entry->d_name[0]) ? atoi(entry->d_name) : -1;
    if (number > 2 && (fcntl(number, F_GETFD) & FD_CLOEXEC) == 0) ++inherited;
  }
  if (folder != NULL) closedir(folder);
  trace("%s: %d descriptors go to children", when, inherited);
}

static void trace_locked_memory(const char* when) {
  char line[256];
  FILE* status = fopen("/proc/self/status", "re");
  while (status != NULL && fgets(line, sizeof line, status) != NULL)
    if (strncmp(line, "VmLck:", 6) == 0) trace("%s: %.*s", when, (int)strcspn(line, "\n"), line);
  if (status != NULL) fclose(status);
}

// --- of MPI ----------------------------------------------------------------------------------------------------------

static void trace_comm(const char* when, const char* name, MPI_Comm comm) {
  MPI_Errhandler handler;
  MPI_Comm_get_errhandler(comm, &handler);
  char text[MPI_MAX_OBJECT_NAME] = "";
  int length = 0, size = -1, rank = -1, is_inter = -1, topology = -1;
  MPI_Comm_get_name(comm, text, &length);
  MPI_Comm_size(comm, &size);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_test_inter(comm, &is_inter);
  MPI_Topo_test(comm, &topology);
  trace("%s: %s: handler %s, name %s, %d of %d, inter %d, topology %s", when, name,
        handler == MPI_ERRORS_ARE_FATAL ? "fatal"
        : handler == MPI_ERRORS_RETURN  ? "returns"
                                        : "other",
        text, rank, size, is_inter, topology == MPI_UNDEFINED ? "none" : "some");
  MPI_Errhandler_free(&handler);
  const int keys[] = {MPI_TAG_UB, MPI_HOST,          MPI_IO,          MPI_WTIME_IS_GLOBAL,
                      MPI_APPNUM, MPI_UNIVERSE_SIZE, MPI_LASTUSEDCODE};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; ++i) {
    int* value = NULL;
    int found = 0;
    MPI_Comm_get_attr(comm, keys[i], &value, &found);
    if (found) trace("%s: %s: attribute %zu is %d", when, name, i, *value);
  }
  MPI_Info info;
  int keys_in_info = 0;
  MPI_Comm_get_info(comm, &info);
  MPI_Info_get_nkeys(info, &keys_in_info);
  trace("%s: %s: %d keys of info", when, name, keys_in_info);
  MPI_Info_free(&info);
}

static void trace_mpi(const char* when) {
  int level = -1, is_main = -1, version = 0, subversion = 0;
  MPI_Query_thread(&level);
  MPI_Is_thread_main(&is_main);
  MPI_Get_version(&version, &subversion);
  trace("%s: thread level %d, main %d, version %d.%d", when, level, is_main, version, subversion);
  trace_comm(when, "world", MPI_COMM_WORLD);
  trace_comm(when, "self", MPI_COMM_SELF);
  const MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE, MPI_BYTE, MPI_DOUBLE_INT};
  for (size_t i = 0; i < sizeof types / sizeof *types; ++i) {
    char name[MPI_MAX_OBJECT_NAME] = "";
    int length = 0;
    MPI_Type_get_name(types[i], name, &length);
    trace("%s: type %s", when, name);
  }
}

// Errors that have no communicator, and those of a duplicate made before the program says what errors are to do.
static void trace_errors(void) {
  MPI_Comm before;
  MPI_Comm_dup(MPI_COMM_WORLD, &before);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Datatype none = MPI_DATATYPE_NULL;
  int one = 1, two = 2;
  trace("a null type committed: %s", class_of(MPI_Type_commit(&none)));
  trace("a wrong operation: %s", class_of(MPI_Reduce_local(&one, &two, 1, MPI_INT, MPI_OP_NULL)));
  void* memory = NULL;
  trace("too much memory: %s", class_of(MPI_Alloc_mem((MPI_Aint)1 << 60, MPI_INFO_NULL, &memory)));
#ifndef OPEN_MPI  // which hands the handler down
  trace("on a duplicate made before: %s", class_of(MPI_Send(&one, -1, MPI_INT, 0, 0, before)));
#endif
  MPI_Comm_free(&before);
  // Each error is raised once.
  MPI_Errhandler counting;
  MPI_Comm_create_errhandler(count_call, &counting);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Barrier(comm);
  MPI_Comm_set_errhandler(comm, counting);
  MPI_Datatype uncommitted;
  MPI_Type_contiguous(3, MPI_INT, &uncommitted);
  int data[8] = {0};
  const char* result = NULL;
#ifdef OPEN_MPI  // MPICH takes it, and may crash
  result = class_of(MPI_Bcast(data, 1, uncommitted, 0, comm));
  trace("a broadcast of an uncommitted type: %s, raised %d times", result, handler_calls);
  handler_calls = 0;
#endif
  result = class_of(MPI_Bcast(data, 1, MPI_INT, world_size, comm));
  trace("a root that doesn't exist: %s, raised %d times", result, handler_calls);
  handler_calls = 0;
  result = class_of(MPI_Bcast(data, 1, MPI_DATATYPE_NULL, 0, comm));
  trace("a broadcast of a null type: %s, raised %d times", result, handler_calls);
  MPI_Type_free(&uncommitted);
  MPI_Errhandler_free(&counting);
  MPI_Comm_free(&comm);
}

// --- of a window whose memory collectives use ------------------------------------------------------------------------

static void count_window_call(MPI_Win* window, int* code, ...) {
  (void)window, (void)code;
  ++handler_calls;
}

// Of files in shared memory.
static int mapped_files(void) {
  char line[4096];
  int number = 0;
  FILE* const maps = fopen("/proc/self/maps", "r");
  while (fgets(line, sizeof line, maps) != NULL) number += strstr(line, "/dev/shm/") != NULL;
  fclose(maps);
  return number;
}

static int attribute_of(MPI_Win window, int key) {
  int* value = NULL;
  int found = 0;
  MPI_Win_get_attr(window, key, &value, &found);
  return found != 0 ? *value : -1;
}

static void trace_window(const char* what, MPI_Win window) {
  char name[MPI_MAX_OBJECT_NAME] = "";
  int length = 0, hints = 0;
  MPI_Info info;
  MPI_Errhandler handler;
  MPI_Win_get_name(window, name, &length);
  MPI_Win_get_info(window, &info);
  MPI_Info_get_nkeys(info, &hints);
  MPI_Info_free(&info);
  name[strcspn(name, "0123456789")] = 0;  // Open MPI's are numbered with communicators
  trace("%s: name '%s', %d hints, flavour %d, model %d, unit %d", what, name, hints,
        attribute_of(window, MPI_WIN_CREATE_FLAVOR), attribute_of(window, MPI_WIN_MODEL),
        attribute_of(window, MPI_WIN_DISP_UNIT));
  MPI_Win_get_errhandler(window, &handler);
  trace("%s: errors are %s", what, handler == MPI_ERRORS_ARE_FATAL ? "fatal" : "something else");
}

static void use_window(const char* what, MPI_Win* window, double* memory) {
  static double own[50000];
  double* const data = memory != NULL ? memory : own;
  trace_window(what, *window);
  const int mapped = mapped_files();
  for (int i = 0; i < 40; ++i) MPI_Allreduce(MPI_IN_PLACE, data, 50000, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  trace_window(what, *window);
  trace("%s: mapped files have become more by %d", what, mapped_files() - mapped);
  MPI_Errhandler counting;
  MPI_Win_create_errhandler(count_window_call, &counting);
  MPI_Win_set_errhandler(*window, counting);
  handler_calls = 0;
  const char* const result = class_of(MPI_Win_complete(*window));
  trace("%s: an end that has no beginning: %s, raised %d times", what, result, handler_calls);
  handler_calls = 0;
  MPI_Errhandler_free(&counting);
  trace("%s: freed: %s, the handle is %s", what, class_of(MPI_Win_free(window)),
        *window == MPI_WIN_NULL ? "null" : "there");
  trace("%s: then they are fewer by %d", what, mapped - mapped_files());
}

static void trace_windows(void) {
  MPI_Win window;
  double* memory = NULL;
  MPI_Win_allocate(50000 * sizeof *memory, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  use_window("MPI_Win_allocate", &window, memory);
  MPI_Comm node;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  const MPI_Aint bytes = world_rank == 1 ? 0 : 50000 * sizeof *memory;
  MPI_Win_allocate_shared(bytes, 8, MPI_INFO_NULL, node, &memory, &window);
  use_window("MPI_Win_allocate_shared", &window, bytes != 0 ? memory : NULL);
  MPI_Comm_free(&node);
}

static void work(void) {
  static double data[50000];
  MPI_Comm copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  for (int i = 0; i < 200; ++i) {
    MPI_Allreduce(MPI_IN_PLACE, data, i * i, MPI_DOUBLE, MPI_MAX, i % 2 == 0 ? MPI_COMM_WORLD : copy);
    MPI_Bcast(data, i * i, MPI_DOUBLE, i % world_size, copy);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Comm_free(&copy);
}

int main(int argc, char** argv) {
  const char* rank = getenv("PMI_RANK") != NULL ? getenv("PMI_RANK") : getenv("OMPI_COMM_WORLD_RANK");
  if (rank != NULL) world_rank = atoi(rank);
  trace_process("at first");
  trace_descriptors("at first");
  MPI_Init(&argc, &argv);
  trace("%d arguments, the first is %s", argc, argv[0] != NULL ? "there" : "gone");
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  trace_process("after MPI_Init");
  trace_descriptors("after MPI_Init");
  trace_mpi("after MPI_Init");
  work();
  trace_process("after collectives");
  trace_descriptors("after collectives");
  trace_locked_memory("after collectives");
  trace_mpi("after collectives");
  trace_windows();
  trace_errors();
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  trace_mpi("after errors");
  MPI_Finalize();
  trace_process("at last");
  trace_descriptors("at last");
  return 0;
}
