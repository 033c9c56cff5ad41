/* SPDX-License-Identifier: BSD-3-Clause */
/* hocket: fast, cheap and calm collective communication on ordinary Linux machines.
 *
 * This is the C API but for collectives among neighbours, which neighbourhoods.h has, those that are made ready once
 * and started again and again, of persistent.h, and counters.h; hocket.hpp is a C++ header over it, with no code of its
 * own in the library. Link with -lhocket (pkg-config hocket, or find_package(hocket) and hocket::hocket).
 * docs/algorithms.md lists the algorithms behind the collectives, their costs and their papers.
 *
 *   context   one rank's endpoint: its share of memory that peers can map, its way of waiting
 *   comm      a group of ranks that communicate collectively
 *   request   a collective that has been started and not yet completed
 *
 * Every function returns HOCKET_OK or a negative status; hocket_error_text() says more about the last failure on the
 * calling thread. Counts are in elements, sizes in bytes, times in the unit that ends the name.
 *
 * Thread safety: different comms may be used by different threads at the same time; one comm by one thread at a time.
 * A wait moves the requests of its own comm only: don't wait for one comm while a peer waits for another's request.
 * Collectives on one comm must be called in the same order by all its ranks, blocking and non-blocking alike.
 * A context may be created in one thread and used by others. Several contexts may live in one process (ranks as
 * threads). After fork() the child must not call hocket with objects of its parent; it gets
 * HOCKET_ERR_INVALID_ARGUMENT.
 */
#ifndef HOCKET_HOCKET_H
#define HOCKET_HOCKET_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define HOCKET_API __attribute__((visibility("default")))
#else
#define HOCKET_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define HOCKET_VERSION_MAJOR 0
#define HOCKET_VERSION_MINOR 1
#define HOCKET_VERSION_PATCH 0

typedef enum hocket_status {
  HOCKET_OK = 0,
  HOCKET_IN_PROGRESS = 1,           /* hocket_test: not done yet */
  HOCKET_ERR_INVALID_ARGUMENT = -1, /* the message names the argument, its value and the remedy */
  HOCKET_ERR_NOT_SUPPORTED = -2,    /* ranks that can't be served (on several nodes without a wire, or with one that
                                     * has no tags left, say); a reduction of elements longer than
                                     * HOCKET_MAX_COMBINED_BYTES */
  HOCKET_ERR_NO_MEMORY = -3,
  HOCKET_ERR_PEER_FAILED = -4, /* a peer has ended or left; the comm is broken */
  HOCKET_ERR_MISMATCH = -5,    /* another collective, root, operation or length than a peer's. With HOCKET_CHECK=1
                                * always in this call; else in this one or in a later one in which a rank waits for
                                * others: a blocking one if this call blocks, a started one if it was started. Between
                                * nodes two cases go unnoticed: operations that differ, where the wire has few tags,
                                * and ranks that all take themselves for the root of a broadcast, where only calls by
                                * NIC engines follow. In set-up: another version of hocket, or a wire of another
                                * size */
  HOCKET_ERR_SYSTEM = -6,      /* a system call failed */
  HOCKET_ERR_TIMEOUT = -7,     /* set-up took longer than HOCKET_SETUP_TIMEOUT_S; with HOCKET_LATE_ACTION=abort also:
                                * ranks have not come to a collective for HOCKET_LATE_S */
  HOCKET_ERR_BROKEN = -8       /* an earlier call on this comm failed */
} hocket_status_t;

typedef struct hocket_context hocket_context_t;
typedef struct hocket_comm hocket_comm_t;
typedef struct hocket_request hocket_request_t;

/* --- types and operations ------------------------------------------------------------------------------------- */

/* Element types. The predefined operations that go with them are those of the MPI standard:
 *
 *   INT8 to UINT64                        all but MINLOC and MAXLOC; SUM_SATURATING with those of 8 and 16 bits only
 *   FLOAT, DOUBLE, LONG_DOUBLE            SUM, PROD, MIN, MAX
 *   COMPLEX_...                           SUM, PROD
 *   BOOL, LOGICAL4                        LAND, LOR, LXOR
 *   BYTE                                  BAND, BOR, BXOR
 *   FLOAT_INT to 2DOUBLE, pairs           MINLOC, MAXLOC
 *
 * LOGICAL4 is Fortran's LOGICAL of 4 bytes: 0 is false, anything else true; a result is 0 or 1. A pair is a C struct of
 * value and index with the compiler's padding: HOCKET_DOUBLE_INT is struct { double value; int index; }.
 *
 * HOCKET_TYPE_OPAQUE(bytes) is an element of any other size, from 1 to 2^31-1 bytes: for all collectives that only move
 * data, and for reductions by operations of the program's own. */
typedef uint32_t hocket_type_t;
enum {
  HOCKET_INT8 = 1,
  HOCKET_INT16,
  HOCKET_INT32,
  HOCKET_INT64,
  HOCKET_UINT8,
  HOCKET_UINT16,
  HOCKET_UINT32,
  HOCKET_UINT64,
  HOCKET_FLOAT,
  HOCKET_DOUBLE,
  HOCKET_LONG_DOUBLE,
  HOCKET_COMPLEX_FLOAT, /* C's _Complex, C++'s std::complex, Fortran's COMPLEX: two numbers one after the other */
  HOCKET_COMPLEX_DOUBLE,
  HOCKET_COMPLEX_LONG_DOUBLE,
  HOCKET_BOOL, /* of C and C++, one byte */
  HOCKET_LOGICAL4,
  HOCKET_BYTE,
  HOCKET_FLOAT_INT,       /* float, int */
  HOCKET_DOUBLE_INT,      /* double, int */
  HOCKET_LONG_INT,        /* long, int */
  HOCKET_2INT,            /* int, int; Fortran's 2INTEGER */
  HOCKET_SHORT_INT,       /* short, int */
  HOCKET_LONG_DOUBLE_INT, /* long double, int */
  HOCKET_2FLOAT,          /* float, float; Fortran's 2REAL */
  HOCKET_2DOUBLE          /* double, double; Fortran's 2DOUBLE PRECISION */
};
#define HOCKET_MAX_COMBINED_BYTES 32768 /* the longest element that a reduction takes */
#define HOCKET_TYPE_OPAQUE(bytes) ((hocket_type_t)0x80000000u | (hocket_type_t)(bytes))

/* Operations: the predefined ones, or one made by hocket_op_create. */
typedef const struct hocket_op* hocket_op_t;
#define HOCKET_SUM ((hocket_op_t)1)
#define HOCKET_PROD ((hocket_op_t)2)
#define HOCKET_MIN ((hocket_op_t)3)
#define HOCKET_MAX ((hocket_op_t)4)
#define HOCKET_LAND ((hocket_op_t)5)
#define HOCKET_LOR ((hocket_op_t)6)
#define HOCKET_LXOR ((hocket_op_t)7)
#define HOCKET_BAND ((hocket_op_t)8)
#define HOCKET_BOR ((hocket_op_t)9)
#define HOCKET_BXOR ((hocket_op_t)10)
#define HOCKET_MINLOC ((hocket_op_t)11)
#define HOCKET_MAXLOC ((hocket_op_t)12)
#define HOCKET_SUM_SATURATING ((hocket_op_t)13) /* 8- and 16-bit integers only */

/* `in` and `inout` hold `count` elements of `type`: inout[i] = in[i] (op) inout[i]. Must be associative, and not call
 * hocket. Runs in a thread that calls a collective, a test or a wait on the comm. */
typedef void (*hocket_op_function_t)(const void* in, void* inout, size_t count, hocket_type_t type, void* user);
HOCKET_API hocket_status_t hocket_op_create(hocket_op_function_t function, void* user, int commutative,
                                            hocket_op_t* op);
/* When all calls with the operation are complete. NULL is no error, a predefined operation is. */
HOCKET_API hocket_status_t hocket_op_destroy(hocket_op_t op);

/* --- contexts ------------------------------------------------------------------------------------------------- */

/* Messages between nodes, which hocket leaves to a library that has them: an MPI's point-to-point, say, of which
 * hocket/mpi_wire.h makes one of these. Reliable; matched by sender and tag in the order in which they were posted, as
 * MPI does it. Functions return 0, or a negative hocket_status_t: HOCKET_ERR_MISMATCH for a message that was longer
 * than its receive, HOCKET_ERR_PEER_FAILED where the peer has gone, HOCKET_ERR_NO_MEMORY; all others are taken for
 * HOCKET_ERR_SYSTEM. They are called by the threads that call hocket; by several at a time if the program uses several
 * comms of several nodes at a time. */
typedef struct hocket_wire {
  size_t struct_size; /* sizeof(hocket_wire_t) */
  /* What tables of rules call it, as in `wire=openmpi-5`: lower-case letters, digits, - and _, ended by 0; "": it has
   * no name. A rule's `wire=a` holds for `a` and for `a-...`. That of a comm's rank 0 counts. */
  char name[16];
  uint32_t rank; /* this process's number, 0 to size-1, different for each process */
  uint32_t size;
  uint32_t tags; /* messages have tags from 0 to tags-1 of this context's own. The same number in all processes. Of
                  * each five times `size` tags, every process can open one more comm of several nodes of which it is
                  * rank 0; beyond 4,096 of these, up to 205 times as many serve to tell messages of different calls
                  * apart */
  /* Begin a message of at most 1 GiB; data may be NULL where bytes is 0. *request names it until it is done, and is
   * not 0; 0: it is done already. The data stay as they are, or are left alone, until then. */
  int (*send)(uint32_t to, uint32_t tag, const void* data, size_t bytes, uint64_t* request, void* user);
  int (*receive)(uint32_t from, uint32_t tag, void* data, size_t bytes, uint64_t* request, void* user);
  /* Moves messages, also with a count of 0. Those of the `count` requests (none is 0) that are done become 0, and
   * received[i] the bytes that came. Never waits. */
  int (*test)(size_t count, uint64_t* requests, size_t* received, void* user);
  /* Gives up on a request, after a failure: the library asks for it no more. Should leave its memory alone from here
   * on. What is on its way may be impossible to stop: then it may still use the buffers of calls that have failed. */
  void (*cancel)(uint64_t request, void* user);
  /* Sends a message of no bytes; the library does not ask whether it is complete. */
  int (*notify)(uint32_t to, uint32_t tag, void* user);
  /* Receives one of those, from whomever, if one has come: 1, and its sender in *from; 0 if none has. */
  int (*take_notice)(uint32_t tag, uint32_t* from, void* user);
  /* Whether a message has come that no receive has been started for: 1 or 0. It stays where it is. */
  int (*probe)(uint32_t from, uint32_t tag, void* user);
  void* user;
} hocket_wire_t;

typedef struct hocket_context_options {
  size_t struct_size; /* sizeof(hocket_context_options_t), so that fields can be added */
  /* Called from time to time while a hocket call waits, also while it sleeps: to keep another library moving.
   * May be NULL: then `wire`, if there is one, is asked to move messages. Must not call hocket. */
  void (*progress)(void* user);
  void* progress_user;
  size_t memory_limit; /* bytes that peers may map of this rank, 0: HOCKET_MEMORY or a default */
  /* To ranks on other nodes: those that can't share memory, because they are on another machine, in another network
   * namespace or another user's. NULL: comms must lie within a node. Copied; what `user` points to outlives the
   * context. */
  const hocket_wire_t* wire;
  uint64_t node; /* ranks that give different numbers are on different nodes, though they could share memory */
} hocket_context_options_t;

/* `options` may be NULL. HOCKET_ERR_INVALID_ARGUMENT also if a HOCKET_ variable of the environment has a value that
 * can't be understood, or the misspelt name of a setting: the message names it and what is accepted. */
HOCKET_API hocket_status_t hocket_context_create(const hocket_context_options_t* options, hocket_context_t** context);
/* All comms of the context must have been destroyed. Memory from hocket_alloc goes too. */
HOCKET_API hocket_status_t hocket_context_destroy(hocket_context_t* context);

/* Memory that peers map: collectives read and write it in place, without a system call or a privilege.
 * Aligned to 64 bytes. Any thread. After fork() it is shared between parent and child, unlike memory from malloc: what
 * one writes the other reads. A child copies what it wants for itself, and leaves the rest alone. */
HOCKET_API hocket_status_t hocket_alloc(hocket_context_t* context, size_t bytes, void** memory);
HOCKET_API hocket_status_t hocket_free(hocket_context_t* context, void* memory);

/* --- communicators -------------------------------------------------------------------------------------------- */

/* How the ranks of a comm-to-be find each other: a blocking all-gather of the caller's, as every launcher and MPI has.
 * `bytes` from `send` of each rank arrive in `receive`, rank i's at i*bytes. Returns 0 for success. */
typedef struct hocket_bootstrap {
  int rank;
  int size;
  int (*allgather)(const void* send, void* receive, size_t bytes, void* user);
  void* user;
} hocket_bootstrap_t;

/* Collective over the bootstrap's ranks; all of them get the same status class: the comm, or the reason on all. */
HOCKET_API hocket_status_t hocket_comm_create(hocket_context_t* context, const hocket_bootstrap_t* bootstrap,
                                              hocket_comm_t** comm);
/* The ranks that `hocket run` started; one rank where a program was started by hand. Collective over them, as often as
 * wanted. A rank that ends instead of coming, or is too late (HOCKET_SETUP_TIMEOUT_S), is an error on those that wait.
 * HOCKET_ERR_MISMATCH if `hocket run` is of another version than the program's library. */
HOCKET_API hocket_status_t hocket_comm_world(hocket_context_t* context, hocket_comm_t** comm);
/* Collective over `comm`. Ranks of the same color form a new comm, ordered by key and then by their ranks in `comm`; a
 * negative color gets *new_comm = NULL. What goes wrong with one color's comm is an error on its ranks only, and leaves
 * `comm` as it was. Requests on `comm` may be running; they go on. The new comm stands for itself: hocket_force() on
 * `comm` is not inherited, and either may be destroyed first. */
HOCKET_API hocket_status_t hocket_comm_split(hocket_comm_t* comm, int color, int key, hocket_comm_t** new_comm);
/* The same ranks in the same order. */
HOCKET_API hocket_status_t hocket_comm_dup(hocket_comm_t* comm, hocket_comm_t** new_comm);
/* Collective; waits for collectives of peers that are still running. Requests must be complete, or it is refused. */
HOCKET_API hocket_status_t hocket_comm_destroy(hocket_comm_t* comm);
/* Breaks the comm for all its ranks: their calls on it, running and to come, end with an error. For a rank that can't
 * take part in what its peers have started. Not collective; hocket_comm_destroy() is still due. `reason` is for the
 * log.
 */
HOCKET_API hocket_status_t hocket_comm_abort(hocket_comm_t* comm, const char* reason);
/* This rank's number in the comm, from 0, and how many ranks the comm has. */
HOCKET_API hocket_status_t hocket_comm_rank(const hocket_comm_t* comm, int* rank);
HOCKET_API hocket_status_t hocket_comm_size(const hocket_comm_t* comm, int* size);

/* Passed as `input` (at the root of a reduce: and only there): the operand is taken from `output`. */
#define HOCKET_IN_PLACE ((const void*)(intptr_t)-1)

/* --- collectives, as their MPI namesakes ----------------------------------------------------------------------
 *
 * All ranks pass the same root and operation, and counts and types that agree. Buffers without elements may be NULL.
 * `input` and `output` must not overlap (HOCKET_IN_PLACE is for that): HOCKET_ERR_INVALID_ARGUMENT, but gatherv,
 * scatterv, allgatherv, alltoallv and alltoallw don't look. */

HOCKET_API hocket_status_t hocket_barrier(hocket_comm_t* comm);
/* `buffer` holds `count` elements: read at the root, written on the others. */
HOCKET_API hocket_status_t hocket_broadcast(hocket_comm_t* comm, void* buffer, size_t count, hocket_type_t type,
                                            int root);
/* `input` and `output` hold `count` elements; `output` is significant at the root only. */
HOCKET_API hocket_status_t hocket_reduce(hocket_comm_t* comm, const void* input, void* output, size_t count,
                                         hocket_type_t type, hocket_op_t op, int root);
/* `input` and `output` hold `count` elements. */
HOCKET_API hocket_status_t hocket_allreduce(hocket_comm_t* comm, const void* input, void* output, size_t count,
                                            hocket_type_t type, hocket_op_t op);

/* --- collectives with a block for each rank, and scans ---------------------------------------------------------
 *
 * `count` is of one block: what a rank gives to a gather, or gets from a scatter. Buffers that hold a block of every
 * rank have room for size*count elements. Vector versions (...v, and hocket_reduce_scatter) take the elements of each
 * rank's block, and where in the buffer it begins, in elements; `displacements` may be NULL: one block behind the
 * other, in rank order. Ranks must agree about the length of what passes between them. If they don't, the call ends
 * with HOCKET_ERR_MISMATCH where that shows, and the comm is broken.
 *
 * HOCKET_IN_PLACE is passed as in MPI: to hocket_gather(v) as `input` at the root, to hocket_scatter(v) as `output` at
 * the root (cast to void*); everywhere else as `input` on all ranks. */

/* `output` is significant at the root only. */
HOCKET_API hocket_status_t hocket_gather(hocket_comm_t* comm, const void* input, void* output, size_t count,
                                         hocket_type_t type, int root);
/* `output`, `counts` and `displacements` are significant at the root only. */
HOCKET_API hocket_status_t hocket_gatherv(hocket_comm_t* comm, const void* input, size_t input_count, void* output,
                                          const size_t* counts, const size_t* displacements, hocket_type_t type,
                                          int root);
/* `input` is significant at the root only. */
HOCKET_API hocket_status_t hocket_scatter(hocket_comm_t* comm, const void* input, void* output, size_t count,
                                          hocket_type_t type, int root);
/* `input`, `counts` and `displacements` are significant at the root only. */
HOCKET_API hocket_status_t hocket_scatterv(hocket_comm_t* comm, const void* input, const size_t* counts,
                                           const size_t* displacements, void* output, size_t output_count,
                                           hocket_type_t type, int root);
/* All ranks get the blocks of all, in rank order. */
HOCKET_API hocket_status_t hocket_allgather(hocket_comm_t* comm, const void* input, void* output, size_t count,
                                            hocket_type_t type);
/* This rank gives counts[its rank] elements. */
HOCKET_API hocket_status_t hocket_allgatherv(hocket_comm_t* comm, const void* input, void* output, const size_t* counts,
                                             const size_t* displacements, hocket_type_t type);
/* Rank r gets the r-th block of every rank's `input`, in the order of these ranks. */
HOCKET_API hocket_status_t hocket_alltoall(hocket_comm_t* comm, const void* input, void* output, size_t count,
                                           hocket_type_t type);
HOCKET_API hocket_status_t hocket_alltoallv(hocket_comm_t* comm, const void* input, const size_t* input_counts,
                                            const size_t* input_displacements, void* output,
                                            const size_t* output_counts, const size_t* output_displacements,
                                            hocket_type_t type);
/* Each block has a type of its own, and displacements are in bytes. They may not be NULL. */
HOCKET_API hocket_status_t hocket_alltoallw(hocket_comm_t* comm, const void* input, const size_t* input_counts,
                                            const size_t* input_byte_displacements, const hocket_type_t* input_types,
                                            void* output, const size_t* output_counts,
                                            const size_t* output_byte_displacements, const hocket_type_t* output_types);
/* Rank r gets the r-th block of `count` elements of the reduction. `input` holds size*count elements and `output`
 * count; in place, `output` holds size*count, and the result where it begins. */
HOCKET_API hocket_status_t hocket_reduce_scatter_block(hocket_comm_t* comm, const void* input, void* output,
                                                       size_t count, hocket_type_t type, hocket_op_t op);
/* The same with blocks of counts[r] elements, one behind the other: the sum of `counts` instead of size*count elements,
 * counts[its rank] instead of count. */
HOCKET_API hocket_status_t hocket_reduce_scatter(hocket_comm_t* comm, const void* input, void* output,
                                                 const size_t* counts, hocket_type_t type, hocket_op_t op);
/* Rank r gets the reduction of the operands of ranks 0 to r. `input` and `output` hold `count` elements. */
HOCKET_API hocket_status_t hocket_scan(hocket_comm_t* comm, const void* input, void* output, size_t count,
                                       hocket_type_t type, hocket_op_t op);
/* Of ranks 0 to r-1, otherwise as hocket_scan. The output of rank 0 stays as it is, and may be NULL unless the call is
 * in place. */
HOCKET_API hocket_status_t hocket_exscan(hocket_comm_t* comm, const void* input, void* output, size_t count,
                                         hocket_type_t type, hocket_op_t op);

/* --- non-blocking: started, then tested or waited for; buffers are hocket's until it is complete -------------- */

HOCKET_API hocket_status_t hocket_barrier_start(hocket_comm_t* comm, hocket_request_t** request);
HOCKET_API hocket_status_t hocket_broadcast_start(hocket_comm_t* comm, void* buffer, size_t count, hocket_type_t type,
                                                  int root, hocket_request_t** request);
HOCKET_API hocket_status_t hocket_reduce_start(hocket_comm_t* comm, const void* input, void* output, size_t count,
                                               hocket_type_t type, hocket_op_t op, int root,
                                               hocket_request_t** request);
HOCKET_API hocket_status_t hocket_allreduce_start(hocket_comm_t* comm, const void* input, void* output, size_t count,
                                                  hocket_type_t type, hocket_op_t op, hocket_request_t** request);
/* Arrays of counts, displacements and types are read before these return. */
HOCKET_API hocket_status_t hocket_gather_start(hocket_comm_t* comm, const void* input, void* output, size_t count,
                                               hocket_type_t type, int root, hocket_request_t** request);
HOCKET_API hocket_status_t hocket_gatherv_start(hocket_comm_t* comm, const void* input, size_t input_count,
                                                void* output, const size_t* counts, const size_t* displacements,
                                                hocket_type_t type, int root, hocket_request_t** request);
HOCKET_API hocket_status_t hocket_scatter_start(hocket_comm_t* comm, const void* input, void* output, size_t count,
                                                hocket_type_t type, int root, hocket_request_t** request);
HOCKET_API hocket_status_t hocket_scatterv_start(hocket_comm_t* comm, const void* input, const size_t* counts,
                                                 const size_t* displacements, void* output, size_t output_count,
                                                 hocket_type_t type, int root, hocket_request_t** request);
HOCKET_API hocket_status_t hocket_allgather_start(hocket_comm_t* comm, const void* input, void* output, size_t count,
                                                  hocket_type_t type, hocket_request_t** request);
HOCKET_API hocket_status_t hocket_allgatherv_start(hocket_comm_t* comm, const void* input, void* output,
                                                   const size_t* counts, const size_t* displacements,
                                                   hocket_type_t type, hocket_request_t** request);
HOCKET_API hocket_status_t hocket_alltoall_start(hocket_comm_t* comm, const void* input, void* output, size_t count,
                                                 hocket_type_t type, hocket_request_t** request);
HOCKET_API hocket_status_t hocket_alltoallv_start(hocket_comm_t* comm, const void* input, const size_t* input_counts,
                                                  const size_t* input_displacements, void* output,
                                                  const size_t* output_counts, const size_t* output_displacements,
                                                  hocket_type_t type, hocket_request_t** request);
HOCKET_API hocket_status_t hocket_alltoallw_start(hocket_comm_t* comm, const void* input, const size_t* input_counts,
                                                  const size_t* input_byte_displacements,
                                                  const hocket_type_t* input_types, void* output,
                                                  const size_t* output_counts, const size_t* output_byte_displacements,
                                                  const hocket_type_t* output_types, hocket_request_t** request);
HOCKET_API hocket_status_t hocket_reduce_scatter_block_start(hocket_comm_t* comm, const void* input, void* output,
                                                             size_t count, hocket_type_t type, hocket_op_t op,
                                                             hocket_request_t** request);
HOCKET_API hocket_status_t hocket_reduce_scatter_start(hocket_comm_t* comm, const void* input, void* output,
                                                       const size_t* counts, hocket_type_t type, hocket_op_t op,
                                                       hocket_request_t** request);
HOCKET_API hocket_status_t hocket_scan_start(hocket_comm_t* comm, const void* input, void* output, size_t count,
                                             hocket_type_t type, hocket_op_t op, hocket_request_t** request);
HOCKET_API hocket_status_t hocket_exscan_start(hocket_comm_t* comm, const void* input, void* output, size_t count,
                                               hocket_type_t type, hocket_op_t op, hocket_request_t** request);
/* HOCKET_OK when complete, HOCKET_IN_PROGRESS (hocket_test only) when not, else the error it ended with. Complete or
 * failed, the request is gone and *request = NULL, unless persistent.h says otherwise. A NULL request is complete. */
HOCKET_API hocket_status_t hocket_test(hocket_request_t** request);
HOCKET_API hocket_status_t hocket_wait(hocket_request_t** request);

/* --- knowing what happens ------------------------------------------------------------------------------------- */

/* Of the last call on this thread that failed; never NULL. Valid until the next failing call. */
HOCKET_API const char* hocket_error_text(void);
/* What it means, in a word or two: "peer failed". */
HOCKET_API const char* hocket_status_name(hocket_status_t status);

/* What would run for such a call on this comm, and why, as text of several lines.
 * `collective` is a name such as "allreduce", or MPI's; `bytes` are those of the message, or of a block where there is
 * a block a rank; barrier, gatherv, scatterv and alltoallv ignore them. Writes at most `capacity` bytes with a closing
 * 0. If the text is longer, it is cut off, and the answer is HOCKET_ERR_INVALID_ARGUMENT, whose text names what it
 * needs. */
HOCKET_API hocket_status_t hocket_explain(hocket_comm_t* comm, const char* collective, size_t bytes, char* text,
                                          size_t capacity);
/* Forces the algorithm ("ring", "tree:degree=3,segment=16K", "parents:0.0.1.1") for a collective on this comm; NULL:
 * back to the table. Where NIC engines are in use, it is a collective call: no started call may be under way, and with
 * HOCKET_NIC=on engines must be able to hold what is named. If that fails on any rank, all get
 * HOCKET_ERR_INVALID_ARGUMENT and the comm goes on as before.
 * A vector version has a choice of its own, by its own name: "gather" says nothing of "gatherv". Collective in effect:
 * every rank must force the same. */
HOCKET_API hocket_status_t hocket_force(hocket_comm_t* comm, const char* collective, const char* algorithm);

/* "0.1.0": of the library that runs, which may be newer than this header. */
HOCKET_API const char* hocket_version(void);

#ifdef __cplusplus
}
#endif

#endif /* HOCKET_HOCKET_H */
