// SPDX-License-Identifier: BSD-3-Clause
// Situations of situations.c that last while calls are measured: what a program has open, posted or held meanwhile.
//
// Thread safety: none.
#pragma once

#include "request_calls.h"

enum { kHeld = 40, kWindowBytes = 1 << 16 };

static MPI_Win window = MPI_WIN_NULL;
static void* window_memory;

static void begin_nothing(void) {}

static void create_window(void) {
  window_memory = calloc(1, kWindowBytes);
  MPI_Win_create(window_memory, kWindowBytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
}

static void allocate_window(void) {
  MPI_Win_allocate(kWindowBytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window_memory, &window);
}

static void allocate_shared_window(void) {
  MPI_Win_allocate_shared(kWindowBytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window_memory, &window);
}

static void create_dynamic_window(void) {
  window_memory = calloc(1, kWindowBytes);
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_attach(window, window_memory, kWindowBytes);
}

static void free_window(void) { MPI_Win_free(&window); }

static void free_created_window(void) {
  free_window();
  free(window_memory);
}

static void free_dynamic_window(void) {
  MPI_Win_detach(window, window_memory);
  free_created_window();
}

static MPI_Request posted;
static char posted_byte;

static void post_receive(void) {
  MPI_Irecv(&posted_byte, 1, MPI_CHAR, (rank + size - 1) % size, 8, MPI_COMM_WORLD, &posted);
}

static void complete_receive(void) {
  const char byte = 0;
  MPI_Send(&byte, 1, MPI_CHAR, (rank + 1) % size, 8, MPI_COMM_WORLD);
  finish(&posted);
}

#if HAS_MPI_4
static MPI_Request held[kHeld];
static double held_memory[2 * kHeld];

static void hold_persistent(void) {
  for (int i = 0; i < kHeld; ++i)
    MPI_Allreduce_init(&held_memory[i], &held_memory[kHeld + i], 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                       &held[i]);
}

static void free_held(void) {
  for (int i = 0; i < kHeld; ++i) MPI_Request_free(&held[i]);
}
#endif

static void begin_computing(void) { compute_us = 5; }
static void end_computing(void) { compute_us = 0; }

typedef struct {
  const char* name;
  void (*begin)(void);
  void (*end)(void);
} Surrounding;

static const Surrounding kSurroundings[] = {
    {"tight", begin_nothing, begin_nothing},
    {"win_create", create_window, free_created_window},
    {"win_allocate", allocate_window, free_window},
    {"win_allocate_shared", allocate_shared_window, free_window},
    {"win_dynamic", create_dynamic_window, free_dynamic_window},
    {"receive_posted", post_receive, complete_receive},
#if HAS_MPI_4
    {"persistent_held", hold_persistent, free_held},
#endif
    {"computing", begin_computing, end_computing},
};
enum { kSurroundingCount = sizeof kSurroundings / sizeof *kSurroundings };
