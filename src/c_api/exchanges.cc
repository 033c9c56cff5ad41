// SPDX-License-Identifier: BSD-3-Clause
// Gather, scatter, allgather and alltoall of blocks of one length.
#include <hocket/persistent.h>

#include "c_api/arguments.h"

using hocket::c_api::begin;
using hocket::c_api::check_buffer;
using hocket::c_api::count_in_bytes;
using hocket::c_api::keep;
using hocket::c_api::kRootOnly;
using hocket::c_api::run;
using hocket::c_api::set_apart;
using hocket::c_api::set_equal;
using hocket::c_api::set_in_output;
using hocket::c_api::set_row;
using hocket::c_api::start;
using hocket::c_api::wrong;
using hocket::communicator::Arguments;
using hocket::communicator::set_in_place;
using hocket::schedule::Collective;

namespace {

// Blocks are counted in bytes, and a row of them must be countable too.
inline hocket_status_t begin_blocks(const char* function, hocket_comm_t* comm, Collective collective, size_t count,
                                    hocket_type_t type, int root, Arguments& out) {
  HOCKET_CHECKED(begin(function, comm, collective, count, type, root, out));
  count_in_bytes(out);
  size_t row = 0;
  return set_row(function, comm, count, out.count, row);
}

// The buffers of a rank that gets a block of every rank; in place, its own lies there already.
inline hocket_status_t set_gathered(const char* function, hocket_comm_t* comm, const void* input, void* output,
                                    Arguments& out) {
  const size_t row = out.count * comm->communicator->size();
  if (input != HOCKET_IN_PLACE) return set_apart(function, input, out.count, output, row, out);
  return set_in_output(function, comm, output, row, out);
}

hocket_status_t gather_arguments(hocket_comm_t* comm, const void* input, void* output, size_t count, hocket_type_t type,
                                 int root, Arguments& out) {
  constexpr const char* kName = "hocket_gather";
  HOCKET_CHECKED(begin_blocks(kName, comm, Collective::kGather, count, type, root, out));
  out.input = static_cast<const std::byte*>(input);
  if (comm->communicator->rank() != out.root) {
    if (input == HOCKET_IN_PLACE) return wrong(kName, kRootOnly);
    return check_buffer(kName, "input", input, out.count);
  }
  return set_gathered(kName, comm, input, output, out);
}

hocket_status_t scatter_arguments(hocket_comm_t* comm, const void* input, void* output, size_t count,
                                  hocket_type_t type, int root, Arguments& out) {
  constexpr const char* kName = "hocket_scatter";
  HOCKET_CHECKED(begin_blocks(kName, comm, Collective::kScatter, count, type, root, out));
  out.output = static_cast<std::byte*>(output);
  if (comm->communicator->rank() != out.root) {
    if (output == HOCKET_IN_PLACE) return wrong(kName, kRootOnly);
    return check_buffer(kName, "output", output, out.count);
  }
  const size_t row = out.count * comm->communicator->size();
  if (output != HOCKET_IN_PLACE) return set_apart(kName, input, row, output, out.count, out);
  HOCKET_CHECKED(check_buffer(kName, "input", input, row));
  out.input = static_cast<const std::byte*>(input);
  set_in_place(out, out.root);
  return HOCKET_OK;
}

hocket_status_t allgather_arguments(hocket_comm_t* comm, const void* input, void* output, size_t count,
                                    hocket_type_t type, Arguments& out) {
  constexpr const char* kName = "hocket_allgather";
  HOCKET_CHECKED(begin_blocks(kName, comm, Collective::kAllgather, count, type, 0, out));
  return set_gathered(kName, comm, input, output, out);
}

hocket_status_t alltoall_arguments(hocket_comm_t* comm, const void* input, void* output, size_t count,
                                   hocket_type_t type, Arguments& out) {
  constexpr const char* kName = "hocket_alltoall";
  HOCKET_CHECKED(begin_blocks(kName, comm, Collective::kAlltoall, count, type, 0, out));
  return set_equal(kName, comm, input, output, out.count * comm->communicator->size(), out);
}

}  // namespace

hocket_status_t hocket_gather(hocket_comm_t* comm, const void* input, void* output, size_t count, hocket_type_t type,
                              int root) {
  Arguments arguments;
  return run(comm, gather_arguments(comm, input, output, count, type, root, arguments), arguments);
}

hocket_status_t hocket_gather_start(hocket_comm_t* comm, const void* input, void* output, size_t count,
                                    hocket_type_t type, int root, hocket_request_t** request) {
  Arguments arguments;
  return start(comm, gather_arguments(comm, input, output, count, type, root, arguments), arguments, request);
}

hocket_status_t hocket_gather_init(hocket_comm_t* comm, const void* input, void* output, size_t count,
                                   hocket_type_t type, int root, hocket_request_t** request) {
  Arguments arguments;
  return keep(comm, gather_arguments(comm, input, output, count, type, root, arguments), arguments, request);
}

hocket_status_t hocket_scatter(hocket_comm_t* comm, const void* input, void* output, size_t count, hocket_type_t type,
                               int root) {
  Arguments arguments;
  return run(comm, scatter_arguments(comm, input, output, count, type, root, arguments), arguments);
}

hocket_status_t hocket_scatter_start(hocket_comm_t* comm, const void* input, void* output, size_t count,
                                     hocket_type_t type, int root, hocket_request_t** request) {
  Arguments arguments;
  return start(comm, scatter_arguments(comm, input, output, count, type, root, arguments), arguments, request);
}

hocket_status_t hocket_scatter_init(hocket_comm_t* comm, const void* input, void* output, size_t count,
                                    hocket_type_t type, int root, hocket_request_t** request) {
  Arguments arguments;
  return keep(comm, scatter_arguments(comm, input, output, count, type, root, arguments), arguments, request);
}

hocket_status_t hocket_allgather(hocket_comm_t* comm, const void* input, void* output, size_t count,
                                 hocket_type_t type) {
  Arguments arguments;
  return run(comm, allgather_arguments(comm, input, output, count, type, arguments), arguments);
}

hocket_status_t hocket_allgather_start(hocket_comm_t* comm, const void* input, void* output, size_t count,
                                       hocket_type_t type, hocket_request_t** request) {
  Arguments arguments;
  return start(comm, allgather_arguments(comm, input, output, count, type, arguments), arguments, request);
}

hocket_status_t hocket_allgather_init(hocket_comm_t* comm, const void* input, void* output, size_t count,
                                      hocket_type_t type, hocket_request_t** request) {
  Arguments arguments;
  return keep(comm, allgather_arguments(comm, input, output, count, type, arguments), arguments, request);
}

hocket_status_t hocket_alltoall(hocket_comm_t* comm, const void* input, void* output, size_t count,
                                hocket_type_t type) {
  Arguments arguments;
  return run(comm, alltoall_arguments(comm, input, output, count, type, arguments), arguments);
}

hocket_status_t hocket_alltoall_start(hocket_comm_t* comm, const void* input, void* output, size_t count,
                                      hocket_type_t type, hocket_request_t** request) {
  Arguments arguments;
  return start(comm, alltoall_arguments(comm, input, output, count, type, arguments), arguments, request);
}

hocket_status_t hocket_alltoall_init(hocket_comm_t* comm, const void* input, void* output, size_t count,
                                     hocket_type_t type, hocket_request_t** request) {
  Arguments arguments;
  return keep(comm, alltoall_arguments(comm, input, output, count, type, arguments), arguments, request);
}
