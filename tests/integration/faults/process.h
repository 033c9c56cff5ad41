// SPDX-License-Identifier: BSD-3-Clause
// What workload.c does to its own process: signals that come later, limits that are lowered, memory that is locked.
#ifndef HOCKET_TESTS_INTEGRATION_FAULTS_PROCESS_H
#define HOCKET_TESTS_INTEGRATION_FAULTS_PROCESS_H

#include <dirent.h>
#include <errno.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { kMisused = 2 };

static void misused(const char* text) {
  fprintf(stderr, "workload: '%s' can't be understood; accepted is what the source's first comment says\n", text);
  exit(kMisused);
}

// Timers run on while the process is stopped.
static void send_later(int signal_number, long us) {
  timer_t timer;
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = signal_number};
  const struct itimerspec when = {.it_value = {us / 1000000, us % 1000000 * 1000 + 1}};
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 || timer_settime(timer, 0, &when, NULL) != 0) raise(SIGKILL);
}

static uint64_t used_of(int resource) {
  unsigned long value = 0;
  if (resource == RLIMIT_NOFILE) {
    DIR* folder = opendir("/proc/self/fd");
    for (struct dirent* entry; folder != NULL && (entry = readdir(folder)) != NULL;)
      if (atoi(entry->d_name) != dirfd(folder) && atoi(entry->d_name) < 512)
        value = (unsigned long)atoi(entry->d_name) + 1;
    if (folder != NULL) closedir(folder);
    return value;
  }
  FILE* status = fopen("/proc/self/status", "r");
  const char* name = resource == RLIMIT_DATA ? "VmData: %lu" : resource == RLIMIT_STACK ? "VmStk: %lu" : "VmSize: %lu";
  char line[256];
  while (status != NULL && fgets(line, sizeof line, status) != NULL)
    if (sscanf(line, name, &value) == 1) break;
  if (status != NULL) fclose(status);
  return value * 1024;
}

static void lower_limit(const char* name, const char* value) {
  static const struct {
    const char* name;
    int resource;
  } limits[] = {{"NOFILE", RLIMIT_NOFILE},     {"AS", RLIMIT_AS},           {"DATA", RLIMIT_DATA},
                {"STACK", RLIMIT_STACK},       {"MEMLOCK", RLIMIT_MEMLOCK}, {"FSIZE", RLIMIT_FSIZE},
                {"NPROC", RLIMIT_NPROC},       {"CORE", RLIMIT_CORE},       {"SIGPENDING", RLIMIT_SIGPENDING},
                {"MSGQUEUE", RLIMIT_MSGQUEUE}, {"NICE", RLIMIT_NICE},       {"RTPRIO", RLIMIT_RTPRIO}};
  for (size_t i = 0; i < sizeof limits / sizeof *limits; ++i) {
    if (strcmp(limits[i].name, name) != 0) continue;
    struct rlimit limit = {0, 0};
    getrlimit(limits[i].resource, &limit);
    const rlim_t wanted = strtoull(value, NULL, 10) + (*value == '+' ? used_of(limits[i].resource) : 0);
    if (wanted < limit.rlim_max) limit.rlim_max = wanted;
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(limits[i].resource, &limit) != 0) perror("workload: setrlimit");
    return;
  }
  misused(name);
}

// In small pieces, for there may be no room for the whole in one.
static void take_heap(int kib) {
  for (int i = 0; i < kib; ++i) {
    void* volatile piece = malloc(1000);  // never freed
    if (piece == NULL) return;
  }
}

static void give_up_locking(void) {
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct sets[2];
  if (syscall(SYS_capget, &header, sets) != 0) return;
  sets[0].effective &= ~(1u << CAP_IPC_LOCK);
  sets[0].permitted &= ~(1u << CAP_IPC_LOCK);
  if (syscall(SYS_capset, &header, sets) != 0) perror("workload: capset");
}

static void lock_all(const char* value, int rank) {
  give_up_locking();
  lower_limit("MEMLOCK", value);
  if (mlockall(MCL_CURRENT | MCL_FUTURE) == 0) return;
  fprintf(stderr, "workload: rank %d can't lock what it uses already: %s\n", rank, strerror(errno));
  munlockall();
}

#endif
