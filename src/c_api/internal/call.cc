// SPDX-License-Identifier: BSD-3-Clause
#include "c_api/internal/call.h"

#include "c_api/handles.h"
#include "communicator/calls/call_words.h"
#include "protocol/page.h"
#include "reduction/reduction.h"

namespace hocket::c_api {
namespace {

__attribute__((cold, noinline)) hocket_status_t refuse_child(const hocket_comm_t* comm, const Arguments& arguments) {
  const communicator::Vocabulary vocabulary = comm->communicator->context().vocabulary();
  const std::string prefix = vocabulary == communicator::Vocabulary::kHocket ? "hocket_" : "";
  return report(Status(Code::kInvalidArgument,
                       prefix + communicator::name_of(arguments.collective, vocabulary) + ": " + kOfParent));
}

__attribute__((cold, noinline)) hocket_status_t refuse_overlap() {
  return report(
      Status(Code::kInvalidArgument, "the buffers sent from and received into overlap; MPI_IN_PLACE is for that"));
}

bool is_owner(const hocket_comm_t* comm) { return comm->communicator->context().is_owner(); }

}  // namespace

void set_kernel(hocket_op_t op, hocket_type_t type, Arguments& out) {
  const auto operation = static_cast<reduction::Operation>(reinterpret_cast<uintptr_t>(op));
  out.combiner.kernel = reduction::find_combine(operation, static_cast<reduction::Type>(type));
  out.combiner.operation = operation;
  out.combiner.type = type;
  out.combiner.element_bytes = reduction::size_of(static_cast<reduction::Type>(type));
  out.operation_name = reinterpret_cast<uintptr_t>(op);
}

hocket_status_t check_apart(const Arguments& arguments, size_t input_bytes, size_t output_bytes) {
  return overlap(arguments, input_bytes, output_bytes) ? refuse_overlap() : HOCKET_OK;
}

hocket_status_t run(hocket_comm_t* comm, const Arguments& arguments) {
  if (!is_owner(comm)) [[unlikely]]
    return refuse_child(comm, arguments);
  return guarded(*comm->communicator, [&] { return answer(comm->communicator->run(arguments)); });
}

hocket_status_t start(hocket_comm_t* comm, const Arguments& arguments, hocket_request_t** request) {
  *request = nullptr;
  if (!is_owner(comm)) return refuse_child(comm, arguments);
  return guarded(*comm->communicator, [&] {
    Result<communicator::Request*> started = comm->communicator->start(arguments);
    if (!started.is_ok()) return report(started.status());
    *request = to_handle(started.value());
    return HOCKET_OK;
  });
}

hocket_status_t plan(hocket_comm_t* comm, const Arguments& arguments, uint32_t track, hocket_request_t** request) {
  *request = nullptr;
  if (!is_owner(comm)) return refuse_child(comm, arguments);
  return guarded([&] {
    Result<communicator::Request*> planned = comm->communicator->plan(arguments, track);
    if (!planned.is_ok()) return report(planned.status());
    *request = to_handle(planned.value());
    return HOCKET_OK;
  });
}

hocket_status_t start_planned(hocket_request_t* request) {
  communicator::Request* const planned = from_handle(request);
  communicator::Communicator& communicator = *planned->communicator;
  return guarded(communicator, [&] { return answer(communicator.start(planned)); });
}

void drop_planned(hocket_request_t* request) { communicator::Communicator::drop(from_handle(request)); }

uint32_t own_tracks() { return communicator::Tracks::kMost - 1; }

ByMpi left_to_mpi(const hocket_comm_t* comm, bool only_forced) { return comm->communicator->by_mpi(only_forced); }

bool overlaps_work(const hocket_comm_t* comm) { return !comm->communicator->is_oversubscribed(); }

bool may_run_by_engines(const hocket_comm_t* comm) { return comm->communicator->may_run_by_engines(); }

bool may_go_by_engines(const hocket_comm_t* comm, const Arguments& arguments) {
  return comm->communicator->may_go_by_engines(arguments);
}

bool may_run_in_memory(const hocket_comm_t* comm) { return comm->communicator->may_run_in_memory(); }

size_t most_bytes_by_engines() { return sizeof(nic_operand); }

}  // namespace hocket::c_api
