// SPDX-License-Identifier: BSD-3-Clause
#include "c_api/arguments.h"

namespace hocket::c_api {

static_assert(static_cast<int>(reduction::Type::kDoubleDouble) == HOCKET_2DOUBLE);
static_assert(static_cast<int>(reduction::Type::kByte) == HOCKET_BYTE);
// An element must fit into every staging buffer, because it is combined as a whole.
static_assert(HOCKET_MAX_COMBINED_BYTES <= engines::shared_memory::kMailStagingBytes &&
              HOCKET_MAX_COMBINED_BYTES <= engines::shared_memory::kSlotStagingBytes);

__attribute__((cold, noinline)) hocket_status_t wrong(const char* function, const std::string& what) {
  return report(Status(Code::kInvalidArgument, std::string(function) + ": " + what));
}

__attribute__((cold, noinline)) hocket_status_t explain(const char* function, const hocket_comm_t* comm, size_t count,
                                                        hocket_type_t type, int root) {
  if (comm == nullptr) return wrong(function, "`comm` is NULL");
  if (root < 0 || static_cast<uint32_t>(root) >= comm->communicator->size()) {
    return wrong(function, "root " + std::to_string(root) + " is not a rank of this communicator; it has ranks 0 to " +
                               std::to_string(comm->communicator->size() - 1));
  }
  if (size_of(type) == 0) return wrong(function, "type " + std::to_string(type) + " is not one of hocket's");
  return wrong(function, "count " + std::to_string(static_cast<long long>(count)) + " is negative or too large");
}

namespace {

bool is_predefined(hocket_op_t op) {
  return reinterpret_cast<uintptr_t>(op) <= reinterpret_cast<uintptr_t>(HOCKET_SUM_SATURATING);
}

}  // namespace

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
  if ((type & kOpaque) == 0) set_kernel(op, type, out);
  if (out.combiner.kernel == nullptr) {
    const auto operation = static_cast<reduction::Operation>(reinterpret_cast<uintptr_t>(op));
    return wrong(function,
                 "operation `" + std::string(reduction::name(operation)) + "` is not defined for type " +
                     ((type & kOpaque) != 0 ? std::string("OPAQUE")
                                            : std::string(reduction::name(static_cast<reduction::Type>(type)))));
  }
  return HOCKET_OK;
}

}  // namespace hocket::c_api
