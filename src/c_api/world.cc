// SPDX-License-Identifier: BSD-3-Clause
// The communicator of the ranks that `hocket run` started.
#include <span>
#include <string>

#include "base/environment.h"
#include "c_api/handles.h"
#include "platform/bootstrap/launch_client.h"
#include "platform/bootstrap/launch_place.h"
#include "platform/whereabouts/own_record.h"

using hocket::Result;
using hocket::Status;
using hocket::c_api::guarded;
using hocket::c_api::invalid;
using hocket::c_api::kOfParent;
using hocket::c_api::report;
using hocket::communicator::Bootstrap;
using hocket::communicator::Communicator;
using hocket::platform::LaunchClient;
using hocket::platform::LaunchPlace;

namespace {

// One rank's way to the others while the communicator is made.
struct Meeting {
  std::unique_ptr<LaunchClient> client;  // none where there is one rank only
  Status failure;                        // says more than what becomes of it in the set-up
};

int allgather(const void* send, void* receive, size_t bytes, void* user) {
  auto& meeting = *static_cast<Meeting*>(user);
  meeting.failure =
      meeting.client->allgather({static_cast<const std::byte*>(send), bytes}, static_cast<std::byte*>(receive));
  return meeting.failure.is_ok() ? 0 : 1;
}

Result<LaunchPlace> own_place() {
  Result<std::string> text = hocket::environment::get_text("HOCKET_RUN");
  if (!text.is_ok()) return text.take_status();
  if (text.value().empty()) return LaunchPlace{};
  return hocket::platform::parse_launch_place(text.value());
}

hocket_status_t report_from_here(const Status& status) {
  return report(Status(status.code(), std::string("hocket_comm_world: ") + status.message()));
}

}  // namespace

hocket_status_t hocket_comm_world(hocket_context_t* context, hocket_comm_t** comm) {
  constexpr const char* kName = "hocket_comm_world";
  if (comm == nullptr) return invalid(kName, "`comm` is NULL; pass where to put the handle");
  *comm = nullptr;
  if (context == nullptr) return invalid(kName, "`context` is NULL");
  if (!context->context->is_owner()) return invalid(kName, kOfParent);
  return guarded([&] {
    Result<LaunchPlace> place = own_place();
    if (!place.is_ok()) return report_from_here(place.status());
    Meeting meeting;
    if (place.value().size > 1) {
      Result<std::unique_ptr<LaunchClient>> joined =
          LaunchClient::join(place.value(), context->context->setup_timeout_ms());
      if (!joined.is_ok()) return report_from_here(joined.status());
      meeting.client = joined.take();
    }
    hocket::platform::begin_record(
        {static_cast<int>(place.value().rank), static_cast<int>(place.value().size), "hocket"});
    Bootstrap bootstrap;
    bootstrap.rank = place.value().rank;
    bootstrap.size = place.value().size;
    bootstrap.allgather = allgather;
    bootstrap.user = &meeting;
    Result<std::unique_ptr<Communicator>> made = Communicator::create(*context->context, bootstrap);
    if (!meeting.failure.is_ok()) return report_from_here(meeting.failure);
    if (!made.is_ok()) return report_from_here(made.status());
    *comm = new hocket_comm{made.take()};
    return HOCKET_OK;
  });
}
