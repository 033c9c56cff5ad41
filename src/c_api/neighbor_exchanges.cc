// SPDX-License-Identifier: BSD-3-Clause
// Allgather and alltoall among the neighbours of each rank.
#include <hocket/persistent.h>

#include <vector>

#include "c_api/blocks.h"
#include "c_api/internal/neighbourhood.h"

using hocket::c_api::begin;
using hocket::c_api::check_buffer;
using hocket::c_api::count_in_bytes;
using hocket::c_api::guarded;
using hocket::c_api::invalid;
using hocket::c_api::keep;
using hocket::c_api::run;
using hocket::c_api::set_apart;
using hocket::c_api::set_blocks;
using hocket::c_api::Side;
using hocket::c_api::start;
using hocket::c_api::to_bytes;
using hocket::c_api::wrong;
using hocket::communicator::Arguments;
using hocket::schedule::Collective;

namespace {

// Of this rank.
struct Degrees {
  uint32_t sources = 0;
  uint32_t destinations = 0;
};

Degrees degrees_of(const hocket_neighbourhood_t* neighbourhood) {
  const hocket::schedule::Neighbours& neighbours = *neighbourhood->neighbours;
  return {static_cast<uint32_t>(neighbours.sources(neighbourhood->rank).size()),
          static_cast<uint32_t>(neighbours.destinations(neighbourhood->rank).size())};
}

hocket_status_t begin_among(const char* function, hocket_neighbourhood_t* neighbourhood, Collective collective,
                            const void* input, size_t count, hocket_type_t type, Arguments& out) {
  if (neighbourhood == nullptr) return invalid(function, "`neighbourhood` is NULL");
  HOCKET_CHECKED(begin(function, neighbourhood->comm, collective, count, type, 0, out));
  if (input == HOCKET_IN_PLACE) return wrong(function, "collectives among neighbours take no HOCKET_IN_PLACE");
  out.root = neighbourhood->enrolment->number();
  return HOCKET_OK;
}

// Of blocks of equal length.
hocket_status_t set_row_of(const char* function, size_t count, size_t block, uint32_t blocks, size_t& row) {
  if (__builtin_mul_overflow(block, blocks, &row) || row > SIZE_MAX / 2)
    return wrong(function, "count " + std::to_string(count) + " is too large for a block of every neighbour");
  return HOCKET_OK;
}

hocket_status_t equal_arguments(const char* function, hocket_neighbourhood_t* neighbourhood, Collective collective,
                                const void* input, void* output, size_t count, hocket_type_t type, Arguments& out) {
  HOCKET_CHECKED(begin_among(function, neighbourhood, collective, input, count, type, out));
  const Degrees degrees = degrees_of(neighbourhood);
  const size_t block = count * out.combiner.element_bytes;
  size_t given = 0;
  size_t taken = 0;
  const uint32_t blocks = collective == Collective::kNeighborAllgather ? 1 : degrees.destinations;
  HOCKET_CHECKED(set_row_of(function, count, block, blocks, given));
  HOCKET_CHECKED(set_row_of(function, count, block, degrees.sources, taken));
  // Who has no destinations gives nothing.
  if (degrees.destinations == 0) given = 0;
  HOCKET_CHECKED(set_apart(function, input, given, output, taken, out, "among neighbours two buffers are needed"));
  count_in_bytes(out);
  return HOCKET_OK;
}

// A side without neighbours needs no arrays.
hocket_status_t set_side(const char* function, uint32_t blocks, const Side& side, const void* buffer,
                         const char* buffer_name, Arguments& out, hocket::schedule::BlockVector& vector) {
  if (blocks == 0) return HOCKET_OK;
  return set_blocks(function, blocks, side, buffer, buffer_name, out, vector);
}

hocket_status_t allgatherv_arguments(hocket_neighbourhood_t* neighbourhood, const void* input, size_t input_count,
                                     void* output, const size_t* counts, const size_t* displacements,
                                     hocket_type_t type, Arguments& out) {
  constexpr const char* kName = "hocket_neighbor_allgatherv";
  HOCKET_CHECKED(begin_among(kName, neighbourhood, Collective::kNeighborAllgatherv, input, input_count, type, out));
  const Degrees degrees = degrees_of(neighbourhood);
  HOCKET_CHECKED(check_buffer(kName, "input", input, degrees.destinations == 0 ? 0 : input_count));
  const Side side{"counts", counts, displacements};
  HOCKET_CHECKED(set_side(kName, degrees.sources, side, output, "output", out, out.output_blocks));
  out.input = static_cast<const std::byte*>(input);
  out.output = static_cast<std::byte*>(output);
  return HOCKET_OK;
}

struct Alltoallv {
  const char* function;
  hocket_neighbourhood_t* neighbourhood;
  const void* input;
  const size_t* input_counts;
  const size_t* input_displacements;
  void* output;
  const size_t* output_counts;
  const size_t* output_displacements;
};

hocket_status_t alltoallv_arguments(const Alltoallv& call, hocket_type_t type, Arguments& out) {
  HOCKET_CHECKED(
      begin_among(call.function, call.neighbourhood, Collective::kNeighborAlltoallv, call.input, 0, type, out));
  const Degrees degrees = degrees_of(call.neighbourhood);
  const Side given{"input_counts", call.input_counts, call.input_displacements};
  HOCKET_CHECKED(set_side(call.function, degrees.destinations, given, call.input, "input", out, out.input_blocks));
  const Side taken{"output_counts", call.output_counts, call.output_displacements};
  HOCKET_CHECKED(set_side(call.function, degrees.sources, taken, call.output, "output", out, out.output_blocks));
  out.input = static_cast<const std::byte*>(call.input);
  out.output = static_cast<std::byte*>(call.output);
  return HOCKET_OK;
}

struct Types {
  const hocket_type_t* input;
  const hocket_type_t* output;
};

// `carry_out(status, arguments)` with the arguments of the alltoallv of bytes that the call is.
template <typename CarryOut>
hocket_status_t as_alltoallv(Alltoallv call, const Types& types, const CarryOut& carry_out) {
  if (call.neighbourhood == nullptr) return invalid(call.function, "`neighbourhood` is NULL");
  return guarded([&] {
    const Degrees degrees = degrees_of(call.neighbourhood);
    std::vector<size_t> given, taken;
    if (degrees.destinations != 0)
      HOCKET_CHECKED(to_bytes(call.function, degrees.destinations, "input", call.input_counts, call.input_displacements,
                              types.input, given));
    if (degrees.sources != 0)
      HOCKET_CHECKED(to_bytes(call.function, degrees.sources, "output", call.output_counts, call.output_displacements,
                              types.output, taken));
    call.input_counts = given.data();
    call.output_counts = taken.data();
    Arguments arguments;
    return carry_out(alltoallv_arguments(call, HOCKET_BYTE, arguments), arguments);
  });
}

// What has been checked may have been that there is a neighbourhood.
hocket_status_t start_among(hocket_neighbourhood_t* neighbourhood, hocket_status_t checked, const Arguments& arguments,
                            hocket_request_t** request) {
  return checked != HOCKET_OK ? checked : start(neighbourhood->comm, checked, arguments, request);
}
hocket_status_t keep_among(hocket_neighbourhood_t* neighbourhood, hocket_status_t checked, const Arguments& arguments,
                           hocket_request_t** request) {
  return checked != HOCKET_OK ? checked
                              : keep(neighbourhood->comm, checked, arguments, request, neighbourhood->enrolment);
}

}  // namespace

hocket_status_t hocket_neighbor_allgather(hocket_neighbourhood_t* neighbourhood, const void* input, void* output,
                                          size_t count, hocket_type_t type) {
  Arguments arguments;
  const hocket_status_t checked =
      equal_arguments("hocket_neighbor_allgather", neighbourhood, Collective::kNeighborAllgather, input, output, count,
                      type, arguments);
  return checked != HOCKET_OK ? checked : run(neighbourhood->comm, arguments);
}

hocket_status_t hocket_neighbor_allgather_start(hocket_neighbourhood_t* neighbourhood, const void* input, void* output,
                                                size_t count, hocket_type_t type, hocket_request_t** request) {
  Arguments arguments;
  const hocket_status_t checked =
      equal_arguments("hocket_neighbor_allgather", neighbourhood, Collective::kNeighborAllgather, input, output, count,
                      type, arguments);
  return start_among(neighbourhood, checked, arguments, request);
}

hocket_status_t hocket_neighbor_allgather_init(hocket_neighbourhood_t* neighbourhood, const void* input, void* output,
                                               size_t count, hocket_type_t type, hocket_request_t** request) {
  Arguments arguments;
  const hocket_status_t checked =
      equal_arguments("hocket_neighbor_allgather", neighbourhood, Collective::kNeighborAllgather, input, output, count,
                      type, arguments);
  return keep_among(neighbourhood, checked, arguments, request);
}

hocket_status_t hocket_neighbor_alltoall(hocket_neighbourhood_t* neighbourhood, const void* input, void* output,
                                         size_t count, hocket_type_t type) {
  Arguments arguments;
  const hocket_status_t checked = equal_arguments("hocket_neighbor_alltoall", neighbourhood,
                                                  Collective::kNeighborAlltoall, input, output, count, type, arguments);
  return checked != HOCKET_OK ? checked : run(neighbourhood->comm, arguments);
}

hocket_status_t hocket_neighbor_alltoall_start(hocket_neighbourhood_t* neighbourhood, const void* input, void* output,
                                               size_t count, hocket_type_t type, hocket_request_t** request) {
  Arguments arguments;
  const hocket_status_t checked = equal_arguments("hocket_neighbor_alltoall", neighbourhood,
                                                  Collective::kNeighborAlltoall, input, output, count, type, arguments);
  return start_among(neighbourhood, checked, arguments, request);
}

hocket_status_t hocket_neighbor_alltoall_init(hocket_neighbourhood_t* neighbourhood, const void* input, void* output,
                                              size_t count, hocket_type_t type, hocket_request_t** request) {
  Arguments arguments;
  const hocket_status_t checked = equal_arguments("hocket_neighbor_alltoall", neighbourhood,
                                                  Collective::kNeighborAlltoall, input, output, count, type, arguments);
  return keep_among(neighbourhood, checked, arguments, request);
}

hocket_status_t hocket_neighbor_allgatherv(hocket_neighbourhood_t* neighbourhood, const void* input, size_t input_count,
                                           void* output, const size_t* counts, const size_t* displacements,
                                           hocket_type_t type) {
  Arguments arguments;
  const hocket_status_t checked =
      allgatherv_arguments(neighbourhood, input, input_count, output, counts, displacements, type, arguments);
  return checked != HOCKET_OK ? checked : run(neighbourhood->comm, arguments);
}

hocket_status_t hocket_neighbor_allgatherv_start(hocket_neighbourhood_t* neighbourhood, const void* input,
                                                 size_t input_count, void* output, const size_t* counts,
                                                 const size_t* displacements, hocket_type_t type,
                                                 hocket_request_t** request) {
  Arguments arguments;
  const hocket_status_t checked =
      allgatherv_arguments(neighbourhood, input, input_count, output, counts, displacements, type, arguments);
  return start_among(neighbourhood, checked, arguments, request);
}

hocket_status_t hocket_neighbor_allgatherv_init(hocket_neighbourhood_t* neighbourhood, const void* input,
                                                size_t input_count, void* output, const size_t* counts,
                                                const size_t* displacements, hocket_type_t type,
                                                hocket_request_t** request) {
  Arguments arguments;
  const hocket_status_t checked =
      allgatherv_arguments(neighbourhood, input, input_count, output, counts, displacements, type, arguments);
  return keep_among(neighbourhood, checked, arguments, request);
}

hocket_status_t hocket_neighbor_alltoallv(hocket_neighbourhood_t* neighbourhood, const void* input,
                                          const size_t* input_counts, const size_t* input_displacements, void* output,
                                          const size_t* output_counts, const size_t* output_displacements,
                                          hocket_type_t type) {
  Arguments arguments;
  const hocket_status_t checked =
      alltoallv_arguments({"hocket_neighbor_alltoallv", neighbourhood, input, input_counts, input_displacements, output,
                           output_counts, output_displacements},
                          type, arguments);
  return checked != HOCKET_OK ? checked : run(neighbourhood->comm, arguments);
}

hocket_status_t hocket_neighbor_alltoallv_start(hocket_neighbourhood_t* neighbourhood, const void* input,
                                                const size_t* input_counts, const size_t* input_displacements,
                                                void* output, const size_t* output_counts,
                                                const size_t* output_displacements, hocket_type_t type,
                                                hocket_request_t** request) {
  Arguments arguments;
  const hocket_status_t checked =
      alltoallv_arguments({"hocket_neighbor_alltoallv", neighbourhood, input, input_counts, input_displacements, output,
                           output_counts, output_displacements},
                          type, arguments);
  return start_among(neighbourhood, checked, arguments, request);
}

hocket_status_t hocket_neighbor_alltoallv_init(hocket_neighbourhood_t* neighbourhood, const void* input,
                                               const size_t* input_counts, const size_t* input_displacements,
                                               void* output, const size_t* output_counts,
                                               const size_t* output_displacements, hocket_type_t type,
                                               hocket_request_t** request) {
  Arguments arguments;
  const hocket_status_t checked =
      alltoallv_arguments({"hocket_neighbor_alltoallv", neighbourhood, input, input_counts, input_displacements, output,
                           output_counts, output_displacements},
                          type, arguments);
  return keep_among(neighbourhood, checked, arguments, request);
}

hocket_status_t hocket_neighbor_alltoallw(hocket_neighbourhood_t* neighbourhood, const void* input,
                                          const size_t* input_counts, const size_t* input_byte_displacements,
                                          const hocket_type_t* input_types, void* output, const size_t* output_counts,
                                          const size_t* output_byte_displacements, const hocket_type_t* output_types) {
  return as_alltoallv({"hocket_neighbor_alltoallw", neighbourhood, input, input_counts, input_byte_displacements,
                       output, output_counts, output_byte_displacements},
                      {input_types, output_types}, [&](hocket_status_t checked, const Arguments& arguments) {
                        return run(neighbourhood->comm, checked, arguments);
                      });
}

hocket_status_t hocket_neighbor_alltoallw_start(hocket_neighbourhood_t* neighbourhood, const void* input,
                                                const size_t* input_counts, const size_t* input_byte_displacements,
                                                const hocket_type_t* input_types, void* output,
                                                const size_t* output_counts, const size_t* output_byte_displacements,
                                                const hocket_type_t* output_types, hocket_request_t** request) {
  return as_alltoallv({"hocket_neighbor_alltoallw", neighbourhood, input, input_counts, input_byte_displacements,
                       output, output_counts, output_byte_displacements},
                      {input_types, output_types}, [&](hocket_status_t checked, const Arguments& arguments) {
                        return start_among(neighbourhood, checked, arguments, request);
                      });
}

hocket_status_t hocket_neighbor_alltoallw_init(hocket_neighbourhood_t* neighbourhood, const void* input,
                                               const size_t* input_counts, const size_t* input_byte_displacements,
                                               const hocket_type_t* input_types, void* output,
                                               const size_t* output_counts, const size_t* output_byte_displacements,
                                               const hocket_type_t* output_types, hocket_request_t** request) {
  return as_alltoallv({"hocket_neighbor_alltoallw", neighbourhood, input, input_counts, input_byte_displacements,
                       output, output_counts, output_byte_displacements},
                      {input_types, output_types}, [&](hocket_status_t checked, const Arguments& arguments) {
                        return keep_among(neighbourhood, checked, arguments, request);
                      });
}
