// SPDX-License-Identifier: BSD-3-Clause
// Communicators made of others.
#include <string>

#include "c_api/handles.h"
#include "communicator/setup/split.h"

using hocket::Result;
using hocket::Status;
using hocket::c_api::guarded;
using hocket::c_api::invalid;
using hocket::c_api::kOfParent;
using hocket::c_api::report;
using hocket::communicator::Communicator;

namespace {

hocket_status_t split(const char* function, hocket_comm_t* comm, int color, int key, hocket_comm_t** new_comm) {
  if (new_comm == nullptr) return invalid(function, "`new_comm` is NULL; pass where to put the handle");
  *new_comm = nullptr;
  if (comm == nullptr) return invalid(function, "`comm` is NULL");
  if (!comm->communicator->context().is_owner()) return invalid(function, kOfParent);
  return guarded(*comm->communicator, [&] {
    Result<std::unique_ptr<Communicator>> made = hocket::communicator::split(*comm->communicator, color, key);
    if (!made.is_ok()) {
      return report(Status(made.status().code(), std::string(function) + ": " + made.status().message()));
    }
    if (made.value() != nullptr) *new_comm = new hocket_comm{made.take()};
    return HOCKET_OK;
  });
}

}  // namespace

hocket_status_t hocket_comm_split(hocket_comm_t* comm, int color, int key, hocket_comm_t** new_comm) {
  return split("hocket_comm_split", comm, color, key, new_comm);
}

hocket_status_t hocket_comm_dup(hocket_comm_t* comm, hocket_comm_t** new_comm) {
  return split("hocket_comm_dup", comm, 0, 0, new_comm);
}
