// SPDX-License-Identifier: BSD-3-Clause
// Gather, scatter, allgather and alltoall of blocks that differ in length.
#include <hocket/persistent.h>

#include <vector>

#include "c_api/blocks.h"

using hocket::c_api::begin;
using hocket::c_api::check_buffer;
using hocket::c_api::guarded;
using hocket::c_api::is_alone;
using hocket::c_api::keep;
using hocket::c_api::kRootOnly;
using hocket::c_api::run;
using hocket::c_api::set_blocks;
using hocket::c_api::Side;
using hocket::c_api::start;
using hocket::c_api::to_bytes;
using hocket::c_api::wrong;
using hocket::communicator::Arguments;
using hocket::communicator::block_offset;
using hocket::communicator::set_in_place;
using hocket::schedule::Collective;

static_assert(std::is_same_v<size_t, uint64_t>);  // callers' arrays are used as they are

namespace {

// Of one rank's own block, the two sides must tell the same.
hocket_status_t check_same(const char* function, const char* name, size_t own, size_t other) {
  if (own == other) return HOCKET_OK;
  return wrong(function, std::string("`") + name + "` says " + std::to_string(own) +
                             " elements where this rank's own block has " + std::to_string(other));
}

hocket_status_t gatherv_arguments(hocket_comm_t* comm, const void* input, size_t input_count, void* output,
                                  const size_t* counts, const size_t* displacements, hocket_type_t type, int root,
                                  Arguments& out) {
  constexpr const char* kName = "hocket_gatherv";
  HOCKET_CHECKED(begin(kName, comm, Collective::kGatherv, input_count, type, root, out));
  const bool in_place = input == HOCKET_IN_PLACE;
  out.input = static_cast<const std::byte*>(input);
  if (comm->communicator->rank() != out.root) {
    if (in_place) return wrong(kName, kRootOnly);
    return check_buffer(kName, "input", input, input_count);
  }
  const Side side{"counts", counts, displacements};
  HOCKET_CHECKED(set_blocks(kName, comm, side, output, "output", out, out.output_blocks));
  std::byte* const own = static_cast<std::byte*>(output) + block_offset(out, out.output_blocks, out.root);
  out.output = static_cast<std::byte*>(output);
  out.count = counts[out.root];
  if (in_place) {
    set_in_place(out, out.root);
  } else {
    out.in_place = own != nullptr && out.input == own;
    HOCKET_CHECKED(check_same(kName, "input_count", input_count, out.count));
    HOCKET_CHECKED(check_buffer(kName, "input", input, out.count));
  }
  if (is_alone(comm)) {
    out.collective = Collective::kGather;
    out.output = own;
  }
  return HOCKET_OK;
}

hocket_status_t scatterv_arguments(hocket_comm_t* comm, const void* input, const size_t* counts,
                                   const size_t* displacements, void* output, size_t output_count, hocket_type_t type,
                                   int root, Arguments& out) {
  constexpr const char* kName = "hocket_scatterv";
  HOCKET_CHECKED(begin(kName, comm, Collective::kScatterv, output_count, type, root, out));
  const bool in_place = output == HOCKET_IN_PLACE;
  out.output = static_cast<std::byte*>(output);
  if (comm->communicator->rank() != out.root) {
    if (in_place) return wrong(kName, kRootOnly);
    return check_buffer(kName, "output", output, output_count);
  }
  const Side side{"counts", counts, displacements};
  HOCKET_CHECKED(set_blocks(kName, comm, side, input, "input", out, out.input_blocks));
  const std::byte* const own = static_cast<const std::byte*>(input) + block_offset(out, out.input_blocks, out.root);
  out.input = static_cast<const std::byte*>(input);
  out.count = counts[out.root];
  if (in_place) {
    set_in_place(out, out.root);
  } else {
    out.in_place = own != nullptr && out.output == own;
    HOCKET_CHECKED(check_same(kName, "output_count", output_count, out.count));
    HOCKET_CHECKED(check_buffer(kName, "output", output, out.count));
  }
  if (is_alone(comm)) {
    out.collective = Collective::kScatter;
    out.input = own;
  }
  return HOCKET_OK;
}

hocket_status_t allgatherv_arguments(hocket_comm_t* comm, const void* input, void* output, const size_t* counts,
                                     const size_t* displacements, hocket_type_t type, Arguments& out) {
  constexpr const char* kName = "hocket_allgatherv";
  HOCKET_CHECKED(begin(kName, comm, Collective::kAllgatherv, 0, type, 0, out));
  const uint32_t rank = comm->communicator->rank();
  const Side side{"counts", counts, displacements};
  HOCKET_CHECKED(set_blocks(kName, comm, side, output, "output", out, out.output_blocks));
  std::byte* const own = static_cast<std::byte*>(output) + block_offset(out, out.output_blocks, rank);
  out.output = static_cast<std::byte*>(output);
  out.count = counts[rank];
  out.input = static_cast<const std::byte*>(input);
  out.in_place = own != nullptr && out.input == own;
  if (input == HOCKET_IN_PLACE) set_in_place(out, rank);
  HOCKET_CHECKED(check_buffer(kName, "input", out.input, out.count));
  if (is_alone(comm)) {
    out.collective = Collective::kAllgather;
    out.output = own;
  }
  return HOCKET_OK;
}

hocket_status_t alltoallv_arguments(hocket_comm_t* comm, const void* input, const size_t* input_counts,
                                    const size_t* input_displacements, void* output, const size_t* output_counts,
                                    const size_t* output_displacements, hocket_type_t type, Arguments& out) {
  constexpr const char* kName = "hocket_alltoallv";
  HOCKET_CHECKED(begin(kName, comm, Collective::kAlltoallv, 0, type, 0, out));
  const uint32_t rank = comm->communicator->rank();
  out.output = static_cast<std::byte*>(output);
  HOCKET_CHECKED(set_blocks(kName, comm, {"output_counts", output_counts, output_displacements}, output, "output", out,
                            out.output_blocks));
  if (input == HOCKET_IN_PLACE) {
    set_in_place(out, rank);
  } else {
    out.input = static_cast<const std::byte*>(input);
    HOCKET_CHECKED(set_blocks(kName, comm, {"input_counts", input_counts, input_displacements}, input, "input", out,
                              out.input_blocks));
    HOCKET_CHECKED(check_same(kName, "output_counts", output_counts[rank], input_counts[rank]));
    out.in_place = input != nullptr && input == output;
  }
  if (is_alone(comm)) {
    out.collective = Collective::kAlltoall;
    out.count = out.input_blocks.counts[0];
    if (out.input != nullptr) out.input += block_offset(out, out.input_blocks, 0);
    if (out.output != nullptr) out.output += block_offset(out, out.output_blocks, 0);
  }
  return HOCKET_OK;
}

struct Alltoallw {
  hocket_comm_t* comm;
  const void* input;
  const size_t* input_counts;
  const size_t* input_displacements;
  const hocket_type_t* input_types;
  void* output;
  const size_t* output_counts;
  const size_t* output_displacements;
  const hocket_type_t* output_types;
};

// Its counts in bytes.
struct InBytes {
  std::vector<size_t> input_counts, output_counts;
};

// `carry_out(status, arguments)` with the arguments of the alltoallv of bytes that the call is.
template <typename CarryOut>
hocket_status_t as_alltoallv(const Alltoallw& call, const CarryOut& carry_out) {
  constexpr const char* kName = "hocket_alltoallw";
  return guarded([&] {
    Arguments arguments;
    HOCKET_CHECKED(begin(kName, call.comm, Collective::kAlltoallv, 0, HOCKET_BYTE, 0, arguments));
    const uint32_t size = call.comm->communicator->size();
    const bool in_place = call.input == HOCKET_IN_PLACE;
    InBytes bytes;
    HOCKET_CHECKED(to_bytes(kName, size, "output", call.output_counts, call.output_displacements, call.output_types,
                            bytes.output_counts));
    if (!in_place) {
      HOCKET_CHECKED(to_bytes(kName, size, "input", call.input_counts, call.input_displacements, call.input_types,
                              bytes.input_counts));
    }
    return carry_out(
        alltoallv_arguments(call.comm, call.input, bytes.input_counts.data(), call.input_displacements, call.output,
                            bytes.output_counts.data(), call.output_displacements, HOCKET_BYTE, arguments),
        arguments);
  });
}

}  // namespace

hocket_status_t hocket_gatherv(hocket_comm_t* comm, const void* input, size_t input_count, void* output,
                               const size_t* counts, const size_t* displacements, hocket_type_t type, int root) {
  Arguments arguments;
  return run(comm, gatherv_arguments(comm, input, input_count, output, counts, displacements, type, root, arguments),
             arguments);
}

hocket_status_t hocket_gatherv_start(hocket_comm_t* comm, const void* input, size_t input_count, void* output,
                                     const size_t* counts, const size_t* displacements, hocket_type_t type, int root,
                                     hocket_request_t** request) {
  Arguments arguments;
  return start(comm, gatherv_arguments(comm, input, input_count, output, counts, displacements, type, root, arguments),
               arguments, request);
}

hocket_status_t hocket_gatherv_init(hocket_comm_t* comm, const void* input, size_t input_count, void* output,
                                    const size_t* counts, const size_t* displacements, hocket_type_t type, int root,
                                    hocket_request_t** request) {
  Arguments arguments;
  return keep(comm, gatherv_arguments(comm, input, input_count, output, counts, displacements, type, root, arguments),
              arguments, request);
}

hocket_status_t hocket_scatterv(hocket_comm_t* comm, const void* input, const size_t* counts,
                                const size_t* displacements, void* output, size_t output_count, hocket_type_t type,
                                int root) {
  Arguments arguments;
  return run(comm, scatterv_arguments(comm, input, counts, displacements, output, output_count, type, root, arguments),
             arguments);
}

hocket_status_t hocket_scatterv_start(hocket_comm_t* comm, const void* input, const size_t* counts,
                                      const size_t* displacements, void* output, size_t output_count,
                                      hocket_type_t type, int root, hocket_request_t** request) {
  Arguments arguments;
  return start(comm,
               scatterv_arguments(comm, input, counts, displacements, output, output_count, type, root, arguments),
               arguments, request);
}

hocket_status_t hocket_scatterv_init(hocket_comm_t* comm, const void* input, const size_t* counts,
                                     const size_t* displacements, void* output, size_t output_count, hocket_type_t type,
                                     int root, hocket_request_t** request) {
  Arguments arguments;
  return keep(comm, scatterv_arguments(comm, input, counts, displacements, output, output_count, type, root, arguments),
              arguments, request);
}

hocket_status_t hocket_allgatherv(hocket_comm_t* comm, const void* input, void* output, const size_t* counts,
                                  const size_t* displacements, hocket_type_t type) {
  Arguments arguments;
  return run(comm, allgatherv_arguments(comm, input, output, counts, displacements, type, arguments), arguments);
}

hocket_status_t hocket_allgatherv_start(hocket_comm_t* comm, const void* input, void* output, const size_t* counts,
                                        const size_t* displacements, hocket_type_t type, hocket_request_t** request) {
  Arguments arguments;
  return start(comm, allgatherv_arguments(comm, input, output, counts, displacements, type, arguments), arguments,
               request);
}

hocket_status_t hocket_allgatherv_init(hocket_comm_t* comm, const void* input, void* output, const size_t* counts,
                                       const size_t* displacements, hocket_type_t type, hocket_request_t** request) {
  Arguments arguments;
  return keep(comm, allgatherv_arguments(comm, input, output, counts, displacements, type, arguments), arguments,
              request);
}

hocket_status_t hocket_alltoallv(hocket_comm_t* comm, const void* input, const size_t* input_counts,
                                 const size_t* input_displacements, void* output, const size_t* output_counts,
                                 const size_t* output_displacements, hocket_type_t type) {
  Arguments arguments;
  return run(comm,
             alltoallv_arguments(comm, input, input_counts, input_displacements, output, output_counts,
                                 output_displacements, type, arguments),
             arguments);
}

hocket_status_t hocket_alltoallv_start(hocket_comm_t* comm, const void* input, const size_t* input_counts,
                                       const size_t* input_displacements, void* output, const size_t* output_counts,
                                       const size_t* output_displacements, hocket_type_t type,
                                       hocket_request_t** request) {
  Arguments arguments;
  return start(comm,
               alltoallv_arguments(comm, input, input_counts, input_displacements, output, output_counts,
                                   output_displacements, type, arguments),
               arguments, request);
}

hocket_status_t hocket_alltoallv_init(hocket_comm_t* comm, const void* input, const size_t* input_counts,
                                      const size_t* input_displacements, void* output, const size_t* output_counts,
                                      const size_t* output_displacements, hocket_type_t type,
                                      hocket_request_t** request) {
  Arguments arguments;
  return keep(comm,
              alltoallv_arguments(comm, input, input_counts, input_displacements, output, output_counts,
                                  output_displacements, type, arguments),
              arguments, request);
}

hocket_status_t hocket_alltoallw(hocket_comm_t* comm, const void* input, const size_t* input_counts,
                                 const size_t* input_byte_displacements, const hocket_type_t* input_types, void* output,
                                 const size_t* output_counts, const size_t* output_byte_displacements,
                                 const hocket_type_t* output_types) {
  return as_alltoallv(
      {comm, input, input_counts, input_byte_displacements, input_types, output, output_counts,
       output_byte_displacements, output_types},
      [&](hocket_status_t checked, const Arguments& arguments) { return run(comm, checked, arguments); });
}

hocket_status_t hocket_alltoallw_start(hocket_comm_t* comm, const void* input, const size_t* input_counts,
                                       const size_t* input_byte_displacements, const hocket_type_t* input_types,
                                       void* output, const size_t* output_counts,
                                       const size_t* output_byte_displacements, const hocket_type_t* output_types,
                                       hocket_request_t** request) {
  return as_alltoallv(
      {comm, input, input_counts, input_byte_displacements, input_types, output, output_counts,
       output_byte_displacements, output_types},
      [&](hocket_status_t checked, const Arguments& arguments) { return start(comm, checked, arguments, request); });
}

hocket_status_t hocket_alltoallw_init(hocket_comm_t* comm, const void* input, const size_t* input_counts,
                                      const size_t* input_byte_displacements, const hocket_type_t* input_types,
                                      void* output, const size_t* output_counts,
                                      const size_t* output_byte_displacements, const hocket_type_t* output_types,
                                      hocket_request_t** request) {
  return as_alltoallv(
      {comm, input, input_counts, input_byte_displacements, input_types, output, output_counts,
       output_byte_displacements, output_types},
      [&](hocket_status_t checked, const Arguments& arguments) { return keep(comm, checked, arguments, request); });
}
