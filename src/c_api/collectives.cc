// SPDX-License-Identifier: BSD-3-Clause
// Barrier, broadcast and the reductions of whole vectors.
#include <hocket/persistent.h>

#include "c_api/arguments.h"

using hocket::c_api::begin;
using hocket::c_api::check_buffer;
using hocket::c_api::count_in_bytes;
using hocket::c_api::keep;
using hocket::c_api::kRootOnly;
using hocket::c_api::run;
using hocket::c_api::set_equal;
using hocket::c_api::set_operation;
using hocket::c_api::start;
using hocket::c_api::wrong;
using hocket::communicator::Arguments;
using hocket::schedule::Collective;

namespace {

hocket_status_t barrier_arguments(hocket_comm_t* comm, Arguments& out) {
  return begin("hocket_barrier", comm, Collective::kBarrier, 0, HOCKET_BYTE, 0, out);
}

hocket_status_t broadcast_arguments(hocket_comm_t* comm, void* buffer, size_t count, hocket_type_t type, int root,
                                    Arguments& out) {
  constexpr const char* kName = "hocket_broadcast";
  HOCKET_CHECKED(begin(kName, comm, Collective::kBroadcast, count, type, root, out));
  count_in_bytes(out);
  HOCKET_CHECKED(check_buffer(kName, "buffer", buffer, out.count));
  out.output = static_cast<std::byte*>(buffer);
  return HOCKET_OK;
}

hocket_status_t reduce_arguments(hocket_comm_t* comm, const void* input, void* output, size_t count, hocket_type_t type,
                                 hocket_op_t op, int root, Arguments& out) {
  constexpr const char* kName = "hocket_reduce";
  HOCKET_CHECKED(begin(kName, comm, Collective::kReduce, count, type, root, out));
  HOCKET_CHECKED(set_operation(kName, type, op, out));
  const size_t bytes = out.count * out.combiner.element_bytes;
  if (comm->communicator->rank() == out.root) return set_equal(kName, comm, input, output, bytes, out);
  if (input == HOCKET_IN_PLACE) return wrong(kName, kRootOnly);
  HOCKET_CHECKED(check_buffer(kName, "input", input, bytes));
  out.input = static_cast<const std::byte*>(input);
  return HOCKET_OK;
}

hocket_status_t allreduce_arguments(hocket_comm_t* comm, const void* input, void* output, size_t count,
                                    hocket_type_t type, hocket_op_t op, Arguments& out) {
  constexpr const char* kName = "hocket_allreduce";
  HOCKET_CHECKED(begin(kName, comm, Collective::kAllreduce, count, type, 0, out));
  HOCKET_CHECKED(set_operation(kName, type, op, out));
  return set_equal(kName, comm, input, output, out.count * out.combiner.element_bytes, out);
}

}  // namespace

hocket_status_t hocket_barrier(hocket_comm_t* comm) {
  Arguments arguments;
  return run(comm, barrier_arguments(comm, arguments), arguments);
}

hocket_status_t hocket_broadcast(hocket_comm_t* comm, void* buffer, size_t count, hocket_type_t type, int root) {
  Arguments arguments;
  return run(comm, broadcast_arguments(comm, buffer, count, type, root, arguments), arguments);
}

hocket_status_t hocket_reduce(hocket_comm_t* comm, const void* input, void* output, size_t count, hocket_type_t type,
                              hocket_op_t op, int root) {
  Arguments arguments;
  return run(comm, reduce_arguments(comm, input, output, count, type, op, root, arguments), arguments);
}

hocket_status_t hocket_allreduce(hocket_comm_t* comm, const void* input, void* output, size_t count, hocket_type_t type,
                                 hocket_op_t op) {
  Arguments arguments;
  return run(comm, allreduce_arguments(comm, input, output, count, type, op, arguments), arguments);
}

hocket_status_t hocket_barrier_start(hocket_comm_t* comm, hocket_request_t** request) {
  Arguments arguments;
  return start(comm, barrier_arguments(comm, arguments), arguments, request);
}

hocket_status_t hocket_barrier_init(hocket_comm_t* comm, hocket_request_t** request) {
  Arguments arguments;
  return keep(comm, barrier_arguments(comm, arguments), arguments, request);
}

hocket_status_t hocket_broadcast_start(hocket_comm_t* comm, void* buffer, size_t count, hocket_type_t type, int root,
                                       hocket_request_t** request) {
  Arguments arguments;
  return start(comm, broadcast_arguments(comm, buffer, count, type, root, arguments), arguments, request);
}

hocket_status_t hocket_broadcast_init(hocket_comm_t* comm, void* buffer, size_t count, hocket_type_t type, int root,
                                      hocket_request_t** request) {
  Arguments arguments;
  return keep(comm, broadcast_arguments(comm, buffer, count, type, root, arguments), arguments, request);
}

hocket_status_t hocket_reduce_start(hocket_comm_t* comm, const void* input, void* output, size_t count,
                                    hocket_type_t type, hocket_op_t op, int root, hocket_request_t** request) {
  Arguments arguments;
  return start(comm, reduce_arguments(comm, input, output, count, type, op, root, arguments), arguments, request);
}

hocket_status_t hocket_reduce_init(hocket_comm_t* comm, const void* input, void* output, size_t count,
                                   hocket_type_t type, hocket_op_t op, int root, hocket_request_t** request) {
  Arguments arguments;
  return keep(comm, reduce_arguments(comm, input, output, count, type, op, root, arguments), arguments, request);
}

hocket_status_t hocket_allreduce_start(hocket_comm_t* comm, const void* input, void* output, size_t count,
                                       hocket_type_t type, hocket_op_t op, hocket_request_t** request) {
  Arguments arguments;
  return start(comm, allreduce_arguments(comm, input, output, count, type, op, arguments), arguments, request);
}

hocket_status_t hocket_allreduce_init(hocket_comm_t* comm, const void* input, void* output, size_t count,
                                      hocket_type_t type, hocket_op_t op, hocket_request_t** request) {
  Arguments arguments;
  return keep(comm, allreduce_arguments(comm, input, output, count, type, op, arguments), arguments, request);
}
