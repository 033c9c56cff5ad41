// SPDX-License-Identifier: BSD-3-Clause
// A library that is preloaded and has the kernel refuse a system call from then on, as the seccomp profile of a sandbox
// or a container does. Knows no MPI.
// REFUSE: the call, by name or number, and of one with this argument only (0 is the first), masked: "mmap",
// "mmap:3=1/1".
// REFUSE_ERROR: EPERM by default. REFUSE_RANK: on which rank; all, if it is not set. REFUSE_AT=start: as soon as the
// program is loaded; else once the MPI stands and hocket has not started yet, so that what fails is hocket's affair.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

struct word {
  const char* name;
  int value;
};

#define CALL(name) {#name, SYS_##name}
static const struct word calls[] = {
    CALL(accept4),
    CALL(bind),
    CALL(clock_nanosleep),
    CALL(connect),
    CALL(dup),
    CALL(fallocate),
    CALL(fcntl),
    CALL(fstat),
    CALL(ftruncate),
    CALL(futex),
    CALL(get_mempolicy),
    CALL(getcpu),
    CALL(getdents64),
    CALL(geteuid),
    CALL(getpid),
    CALL(getrandom),
    CALL(getsockopt),
    CALL(gettid),
    CALL(ioctl),
    CALL(listen),
    CALL(lseek),
    CALL(madvise),
    CALL(membarrier),
    CALL(memfd_create),
    CALL(mmap),
    CALL(mprotect),
    CALL(munmap),
    CALL(newfstatat),
    CALL(openat),
    CALL(pidfd_open),
    CALL(ppoll),
    CALL(prctl),
    CALL(prlimit64),
    CALL(process_vm_readv),
    CALL(pwrite64),
    CALL(read),
    CALL(readlinkat),
    CALL(recvfrom),
    CALL(recvmsg),
    CALL(rt_sigprocmask),
    CALL(sched_getaffinity),
    CALL(sched_getattr),
    CALL(sched_setattr),
    CALL(sched_yield),
    CALL(sendmsg),
    CALL(sendto),
    CALL(setsockopt),
    CALL(shutdown),
    CALL(socket),
    CALL(statx),
    CALL(sysinfo),
    CALL(uname),
#ifdef SYS_poll
    CALL(poll),
#endif
#ifdef SYS_open
    CALL(open),
#endif
};

static const struct word errors[] = {
    {"EPERM", EPERM},   {"ENOSYS", ENOSYS}, {"EACCES", EACCES}, {"EMFILE", EMFILE},
    {"ENOMEM", ENOMEM}, {"EINVAL", EINVAL}, {"EAGAIN", EAGAIN},
};

static void give_up(const char* what, const char* which) {
  fprintf(stderr, "refuse: %s: %s\n", what, which);
  _exit(99);
}

#define VALUE(words, name) value_of(words, sizeof(words) / sizeof((words)[0]), name)
static int value_of(const struct word* words, size_t count, const char* name) {
  if (*name >= '0' && *name <= '9') return atoi(name);
  for (size_t i = 0; i < count; ++i) {
    if (strcmp(words[i].name, name) == 0) return words[i].value;
  }
  give_up("unknown name", name);
  return -1;
}

// Before MPI_Init only the launcher's variables tell the rank.
static int is_here(void) {
  const char *where = getenv("REFUSE_RANK"), *rank = getenv("PMI_RANK");
  if (rank == NULL) rank = getenv("OMPI_COMM_WORLD_RANK");
  if (rank == NULL) rank = getenv("HOCKET_RUN");
  if (where == NULL) return rank != NULL;
  return rank != NULL && atoi(rank) == atoi(where);
}

static void refuse(void) {
  char call[64];
  const char* error = getenv("REFUSE_ERROR");
  unsigned argument = 0, value = 0, mask = 0;
  snprintf(call, sizeof call, "%s", getenv("REFUSE"));
  char* condition = strchr(call, ':');
  if (condition != NULL && sscanf(condition, ":%u=%u/%u", &argument, &value, &mask) != 3) give_up("condition", call);
  if (condition != NULL) *condition = '\0';
  const unsigned number = (unsigned)VALUE(calls, call);
  const unsigned refusal = SECCOMP_RET_ERRNO | (unsigned)VALUE(errors, error != NULL ? error : "EPERM");
  const unsigned place = (unsigned)(offsetof(struct seccomp_data, args) + argument * sizeof(__u64));
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 4),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, place),  // its lower half: all machines that hocket knows are little-endian
      BPF_STMT(BPF_ALU | BPF_AND | BPF_K, mask),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value & mask, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, refusal),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) give_up("prctl", strerror(errno));
  if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) != 0)
    give_up("seccomp", strerror(errno));
}

static int refuses_at_start(void) {
  const char* when = getenv("REFUSE_AT");
  return when != NULL && strcmp(when, "start") == 0;
}

__attribute__((constructor)) static void begin(void) {
  if (getenv("REFUSE") != NULL && refuses_at_start() && is_here()) refuse();
}

// Passes through to the MPI; the interposer, which is loaded before this library, begins when this has come back.
int MPI_Init(int* argc, char*** argv) {
  int (*real)(int*, char***) = (int (*)(int*, char***))dlsym(RTLD_NEXT, "MPI_Init");
  const int error = real(argc, argv);
  if (getenv("REFUSE") != NULL && !refuses_at_start() && is_here()) refuse();
  return error;
}
