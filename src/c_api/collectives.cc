// SPDX-License-Identifier: BSD-3-Clause
// The collectives: arguments are checked, translated and handed to the communicator.
#include <climits>
#include <string>

#include "c_api/handles.h"
#include "reduction/reduction.h"

using hocket::Code;
using hocket::Result;
using hocket::Status;
using hocket::c_api::answer;
using hocket::c_api::from_handle;
using hocket::c_api::guarded;
using hocket::c_api::invalid;
using hocket::c_api::kOfParent;
using hocket::c_api::report;
using hocket::c_api::to_handle;
using hocket::communicator::Arguments;
using hocket::communicator::Request;
using hocket::schedule::Collective;

namespace reduction = hocket::reduction;

static_assert(static_cast<int>(reduction::Type::kDoubleDouble) == HOCKET_2DOUBLE);
static_assert(static_cast<int>(reduction::Type::kByte) == HOCKET_BYTE);
// An element must fit into every staging buffer, because it is combined as a whole.
static_assert(HOCKET_MAX_COMBINED_BYTES <= hocket::engines::shared_memory::kMailStagingBytes &&
              HOCKET_MAX_COMBINED_BYTES <= hocket::engines::shared_memory::kSlotStagingBytes);

// Leaves the function with the code unless it is HOCKET_OK.
#define HOCKET_CHECKED(expression)                                                             \
  do {                                                                                         \
    if (const hocket_status_t checked_ = (expression); checked_ != HOCKET_OK) return checked_; \
  } while (false)

namespace {

constexpr hocket_type_t kOpaque = 0x80000000u;

size_t size_of(hocket_type_t type) {
  if (type == HOCKET_BYTE) return 1;
  if ((type & kOpaque) != 0) return type & ~kOpaque;
  return type < static_cast<hocket_type_t>(reduction::Type::kCount)
             ? reduction::size_of(static_cast<reduction::Type>(type))
             : 0;
}

bool is_predefined(hocket_op_t op) {
  return reinterpret_cast<uintptr_t>(op) <= reinterpret_cast<uintptr_t>(HOCKET_SUM_SATURATING);
}

// Checks answer with a code, which travels in a register; what is wrong is told on the spot, out of the way.
__attribute__((cold, noinline)) hocket_status_t wrong(const char* function, const std::string& what) {
  return report(Status(Code::kInvalidArgument, std::string(function) + ": " + what));
}

hocket_status_t check_buffer(const char* function, const char* name, const void* buffer, size_t bytes) {
  if (buffer == nullptr && bytes != 0) [[unlikely]]
    return wrong(function, std::string("`") + name + "` is NULL");
  return HOCKET_OK;
}

__attribute__((cold, noinline)) hocket_status_t explain(const char* function, const hocket_comm_t* comm, size_t count,
                                                        hocket_type_t type, int root) {
  if (comm == nullptr) return wrong(function, "`comm` is NULL");
  if (!comm->communicator->context().is_owner()) return wrong(function, kOfParent);
  if (root < 0 || static_cast<uint32_t>(root) >= comm->communicator->size()) {
    return wrong(function, "root " + std::to_string(root) + " is not a rank of this communicator; it has ranks 0 to " +
                               std::to_string(comm->communicator->size() - 1));
  }
  if (size_of(type) == 0) return wrong(function, "type " + std::to_string(type) + " is not one of hocket's");
  return wrong(function, "count " + std::to_string(static_cast<long long>(count)) + " is negative or too large");
}

inline hocket_status_t begin(const char* function, hocket_comm_t* comm, Collective collective, size_t count,
                             hocket_type_t type, int root, Arguments& out) {
  const size_t element = size_of(type);
  long long bytes = 0;
  const bool fits = element != 0 && !__builtin_mul_overflow(count, element, &bytes);
  if (!fits || comm == nullptr || !comm->communicator->context().is_owner() ||
      static_cast<uint32_t>(root) >= comm->communicator->size()) [[unlikely]] {
    return explain(function, comm, count, type, root);
  }
  out.collective = collective;
  out.count = count;
  out.root = static_cast<uint32_t>(root);
  out.combiner.element_bytes = element;
  out.combiner.type = type;
  return HOCKET_OK;
}

hocket_status_t set_operation(const char* function, hocket_type_t type, hocket_op_t op, Arguments& out) {
  if (op == nullptr) return wrong(function, "`op` is NULL");
  if (out.combiner.element_bytes > HOCKET_MAX_COMBINED_BYTES) {
    return report(Status(Code::kNotSupported,
                         std::string(function) + ": elements of " + std::to_string(out.combiner.element_bytes) +
                             " bytes can't be combined, at most " + std::to_string(HOCKET_MAX_COMBINED_BYTES)));
  }
  if (!is_predefined(op)) {
    out.combiner.function = op->function;
    out.combiner.user = op->user;
    out.combiner.commutative = op->commutative;
    return HOCKET_OK;
  }
  const auto operation = static_cast<reduction::Operation>(reinterpret_cast<uintptr_t>(op));
  if ((type & kOpaque) == 0) {
    out.combiner.kernel = reduction::find_combine(operation, static_cast<reduction::Type>(type));
  }
  if (out.combiner.kernel == nullptr) {
    return wrong(function,
                 "operation `" + std::string(reduction::name(operation)) + "` is not defined for type " +
                     ((type & kOpaque) != 0 ? std::string("OPAQUE")
                                            : std::string(reduction::name(static_cast<reduction::Type>(type)))));
  }
  out.operation_name = reinterpret_cast<uintptr_t>(op);
  return HOCKET_OK;
}

// `output` may be absent where this rank gets no result.
hocket_status_t set_buffers(const char* function, const void* input, void* output, bool has_output, Arguments& out) {
  const size_t bytes = out.count * out.combiner.element_bytes;
  if (input == HOCKET_IN_PLACE) {
    if (!has_output) return wrong(function, "HOCKET_IN_PLACE is for the root only");
    input = output;
  }
  HOCKET_CHECKED(check_buffer(function, "input", input, bytes));
  out.input = static_cast<const std::byte*>(input);
  if (!has_output) return HOCKET_OK;
  HOCKET_CHECKED(check_buffer(function, "output", output, bytes));
  out.output = static_cast<std::byte*>(output);
  if (out.input != out.output && out.input < out.output + bytes && out.output < out.input + bytes) {
    return wrong(function, "`input` and `output` overlap; pass HOCKET_IN_PLACE to use one buffer");
  }
  return HOCKET_OK;
}

hocket_status_t barrier_arguments(hocket_comm_t* comm, Arguments& out) {
  return begin("hocket_barrier", comm, Collective::kBarrier, 0, HOCKET_BYTE, 0, out);
}

hocket_status_t broadcast_arguments(hocket_comm_t* comm, void* buffer, size_t count, hocket_type_t type, int root,
                                    Arguments& out) {
  constexpr const char* kName = "hocket_broadcast";
  HOCKET_CHECKED(begin(kName, comm, Collective::kBroadcast, count, type, root, out));
  // Only the bytes matter, so that any element can be cut into segments.
  out.count *= out.combiner.element_bytes;
  out.combiner.element_bytes = 1;
  HOCKET_CHECKED(check_buffer(kName, "buffer", buffer, out.count));
  out.output = static_cast<std::byte*>(buffer);
  return HOCKET_OK;
}

hocket_status_t reduce_arguments(hocket_comm_t* comm, const void* input, void* output, size_t count, hocket_type_t type,
                                 hocket_op_t op, int root, Arguments& out) {
  constexpr const char* kName = "hocket_reduce";
  HOCKET_CHECKED(begin(kName, comm, Collective::kReduce, count, type, root, out));
  HOCKET_CHECKED(set_operation(kName, type, op, out));
  return set_buffers(kName, input, output, comm->communicator->rank() == out.root, out);
}

hocket_status_t allreduce_arguments(hocket_comm_t* comm, const void* input, void* output, size_t count,
                                    hocket_type_t type, hocket_op_t op, Arguments& out) {
  constexpr const char* kName = "hocket_allreduce";
  HOCKET_CHECKED(begin(kName, comm, Collective::kAllreduce, count, type, 0, out));
  HOCKET_CHECKED(set_operation(kName, type, op, out));
  return set_buffers(kName, input, output, true, out);
}

hocket_status_t run(hocket_comm_t* comm, hocket_status_t checked, const Arguments& arguments) {
  if (checked != HOCKET_OK) [[unlikely]]
    return checked;
  return guarded([&] { return answer(comm->communicator->run(arguments)); },
                 [&] { comm->communicator->break_after_exception(); });
}

hocket_status_t start(hocket_comm_t* comm, hocket_status_t checked, const Arguments& arguments,
                      hocket_request_t** request) {
  if (checked != HOCKET_OK) return checked;
  if (request == nullptr) {
    return report(Status(Code::kInvalidArgument, "`request` is NULL; pass where to put the handle"));
  }
  *request = nullptr;
  return guarded(
      [&] {
        Result<Request*> started = comm->communicator->start(arguments);
        if (!started.is_ok()) return report(started.status());
        *request = to_handle(started.value());
        return HOCKET_OK;
      },
      [&] { comm->communicator->break_after_exception(); });
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

hocket_status_t hocket_broadcast_start(hocket_comm_t* comm, void* buffer, size_t count, hocket_type_t type, int root,
                                       hocket_request_t** request) {
  Arguments arguments;
  return start(comm, broadcast_arguments(comm, buffer, count, type, root, arguments), arguments, request);
}

hocket_status_t hocket_reduce_start(hocket_comm_t* comm, const void* input, void* output, size_t count,
                                    hocket_type_t type, hocket_op_t op, int root, hocket_request_t** request) {
  Arguments arguments;
  return start(comm, reduce_arguments(comm, input, output, count, type, op, root, arguments), arguments, request);
}

hocket_status_t hocket_allreduce_start(hocket_comm_t* comm, const void* input, void* output, size_t count,
                                       hocket_type_t type, hocket_op_t op, hocket_request_t** request) {
  Arguments arguments;
  return start(comm, allreduce_arguments(comm, input, output, count, type, op, arguments), arguments, request);
}

hocket_status_t hocket_test(hocket_request_t** request) {
  if (request == nullptr || *request == nullptr) return HOCKET_OK;
  Request* started = from_handle(*request);
  if (!started->communicator->context().is_owner()) return invalid("hocket_test", kOfParent);
  return guarded(
      [&] {
        Status status;
        if (!started->communicator->test(started, status)) return HOCKET_IN_PROGRESS;
        *request = nullptr;
        return answer(status);
      },
      [&] { started->communicator->break_after_exception(); });
}

hocket_status_t hocket_wait(hocket_request_t** request) {
  if (request == nullptr || *request == nullptr) return HOCKET_OK;
  Request* started = from_handle(*request);
  if (!started->communicator->context().is_owner()) return invalid("hocket_wait", kOfParent);
  return guarded(
      [&] {
        const Status status = started->communicator->wait(started);
        *request = nullptr;
        return answer(status);
      },
      [&] { started->communicator->break_after_exception(); });
}
