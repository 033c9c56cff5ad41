/* SPDX-License-Identifier: BSD-3-Clause */
/* Debian's libhwloc.a asks libudev for what disks are called. hocket doesn't look at disks, and a program that runs
 * everywhere can't link libudev: without a handle hwloc does without. */
#include <stddef.h>

void* udev_new(void) { return NULL; }
void* udev_unref(void* udev) {
  (void)udev;
  return NULL;
}
void* udev_device_new_from_subsystem_sysname(void* udev, const char* subsystem, const char* name) {
  (void)udev, (void)subsystem, (void)name;
  return NULL;
}
const char* udev_device_get_property_value(void* device, const char* key) {
  (void)device, (void)key;
  return NULL;
}
void* udev_device_unref(void* device) {
  (void)device;
  return NULL;
}
