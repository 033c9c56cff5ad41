/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives that are made ready once, and started again and again with the same buffers: what a solver calls in each
 * of its iterations. Part of the C API; what hocket.h and neighbourhoods.h say of status, counts, requests and threads
 * holds here, too.
 *
 *   hocket_allreduce_init    and its like check the arguments and choose the algorithm; they give a request
 *   hocket_start             begins the call, again and again
 *   hocket_wait              ends it, as hocket_test does; the request stays
 *   hocket_request_free      gives the request back
 *
 * An init takes what the call takes, checks it, and chooses the algorithm. It waits for nobody and starts nothing: what
 * goes wrong is an error on its rank only, which leaves the comm as it was. All ranks make an init for the call,
 * in any order, with arguments that agree as those of the call itself. A hocket_force() for the collective comes before
 * it on all ranks, or after it on all; whether one that comes after still counts is left open.
 *
 * A start is a call of the comm like any non-blocking one: all ranks start the same calls in the same order, between
 * the comm's other collectives. That order alone says which starts belong together, whatever the order of inits was; it
 * may change from one round to the next. The call goes on while its comm is in a call, or tested, or waited for.
 * Several may be under way at a time, and be waited for in any order, another one on each rank. A call that one rank
 * starts by hocket_start() all ranks start by hocket_start(), and none by a hocket_..._start(). What goes wrong in the
 * call itself is told by hocket_wait() and hocket_test().
 *
 * A request is under way from its start until hocket_wait() has returned, or hocket_test() something else than
 * HOCKET_IN_PROGRESS. These leave it in place, also when the call has failed: that it is there says nothing of the
 * comm, which may be broken. One that isn't under way is complete for them.
 *
 * There may be as many as there is memory for. Buffers, and operations of the program's own, stay where they are until
 * the request is freed; what is in the buffers is the program's while it isn't under way. Arrays of counts,
 * displacements and types are read by the init. A neighbourhood may be destroyed before.
 *
 * hocket_comm_destroy() refuses while requests are under way. Others stay, and can be freed only.
 *
 * On one rank, without elements, in place, and between nodes, where a wire carries messages, all of this is the same.
 *
 * Thread safety: as hocket.h; a request is used where its comm is. */
#ifndef HOCKET_PERSISTENT_H
#define HOCKET_PERSISTENT_H

#include "neighbourhoods.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- starting and freeing requests ------------------------------------------------------------------------------ */

/* HOCKET_ERR_INVALID_ARGUMENT, and nothing has been started, for one that is under way, that no init has made, or whose
 * comm has been destroyed. */
HOCKET_API hocket_status_t hocket_start(hocket_request_t* request);
/* The `count` requests one after the other, in the array's order, which is the same on all ranks. They may be of
 * several comms. If one of them can't be started, or is there twice, none is. If a comm fails, those behind it are not
 * started; those before it are under way. */
HOCKET_API hocket_status_t hocket_start_all(size_t count, hocket_request_t* const* requests);
/* Not collective. The request is gone, and *request = NULL. HOCKET_ERR_INVALID_ARGUMENT, and nothing changes, for one
 * that is under way or that no init has made. A NULL request is no error. */
HOCKET_API hocket_status_t hocket_request_free(hocket_request_t** request);

/* --- collectives that can be started again ----------------------------------------------------------------------
 *
 * Each takes what its namesake in hocket.h takes, and gives a request that is not under way. */

HOCKET_API hocket_status_t hocket_barrier_init(hocket_comm_t* comm, hocket_request_t** request);
HOCKET_API hocket_status_t hocket_broadcast_init(hocket_comm_t* comm, void* buffer, size_t count, hocket_type_t type,
                                                 int root, hocket_request_t** request);
HOCKET_API hocket_status_t hocket_reduce_init(hocket_comm_t* comm, const void* input, void* output, size_t count,
                                              hocket_type_t type, hocket_op_t op, int root, hocket_request_t** request);
HOCKET_API hocket_status_t hocket_allreduce_init(hocket_comm_t* comm, const void* input, void* output, size_t count,
                                                 hocket_type_t type, hocket_op_t op, hocket_request_t** request);
HOCKET_API hocket_status_t hocket_gather_init(hocket_comm_t* comm, const void* input, void* output, size_t count,
                                              hocket_type_t type, int root, hocket_request_t** request);
HOCKET_API hocket_status_t hocket_gatherv_init(hocket_comm_t* comm, const void* input, size_t input_count, void* output,
                                               const size_t* counts, const size_t* displacements, hocket_type_t type,
                                               int root, hocket_request_t** request);
HOCKET_API hocket_status_t hocket_scatter_init(hocket_comm_t* comm, const void* input, void* output, size_t count,
                                               hocket_type_t type, int root, hocket_request_t** request);
HOCKET_API hocket_status_t hocket_scatterv_init(hocket_comm_t* comm, const void* input, const size_t* counts,
                                                const size_t* displacements, void* output, size_t output_count,
                                                hocket_type_t type, int root, hocket_request_t** request);
HOCKET_API hocket_status_t hocket_allgather_init(hocket_comm_t* comm, const void* input, void* output, size_t count,
                                                 hocket_type_t type, hocket_request_t** request);
HOCKET_API hocket_status_t hocket_allgatherv_init(hocket_comm_t* comm, const void* input, void* output,
                                                  const size_t* counts, const size_t* displacements, hocket_type_t type,
                                                  hocket_request_t** request);
HOCKET_API hocket_status_t hocket_alltoall_init(hocket_comm_t* comm, const void* input, void* output, size_t count,
                                                hocket_type_t type, hocket_request_t** request);
HOCKET_API hocket_status_t hocket_alltoallv_init(hocket_comm_t* comm, const void* input, const size_t* input_counts,
                                                 const size_t* input_displacements, void* output,
                                                 const size_t* output_counts, const size_t* output_displacements,
                                                 hocket_type_t type, hocket_request_t** request);
HOCKET_API hocket_status_t hocket_alltoallw_init(hocket_comm_t* comm, const void* input, const size_t* input_counts,
                                                 const size_t* input_byte_displacements,
                                                 const hocket_type_t* input_types, void* output,
                                                 const size_t* output_counts, const size_t* output_byte_displacements,
                                                 const hocket_type_t* output_types, hocket_request_t** request);
HOCKET_API hocket_status_t hocket_reduce_scatter_block_init(hocket_comm_t* comm, const void* input, void* output,
                                                            size_t count, hocket_type_t type, hocket_op_t op,
                                                            hocket_request_t** request);
HOCKET_API hocket_status_t hocket_reduce_scatter_init(hocket_comm_t* comm, const void* input, void* output,
                                                      const size_t* counts, hocket_type_t type, hocket_op_t op,
                                                      hocket_request_t** request);
HOCKET_API hocket_status_t hocket_scan_init(hocket_comm_t* comm, const void* input, void* output, size_t count,
                                            hocket_type_t type, hocket_op_t op, hocket_request_t** request);
HOCKET_API hocket_status_t hocket_exscan_init(hocket_comm_t* comm, const void* input, void* output, size_t count,
                                              hocket_type_t type, hocket_op_t op, hocket_request_t** request);

/* --- collectives among neighbours that can be started again -----------------------------------------------------
 *
 * The same of those in neighbourhoods.h. */

HOCKET_API hocket_status_t hocket_neighbor_allgather_init(hocket_neighbourhood_t* neighbourhood, const void* input,
                                                          void* output, size_t count, hocket_type_t type,
                                                          hocket_request_t** request);
HOCKET_API hocket_status_t hocket_neighbor_allgatherv_init(hocket_neighbourhood_t* neighbourhood, const void* input,
                                                           size_t input_count, void* output, const size_t* counts,
                                                           const size_t* displacements, hocket_type_t type,
                                                           hocket_request_t** request);
HOCKET_API hocket_status_t hocket_neighbor_alltoall_init(hocket_neighbourhood_t* neighbourhood, const void* input,
                                                         void* output, size_t count, hocket_type_t type,
                                                         hocket_request_t** request);
HOCKET_API hocket_status_t hocket_neighbor_alltoallv_init(hocket_neighbourhood_t* neighbourhood, const void* input,
                                                          const size_t* input_counts, const size_t* input_displacements,
                                                          void* output, const size_t* output_counts,
                                                          const size_t* output_displacements, hocket_type_t type,
                                                          hocket_request_t** request);
HOCKET_API hocket_status_t hocket_neighbor_alltoallw_init(
    hocket_neighbourhood_t* neighbourhood, const void* input, const size_t* input_counts,
    const size_t* input_byte_displacements, const hocket_type_t* input_types, void* output, const size_t* output_counts,
    const size_t* output_byte_displacements, const hocket_type_t* output_types, hocket_request_t** request);

#ifdef __cplusplus
}
#endif

#endif /* HOCKET_PERSISTENT_H */
