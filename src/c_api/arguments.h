// SPDX-License-Identifier: BSD-3-Clause
// From what the caller of a collective has passed to the communicator's arguments, every one of them checked.
//
// The checks answer with a code, which travels in a register; what is wrong is told out of the way.
//
// Thread safety: pure functions, but for the error text, which is the thread's.
#pragma once

#include <memory>
#include <string>

#include "c_api/handles.h"
#include "c_api/internal/call.h"
#include "platform/whereabouts/own_record.h"
#include "reduction/reduction.h"

// Leaves the function with the code unless it is HOCKET_OK.
#define HOCKET_CHECKED(expression)                                                             \
  do {                                                                                         \
    if (const hocket_status_t checked_ = (expression); checked_ != HOCKET_OK) return checked_; \
  } while (false)

namespace hocket::c_api {

using schedule::Collective;

constexpr hocket_type_t kOpaque = 0x80000000u;
constexpr const char* kRootOnly = "HOCKET_IN_PLACE is for the root only";

// 0: not a type.
inline size_t size_of(hocket_type_t type) {
  if (type == HOCKET_BYTE) return 1;
  if ((type & kOpaque) != 0) return type & ~kOpaque;
  return type < static_cast<hocket_type_t>(reduction::Type::kCount)
             ? reduction::size_of(static_cast<reduction::Type>(type))
             : 0;
}

hocket_status_t wrong(const char* function, const std::string& what);
hocket_status_t explain(const char* function, const hocket_comm_t* comm, size_t count, hocket_type_t type, int root);

inline hocket_status_t begin(const char* function, hocket_comm_t* comm, Collective collective, size_t count,
                             hocket_type_t type, int root, Arguments& out) {
  const size_t element = size_of(type);
  long long bytes = 0;
  const bool fits = element != 0 && !__builtin_mul_overflow(count, element, &bytes);
  if (!fits || comm == nullptr || static_cast<uint32_t>(root) >= comm->communicator->size()) [[unlikely]] {
    return explain(function, comm, count, type, root);
  }
  out.collective = collective;
  out.count = count;
  out.root = static_cast<uint32_t>(root);
  out.combiner.element_bytes = element;
  out.combiner.type = type;
  return HOCKET_OK;
}

// Elements become bytes: nothing is combined, so that a message may be cut anywhere.
inline void count_in_bytes(Arguments& out) {
  out.count *= out.combiner.element_bytes;
  out.combiner.element_bytes = 1;
}

hocket_status_t set_operation(const char* function, hocket_type_t type, hocket_op_t op, Arguments& out);

inline hocket_status_t check_buffer(const char* function, const char* name, const void* buffer, size_t bytes) {
  if (buffer == nullptr && bytes != 0) [[unlikely]]
    return wrong(function, std::string("`") + name + "` is NULL");
  return HOCKET_OK;
}

// The bytes of a block for every rank, each of `count` elements in `block` bytes.
inline hocket_status_t set_row(const char* function, const hocket_comm_t* comm, size_t count, size_t block,
                               size_t& row) {
  if (__builtin_mul_overflow(block, comm->communicator->size(), &row) || row > SIZE_MAX / 2) [[unlikely]]
    return wrong(function, "count " + std::to_string(count) + " is too large for a block of every rank");
  return HOCKET_OK;
}

// The two buffers of a call that is not in place.
inline hocket_status_t set_apart(const char* function, const void* input, size_t input_bytes, void* output,
                                 size_t output_bytes, Arguments& out,
                                 const char* remedy = "pass HOCKET_IN_PLACE to use one buffer") {
  HOCKET_CHECKED(check_buffer(function, "input", input, input_bytes));
  HOCKET_CHECKED(check_buffer(function, "output", output, output_bytes));
  out.input = static_cast<const std::byte*>(input);
  out.output = static_cast<std::byte*>(output);
  if (overlap(out, input_bytes, output_bytes)) [[unlikely]]
    return wrong(function, std::string("`input` and `output` overlap; ") + remedy);
  return HOCKET_OK;
}

// In place, the input is in the output, of `bytes`.
inline hocket_status_t set_in_output(const char* function, const hocket_comm_t* comm, void* output, size_t bytes,
                                     Arguments& out) {
  HOCKET_CHECKED(check_buffer(function, "output", output, bytes));
  out.output = static_cast<std::byte*>(output);
  communicator::set_in_place(out, comm->communicator->rank());
  return HOCKET_OK;
}

// Both buffers are `bytes` long.
inline hocket_status_t set_equal(const char* function, const hocket_comm_t* comm, const void* input, void* output,
                                 size_t bytes, Arguments& out) {
  if (input == HOCKET_IN_PLACE) return set_in_output(function, comm, output, bytes, out);
  return set_apart(function, input, bytes, output, bytes, out);
}

// --- and on to the communicator -------------------------------------------------------------------------------

inline hocket_status_t run(hocket_comm_t* comm, hocket_status_t checked, const Arguments& arguments) {
  if (checked != HOCKET_OK) [[unlikely]]
    return checked;
  platform::ThreadLine* const line = platform::own_line();
  const platform::InFunction in(line == nullptr ? nullptr : &line->collective,
                                static_cast<uint32_t>(arguments.collective));
  return run(comm, arguments);
}

inline hocket_status_t start(hocket_comm_t* comm, hocket_status_t checked, const Arguments& arguments,
                             hocket_request_t** request) {
  if (checked != HOCKET_OK) return checked;
  if (request == nullptr) {
    return report(Status(Code::kInvalidArgument, "`request` is NULL; pass where to put the handle"));
  }
  return start(comm, arguments, request);
}

// A request that its owner keeps, and starts by hocket_start(). `needs`: to be there as long as it is.
hocket_status_t keep(hocket_comm_t* comm, hocket_status_t checked, const Arguments& arguments,
                     hocket_request_t** request, std::shared_ptr<const void> needs = nullptr);

}  // namespace hocket::c_api
