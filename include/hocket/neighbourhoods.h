/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives among the neighbours of each rank: halo exchanges, and whatever else is sparse. Part of the C API; what
 * hocket.h says of status, counts, requests and threads holds here, too.
 *
 * A neighbourhood says for each rank of a comm from whom it gets a block (its sources) and whom it gives one (its
 * destinations), each in an order of its own: the k-th block of a buffer is that of the k-th of them. Made once, it
 * serves any number of calls. Its calls are calls of the comm: they come in the same order on all ranks, between the
 * comm's others, and requests are tested and waited for as theirs. All functions that make one are collective over
 * `comm`; if arguments can't be right on any rank, or ranks disagree, all of them get an error and no neighbourhood.
 *
 * On a grid ranks count the last dimension first, as MPI's Cartesian communicators do. Beyond an edge of a dimension
 * that isn't periodic is nobody, HOCKET_NO_RANK: that block of the input is not looked at, and that of the output left
 * as it is.
 *
 * Thread safety: as hocket.h; a neighbourhood is used where its comm is. */
#ifndef HOCKET_NEIGHBOURHOODS_H
#define HOCKET_NEIGHBOURHOODS_H

#include "hocket.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HOCKET_NO_RANK (-1)

/* --- making neighbourhoods -------------------------------------------------------------------------------------- */

typedef struct hocket_neighbourhood hocket_neighbourhood_t;

/* From lists, as MPI_Dist_graph_create_adjacent. A rank may be several times in a list, and its own neighbour; lists
 * may be empty, and then NULL. The k-th block that goes from one rank to another is the k-th that the other one gets
 * from it, so that as many must be in both lists. */
HOCKET_API hocket_status_t hocket_neighbourhood_create(hocket_comm_t* comm, int sources, const int* source_ranks,
                                                       int destinations, const int* destination_ranks,
                                                       hocket_neighbourhood_t** neighbourhood);
/* On a grid of `dimensions`, `lengths` points each, whose product is the comm's size; `periodic` is 0 or 1 for each. In
 * each dimension the neighbour below comes first, then that above; what is given to the one below comes, there, from
 * above, as in MPI. */
HOCKET_API hocket_status_t hocket_neighbourhood_create_grid(hocket_comm_t* comm, int dimensions, const int* lengths,
                                                            const int* periodic,
                                                            hocket_neighbourhood_t** neighbourhood);
/* The same with `neighbours` at any offsets, the same on all ranks: offsets[k * dimensions + d] is how far the k-th
 * destination is in dimension d, and the k-th source is as far on the other side. Diagonal neighbours may then get
 * their blocks by way of others (the algorithm `dimensions`). */
HOCKET_API hocket_status_t hocket_neighbourhood_create_stencil(hocket_comm_t* comm, int dimensions, const int* lengths,
                                                               const int* periodic, int neighbours, const int* offsets,
                                                               hocket_neighbourhood_t** neighbourhood);
/* Not collective. Requests may be running; they go on. The comm may be destroyed before. NULL is no error. */
HOCKET_API hocket_status_t hocket_neighbourhood_destroy(hocket_neighbourhood_t* neighbourhood);
/* How many sources and destinations this rank has, and who they are, in order; pointers may be NULL. */
HOCKET_API hocket_status_t hocket_neighbourhood_counts(const hocket_neighbourhood_t* neighbourhood, int* sources,
                                                       int* destinations);
HOCKET_API hocket_status_t hocket_neighbourhood_ranks(const hocket_neighbourhood_t* neighbourhood, int* source_ranks,
                                                      int* destination_ranks);
/* As hocket_explain, for a collective among these neighbours ("neighbor_alltoall"). */
HOCKET_API hocket_status_t hocket_neighbourhood_explain(const hocket_neighbourhood_t* neighbourhood,
                                                        const char* collective, size_t bytes, char* text,
                                                        size_t capacity);

/* --- collectives among neighbours, as their MPI namesakes -------------------------------------------------------
 *
 * `count` is of a block and the same on all ranks of the comm. HOCKET_IN_PLACE is refused. hocket_force() on the comm
 * chooses the algorithm, by names such as "neighbor_alltoall". */

/* Each rank gives its `count` elements to all its destinations; `output` has room for a block of every source. */
HOCKET_API hocket_status_t hocket_neighbor_allgather(hocket_neighbourhood_t* neighbourhood, const void* input,
                                                     void* output, size_t count, hocket_type_t type);
/* Blocks differ in length: this rank gives `input_count` elements to each destination, whose count for it says the
 * same. counts[k] is the length of the k-th source's block, and displacements[k] where it begins, in elements;
 * `displacements` may be NULL: one block behind the other. */
HOCKET_API hocket_status_t hocket_neighbor_allgatherv(hocket_neighbourhood_t* neighbourhood, const void* input,
                                                      size_t input_count, void* output, const size_t* counts,
                                                      const size_t* displacements, hocket_type_t type);
/* `input` has a block for every destination, and `output` room for one of every source. */
HOCKET_API hocket_status_t hocket_neighbor_alltoall(hocket_neighbourhood_t* neighbourhood, const void* input,
                                                    void* output, size_t count, hocket_type_t type);
/* The two ranks of each block must agree on its length; others need not. Displacements may be NULL, as above. */
HOCKET_API hocket_status_t hocket_neighbor_alltoallv(hocket_neighbourhood_t* neighbourhood, const void* input,
                                                     const size_t* input_counts, const size_t* input_displacements,
                                                     void* output, const size_t* output_counts,
                                                     const size_t* output_displacements, hocket_type_t type);
/* Each block has a type of its own, and displacements are in bytes. They may not be NULL. */
HOCKET_API hocket_status_t hocket_neighbor_alltoallw(hocket_neighbourhood_t* neighbourhood, const void* input,
                                                     const size_t* input_counts, const size_t* input_byte_displacements,
                                                     const hocket_type_t* input_types, void* output,
                                                     const size_t* output_counts,
                                                     const size_t* output_byte_displacements,
                                                     const hocket_type_t* output_types);

/* --- collectives among neighbours, non-blocking ----------------------------------------------------------- */

HOCKET_API hocket_status_t hocket_neighbor_allgather_start(hocket_neighbourhood_t* neighbourhood, const void* input,
                                                           void* output, size_t count, hocket_type_t type,
                                                           hocket_request_t** request);
/* Arrays of counts, displacements and types are read before these return. */
HOCKET_API hocket_status_t hocket_neighbor_allgatherv_start(hocket_neighbourhood_t* neighbourhood, const void* input,
                                                            size_t input_count, void* output, const size_t* counts,
                                                            const size_t* displacements, hocket_type_t type,
                                                            hocket_request_t** request);
HOCKET_API hocket_status_t hocket_neighbor_alltoall_start(hocket_neighbourhood_t* neighbourhood, const void* input,
                                                          void* output, size_t count, hocket_type_t type,
                                                          hocket_request_t** request);
HOCKET_API hocket_status_t hocket_neighbor_alltoallv_start(hocket_neighbourhood_t* neighbourhood, const void* input,
                                                           const size_t* input_counts,
                                                           const size_t* input_displacements, void* output,
                                                           const size_t* output_counts,
                                                           const size_t* output_displacements, hocket_type_t type,
                                                           hocket_request_t** request);
HOCKET_API hocket_status_t hocket_neighbor_alltoallw_start(
    hocket_neighbourhood_t* neighbourhood, const void* input, const size_t* input_counts,
    const size_t* input_byte_displacements, const hocket_type_t* input_types, void* output, const size_t* output_counts,
    const size_t* output_byte_displacements, const hocket_type_t* output_types, hocket_request_t** request);

#ifdef __cplusplus
}
#endif

#endif /* HOCKET_NEIGHBOURHOODS_H */
