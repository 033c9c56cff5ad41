/* SPDX-License-Identifier: BSD-3-Clause */
/* The first process of the virtual machine in which multicast over verbs is tried: loads modules, takes the host's root
 * file system, read-only, for its own, runs a program there and switches the machine off.
 *   init FOLDER PROGRAM [ARGUMENT...]
 * FOLDER is the host's, too, by a device of its own: it may lie below /tmp, where the machine has a file system of its
 * own.
 * Linked statically: nothing else is in the initial file system but the modules, and their names in the right order. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void switch_off(void) {
  fflush(stdout);
  sync();
  reboot(RB_POWER_OFF);
  for (;;) pause();
}

static void die(const char* format, ...) {
  const int error_number = errno;
  va_list arguments;
  va_start(arguments, format);
  printf("init: ");
  vprintf(format, arguments);
  printf(": %s\n", strerror(error_number));
  va_end(arguments);
  switch_off();
}

static void mount_at(const char* what, const char* where, const char* type, unsigned long flags, const char* options) {
  if (mount(what, where, type, flags, options) != 0) die("can't mount %s (%s) at %s", what, type, where);
}

static void load_modules(void) {
  FILE* list = fopen("/modules/list", "re");
  if (list == NULL) die("/modules/list");
  char name[128];
  while (fscanf(list, "%127s", name) == 1) {
    char path[256];
    snprintf(path, sizeof path, "/modules/%s", name);
    const int module = open(path, O_RDONLY | O_CLOEXEC);
    if (module < 0 || (syscall(SYS_finit_module, module, "", 0) != 0 && errno != EEXIST))
      die("can't load the module %s", name);
    close(module);
  }
  fclose(list);
}

static void show_folder(const char* folder) {
  char path[1024];
  snprintf(path, sizeof path, "/host%s", folder);
  for (char* slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    (void)mkdir(path, 0755);
    *slash = '/';
  }
  if (mkdir(path, 0755) == 0)
    mount_at("folder", path, "9p", MS_RDONLY, "trans=virtio,version=9p2000.L,msize=262144,cache=loose");
}

static void take_hosts_root(const char* folder) {
  mount_at("host", "/host", "9p", MS_RDONLY, "trans=virtio,version=9p2000.L,msize=262144,cache=loose");
  mount_at("devtmpfs", "/host/dev", "devtmpfs", 0, NULL);
  mount_at("proc", "/host/proc", "proc", 0, NULL);
  mount_at("sysfs", "/host/sys", "sysfs", 0, NULL);
  mount_at("tmpfs", "/host/tmp", "tmpfs", 0, NULL);
  mount_at("tmpfs", "/host/run", "tmpfs", 0, NULL);
  if (mkdir("/host/dev/shm", 01777) != 0 && errno != EEXIST) die("can't make /dev/shm");
  mount_at("tmpfs", "/host/dev/shm", "tmpfs", 0, NULL);
  show_folder(folder);
  if (chdir("/host") != 0) die("/host");
  mount_at(".", "/", NULL, MS_MOVE, NULL);
  if (chroot(".") != 0 || chdir("/") != 0) die("can't change to the host's root");
}

int main(int argc, char** argv) {
  setvbuf(stdout, NULL, _IOLBF, 0);
  if (argc < 3) die("no program is named");
  load_modules();
  take_hosts_root(argv[1]);
  setenv("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", 1);
  setenv("HOME", "/tmp", 1);
  const pid_t child = fork();
  if (child == 0) {
    setsid();
    execv(argv[2], argv + 2);
    die("can't run %s", argv[2]);
  }
  int status = 0;
  for (pid_t ended = 0; ended != child;) ended = wait(&status);
  printf("init: the program has ended, status %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
  switch_off();
}
