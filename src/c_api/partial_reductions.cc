// SPDX-License-Identifier: BSD-3-Clause
// Reductions of which each rank gets a part: reduce_scatter and its block version, scan, exscan.
#include <hocket/persistent.h>

#include "c_api/blocks.h"

using hocket::c_api::begin;
using hocket::c_api::check_buffer;
using hocket::c_api::is_alone;
using hocket::c_api::keep;
using hocket::c_api::run;
using hocket::c_api::set_apart;
using hocket::c_api::set_blocks;
using hocket::c_api::set_equal;
using hocket::c_api::set_in_output;
using hocket::c_api::set_operation;
using hocket::c_api::set_row;
using hocket::c_api::start;
using hocket::communicator::Arguments;
using hocket::schedule::Collective;

namespace {

// In place, the output holds the whole operand, and afterwards the result where it begins.
hocket_status_t set_scattered(const char* function, const hocket_comm_t* comm, const void* input, size_t row,
                              void* output, size_t bytes, Arguments& out) {
  if (input == HOCKET_IN_PLACE) return set_in_output(function, comm, output, row, out);
  return set_apart(function, input, row, output, bytes, out);
}

hocket_status_t reduce_scatter_block_arguments(hocket_comm_t* comm, const void* input, void* output, size_t count,
                                               hocket_type_t type, hocket_op_t op, Arguments& out) {
  constexpr const char* kName = "hocket_reduce_scatter_block";
  HOCKET_CHECKED(begin(kName, comm, Collective::kReduceScatterBlock, count, type, 0, out));
  HOCKET_CHECKED(set_operation(kName, type, op, out));
  const size_t block = count * out.combiner.element_bytes;
  size_t row = 0;
  HOCKET_CHECKED(set_row(kName, comm, count, block, row));
  return set_scattered(kName, comm, input, row, output, block, out);
}

hocket_status_t reduce_scatter_arguments(hocket_comm_t* comm, const void* input, void* output, const size_t* counts,
                                         hocket_type_t type, hocket_op_t op, Arguments& out) {
  constexpr const char* kName = "hocket_reduce_scatter";
  HOCKET_CHECKED(begin(kName, comm, Collective::kReduceScatter, 0, type, 0, out));
  HOCKET_CHECKED(set_operation(kName, type, op, out));
  const void* const whole = input == HOCKET_IN_PLACE ? output : input;
  HOCKET_CHECKED(set_blocks(kName, comm, {"counts", counts, nullptr}, whole, "input", out, out.input_blocks));
  out.count = counts[comm->communicator->rank()];
  size_t total = 0;
  for (uint32_t rank = 0; rank < comm->communicator->size(); ++rank) total += counts[rank];
  if (is_alone(comm)) out.collective = Collective::kReduceScatterBlock;
  const size_t element = out.combiner.element_bytes;
  return set_scattered(kName, comm, input, total * element, output, out.count * element, out);
}

hocket_status_t scan_arguments(hocket_comm_t* comm, const void* input, void* output, size_t count, hocket_type_t type,
                               hocket_op_t op, Arguments& out) {
  constexpr const char* kName = "hocket_scan";
  HOCKET_CHECKED(begin(kName, comm, Collective::kScan, count, type, 0, out));
  HOCKET_CHECKED(set_operation(kName, type, op, out));
  return set_equal(kName, comm, input, output, out.count * out.combiner.element_bytes, out);
}

hocket_status_t exscan_arguments(hocket_comm_t* comm, const void* input, void* output, size_t count, hocket_type_t type,
                                 hocket_op_t op, Arguments& out) {
  constexpr const char* kName = "hocket_exscan";
  HOCKET_CHECKED(begin(kName, comm, Collective::kExscan, count, type, 0, out));
  HOCKET_CHECKED(set_operation(kName, type, op, out));
  const size_t bytes = out.count * out.combiner.element_bytes;
  if (comm->communicator->rank() > 0 || input == HOCKET_IN_PLACE)
    return set_equal(kName, comm, input, output, bytes, out);
  // The first rank gets nothing, whatever it has passed to put it in.
  out.input = static_cast<const std::byte*>(input);
  return check_buffer(kName, "input", input, bytes);
}

}  // namespace

hocket_status_t hocket_reduce_scatter_block(hocket_comm_t* comm, const void* input, void* output, size_t count,
                                            hocket_type_t type, hocket_op_t op) {
  Arguments arguments;
  return run(comm, reduce_scatter_block_arguments(comm, input, output, count, type, op, arguments), arguments);
}

hocket_status_t hocket_reduce_scatter_block_start(hocket_comm_t* comm, const void* input, void* output, size_t count,
                                                  hocket_type_t type, hocket_op_t op, hocket_request_t** request) {
  Arguments arguments;
  return start(comm, reduce_scatter_block_arguments(comm, input, output, count, type, op, arguments), arguments,
               request);
}

hocket_status_t hocket_reduce_scatter_block_init(hocket_comm_t* comm, const void* input, void* output, size_t count,
                                                 hocket_type_t type, hocket_op_t op, hocket_request_t** request) {
  Arguments arguments;
  return keep(comm, reduce_scatter_block_arguments(comm, input, output, count, type, op, arguments), arguments,
              request);
}

hocket_status_t hocket_reduce_scatter(hocket_comm_t* comm, const void* input, void* output, const size_t* counts,
                                      hocket_type_t type, hocket_op_t op) {
  Arguments arguments;
  return run(comm, reduce_scatter_arguments(comm, input, output, counts, type, op, arguments), arguments);
}

hocket_status_t hocket_reduce_scatter_start(hocket_comm_t* comm, const void* input, void* output, const size_t* counts,
                                            hocket_type_t type, hocket_op_t op, hocket_request_t** request) {
  Arguments arguments;
  return start(comm, reduce_scatter_arguments(comm, input, output, counts, type, op, arguments), arguments, request);
}

hocket_status_t hocket_reduce_scatter_init(hocket_comm_t* comm, const void* input, void* output, const size_t* counts,
                                           hocket_type_t type, hocket_op_t op, hocket_request_t** request) {
  Arguments arguments;
  return keep(comm, reduce_scatter_arguments(comm, input, output, counts, type, op, arguments), arguments, request);
}

hocket_status_t hocket_scan(hocket_comm_t* comm, const void* input, void* output, size_t count, hocket_type_t type,
                            hocket_op_t op) {
  Arguments arguments;
  return run(comm, scan_arguments(comm, input, output, count, type, op, arguments), arguments);
}

hocket_status_t hocket_scan_start(hocket_comm_t* comm, const void* input, void* output, size_t count,
                                  hocket_type_t type, hocket_op_t op, hocket_request_t** request) {
  Arguments arguments;
  return start(comm, scan_arguments(comm, input, output, count, type, op, arguments), arguments, request);
}

hocket_status_t hocket_scan_init(hocket_comm_t* comm, const void* input, void* output, size_t count, hocket_type_t type,
                                 hocket_op_t op, hocket_request_t** request) {
  Arguments arguments;
  return keep(comm, scan_arguments(comm, input, output, count, type, op, arguments), arguments, request);
}

hocket_status_t hocket_exscan(hocket_comm_t* comm, const void* input, void* output, size_t count, hocket_type_t type,
                              hocket_op_t op) {
  Arguments arguments;
  return run(comm, exscan_arguments(comm, input, output, count, type, op, arguments), arguments);
}

hocket_status_t hocket_exscan_start(hocket_comm_t* comm, const void* input, void* output, size_t count,
                                    hocket_type_t type, hocket_op_t op, hocket_request_t** request) {
  Arguments arguments;
  return start(comm, exscan_arguments(comm, input, output, count, type, op, arguments), arguments, request);
}

hocket_status_t hocket_exscan_init(hocket_comm_t* comm, const void* input, void* output, size_t count,
                                   hocket_type_t type, hocket_op_t op, hocket_request_t** request) {
  Arguments arguments;
  return keep(comm, exscan_arguments(comm, input, output, count, type, op, arguments), arguments, request);
}
