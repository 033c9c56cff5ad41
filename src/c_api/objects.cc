// SPDX-License-Identifier: BSD-3-Clause
// Contexts, communicators, operations: made and destroyed.
#include <algorithm>
#include <cstring>
#include <string>

#include "c_api/foreign_wire.h"
#include "c_api/handles.h"
#include "c_api/internal/timing/measured.h"
#include "c_api/text_answer.h"
#include "schedule/collective_names.h"

using hocket::Code;
using hocket::Result;
using hocket::Status;
using hocket::c_api::answer;
using hocket::c_api::guarded;
using hocket::c_api::invalid;
using hocket::c_api::kOfParent;
using hocket::c_api::report;
using hocket::c_api::write_text;
using hocket::communicator::Bootstrap;
using hocket::communicator::Communicator;
using hocket::communicator::Context;
using hocket::communicator::ContextOptions;

namespace {

// Options as programs of the first release had them: new fields come behind, and their zeros mean what was before.
constexpr size_t kFirstOptions = offsetof(hocket_context_options_t, memory_limit) + sizeof(size_t);

// A program that is newer than the library may have fields that are unknown here: zeros ask for nothing.
bool read_options(const hocket_context_options_t& options, hocket_context_options_t& known) {
  constexpr size_t kMost = 4096;  // more is no size but a variable that was never set
  const bool ends_within_a_field = options.struct_size % alignof(hocket_context_options_t) != 0;
  if (options.struct_size < kFirstOptions || options.struct_size > kMost || ends_within_a_field) return false;
  const auto* bytes = reinterpret_cast<const unsigned char*>(&options);
  std::memcpy(&known, bytes, std::min(options.struct_size, sizeof known));
  return std::all_of(bytes + std::min(options.struct_size, sizeof known), bytes + options.struct_size,
                     [](unsigned char byte) { return byte == 0; });
}

}  // namespace

hocket_status_t hocket_context_create(const hocket_context_options_t* options, hocket_context_t** context) {
  if (context == nullptr) return invalid("hocket_context_create", "`context` is NULL; pass where to put the handle");
  *context = nullptr;
  ContextOptions wanted;
  const hocket_wire_t* wire = nullptr;
  if (options != nullptr) {
    hocket_context_options_t known{};
    if (!read_options(*options, known)) {
      return invalid("hocket_context_create",
                     "`options->struct_size` is not sizeof(hocket_context_options_t), or a field is set that this "
                     "version of hocket doesn't know");
    }
    wanted.progress = known.progress;
    wanted.progress_user = known.progress_user;
    wanted.memory_limit = known.memory_limit;
    wanted.node = known.node;
    wire = known.wire;
  }
  return guarded([&] {
    if (wire != nullptr) {
      Result<std::shared_ptr<hocket::engines::wire::Wire>> foreign = hocket::c_api::foreign_wire(*wire);
      if (!foreign.is_ok()) return report(foreign.status());
      wanted.wire = foreign.take();
    }
    Result<std::unique_ptr<Context>> made = Context::create(wanted);
    if (!made.is_ok()) return report(made.status());
    *context = new hocket_context{made.take()};
    return HOCKET_OK;
  });
}

hocket_status_t hocket_context_destroy(hocket_context_t* context) {
  if (context == nullptr) return HOCKET_OK;
  if (!context->context->is_owner()) {
    return invalid("hocket_context_destroy", kOfParent);
  }
  if (context->context->communicators() != 0) {
    return invalid("hocket_context_destroy", "the context still has communicators; destroy them first");
  }
  return guarded([&] {
    delete context;
    return HOCKET_OK;
  });
}

hocket_status_t hocket_alloc(hocket_context_t* context, size_t bytes, void** memory) {
  if (context == nullptr) return invalid("hocket_alloc", "`context` is NULL");
  if (memory == nullptr) return invalid("hocket_alloc", "`memory` is NULL; pass where to put the address");
  if (!context->context->is_owner()) return invalid("hocket_alloc", kOfParent);
  return guarded([&] {
    *memory = context->context->region().allocate(std::max<size_t>(bytes, 1));
    if (*memory != nullptr) return HOCKET_OK;
    return report(Status(Code::kNoMemory, "hocket_alloc: no room for " + std::to_string(bytes) + " bytes among the " +
                                              std::to_string(context->context->region().limit()) +
                                              " that this rank may share; raise HOCKET_MEMORY"));
  });
}

hocket_status_t hocket_free(hocket_context_t* context, void* memory) {
  if (context == nullptr) return invalid("hocket_free", "`context` is NULL");
  if (memory == nullptr) return HOCKET_OK;
  if (!context->context->is_owner()) return invalid("hocket_free", kOfParent);
  return guarded([&] {
    if (context->context->region().contains(memory, 1) && context->context->region().free(memory)) return HOCKET_OK;
    return invalid("hocket_free", "`memory` was not given by hocket_alloc of this context, or has been freed");
  });
}

hocket_status_t hocket_comm_create(hocket_context_t* context, const hocket_bootstrap_t* bootstrap,
                                   hocket_comm_t** comm) {
  if (comm == nullptr) return invalid("hocket_comm_create", "`comm` is NULL; pass where to put the handle");
  *comm = nullptr;
  if (context == nullptr) return invalid("hocket_comm_create", "`context` is NULL");
  if (bootstrap == nullptr) return invalid("hocket_comm_create", "`bootstrap` is NULL");
  if (bootstrap->size < 1 || bootstrap->rank < 0 || bootstrap->rank >= bootstrap->size) {
    return report(Status(Code::kInvalidArgument, "hocket_comm_create: rank " + std::to_string(bootstrap->rank) +
                                                     " of " + std::to_string(bootstrap->size) +
                                                     " ranks doesn't exist"));
  }
  if (bootstrap->allgather == nullptr && bootstrap->size > 1) {
    return invalid("hocket_comm_create", "`bootstrap->allgather` is NULL");
  }
  if (!context->context->is_owner()) {
    return invalid("hocket_comm_create", kOfParent);
  }
  return guarded([&] {
    Bootstrap wanted;
    wanted.rank = static_cast<uint32_t>(bootstrap->rank);
    wanted.size = static_cast<uint32_t>(bootstrap->size);
    wanted.allgather = bootstrap->allgather;
    wanted.user = bootstrap->user;
    Result<std::unique_ptr<Communicator>> made = Communicator::create(*context->context, wanted);
    if (!made.is_ok()) return report(made.status());
    *comm = new hocket_comm{made.take()};
    return HOCKET_OK;
  });
}

hocket_status_t hocket_comm_destroy(hocket_comm_t* comm) {
  if (comm == nullptr) return HOCKET_OK;
  if (!comm->communicator->context().is_owner()) {
    return invalid("hocket_comm_destroy", kOfParent);
  }
  return guarded([&] {
    const Status status = comm->communicator->close();
    if (!status.is_ok()) return report(status);
    delete comm;
    return HOCKET_OK;
  });
}

hocket_status_t hocket_comm_abort(hocket_comm_t* comm, const char* reason) {
  if (comm == nullptr) return invalid("hocket_comm_abort", "`comm` is NULL");
  if (!comm->communicator->context().is_owner()) return invalid("hocket_comm_abort", kOfParent);
  return guarded([&] {
    comm->communicator->abort(reason != nullptr ? reason : "no reason given");
    return HOCKET_OK;
  });
}

hocket_status_t hocket_comm_rank(const hocket_comm_t* comm, int* rank) {
  if (comm == nullptr || rank == nullptr) return invalid("hocket_comm_rank", "an argument is NULL");
  *rank = static_cast<int>(comm->communicator->rank());
  return HOCKET_OK;
}

hocket_status_t hocket_comm_size(const hocket_comm_t* comm, int* size) {
  if (comm == nullptr || size == nullptr) return invalid("hocket_comm_size", "an argument is NULL");
  *size = static_cast<int>(comm->communicator->size());
  return HOCKET_OK;
}

hocket_status_t hocket_op_create(hocket_op_function_t function, void* user, int commutative, hocket_op_t* op) {
  if (function == nullptr) return invalid("hocket_op_create", "`function` is NULL");
  if (op == nullptr) return invalid("hocket_op_create", "`op` is NULL; pass where to put the handle");
  return guarded([&] {
    *op = new hocket_op{function, user, commutative != 0};
    return HOCKET_OK;
  });
}

hocket_status_t hocket_op_destroy(hocket_op_t op) {
  if (op == nullptr) return HOCKET_OK;
  if (reinterpret_cast<uintptr_t>(op) <= reinterpret_cast<uintptr_t>(HOCKET_SUM_SATURATING)) {
    return invalid("hocket_op_destroy", "a predefined operation can't be destroyed");
  }
  delete op;
  return HOCKET_OK;
}

namespace {

hocket_status_t unknown_collective(const char* function, const char* collective) {
  return report(
      Status(Code::kInvalidArgument, std::string(function) + ": " + hocket::schedule::not_a_collective(collective)));
}

}  // namespace

hocket_status_t hocket_explain(hocket_comm_t* comm, const char* collective, size_t bytes, char* text, size_t capacity) {
  if (comm == nullptr || collective == nullptr || text == nullptr || capacity == 0) {
    return invalid("hocket_explain", "an argument is NULL or 0");
  }
  const auto known = hocket::schedule::find_collective(collective);
  if (!known) return unknown_collective("hocket_explain", collective);
  if (!comm->communicator->context().is_owner()) return invalid("hocket_explain", kOfParent);
  return guarded([&] {
    const std::string answer =
        comm->communicator->explain(hocket::c_api::shape_of(*known, bytes, comm->communicator->size()));
    return write_text("hocket_explain", answer, text, capacity);
  });
}

hocket_status_t hocket_force(hocket_comm_t* comm, const char* collective, const char* algorithm) {
  if (comm == nullptr || collective == nullptr) return invalid("hocket_force", "an argument is NULL");
  const auto known = hocket::schedule::find_any_collective(collective);
  if (!known) {
    return report(Status(Code::kInvalidArgument,
                         std::string("hocket_force: ") + hocket::schedule::not_any_collective(collective)));
  }
  if (!comm->communicator->context().is_owner()) return invalid("hocket_force", kOfParent);
  return guarded([&] { return answer(comm->communicator->force(*known, algorithm == nullptr ? "" : algorithm)); });
}
