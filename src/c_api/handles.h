// SPDX-License-Identifier: BSD-3-Clause
// What stands behind the handles of the public header, and how failures leave the library.
//
// Thread safety: any thread, and each has its own text of the last error; objects as hocket.h says.
#pragma once

#include <hocket/hocket.h>

#include <cstdint>
#include <memory>
#include <new>
#include <utility>

#include "base/status.h"
#include "communicator/communicator.h"
#include "communicator/context.h"

struct hocket_context {
  std::unique_ptr<hocket::communicator::Context> context;
};

struct hocket_comm {
  std::unique_ptr<hocket::communicator::Communicator> communicator;
  // Requests that are kept ask whether it is over. From the first of them on.
  std::shared_ptr<const void> lifetime = nullptr;
};

namespace hocket::c_api {

// A neighbourhood's number in its communicator, which may be gone first; as long as the neighbourhood or a request that
// is kept needs it.
class Enrolment {
 public:
  Enrolment(std::shared_ptr<communicator::Neighbourhoods> kept_in, communicator::Neighbourhoods::Shared neighbours)
      : kept_in_(std::move(kept_in)), number_(kept_in_->add(std::move(neighbours))) {}
  ~Enrolment() { kept_in_->remove(number_); }
  Enrolment(const Enrolment&) = delete;
  Enrolment& operator=(const Enrolment&) = delete;
  uint32_t number() const { return number_; }

 private:
  std::shared_ptr<communicator::Neighbourhoods> kept_in_;
  uint32_t number_;
};

}  // namespace hocket::c_api

struct hocket_neighbourhood {
  hocket_comm_t* comm = nullptr;
  uint32_t rank = 0;
  std::shared_ptr<const hocket::schedule::Neighbours> neighbours;
  std::shared_ptr<const hocket::c_api::Enrolment> enrolment;
};

namespace hocket::c_api {

// A handle for a neighbourhood in this communicator, made in the same order on all ranks.
inline hocket_neighbourhood* enrol(hocket_comm& comm, communicator::Neighbourhoods::Shared neighbours) {
  auto enrolment = std::make_shared<const Enrolment>(comm.communicator->neighbourhoods(), neighbours);
  return new hocket_neighbourhood{&comm, comm.communicator->rank(), std::move(neighbours), std::move(enrolment)};
}

}  // namespace hocket::c_api

struct hocket_op {
  hocket_op_function_t function = nullptr;
  void* user = nullptr;
  bool commutative = true;
};

namespace hocket::c_api {

// Remembers the text for hocket_error_text() and gives the code.
hocket_status_t report(const Status& status) noexcept;
hocket_status_t report_no_memory() noexcept;

inline hocket_status_t answer(const Status& status) { return status.is_ok() ? HOCKET_OK : report(status); }

// A request's handle is the request itself.
inline hocket_request_t* to_handle(communicator::Request* request) {
  return reinterpret_cast<hocket_request_t*>(request);
}
inline communicator::Request* from_handle(hocket_request_t* request) {
  return reinterpret_cast<communicator::Request*>(request);
}

// A forked child has its parent's handles, but not its parent's memory and connections.
inline constexpr const char* kOfParent = "the object belongs to the parent of this forked process";

hocket_status_t invalid(const char* function, const char* what) noexcept;

// No exception crosses into the host program. `on_exception(what it says)` runs before the failure is reported.
template <typename Body, typename OnException>
hocket_status_t guarded(const Body& body, const OnException& on_exception) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    on_exception("it ran out of memory");
    return report_no_memory();
  } catch (const std::exception& error) {
    on_exception(error.what());
    return report(Status(Code::kSystem, error.what()));
  }
}
template <typename Body>
hocket_status_t guarded(const Body& body) {
  return guarded(body, [](const char*) {});
}
// Of a call in which peers may be already: for them the communicator breaks.
template <typename Body>
hocket_status_t guarded(communicator::Communicator& communicator, const Body& body) {
  return guarded(body, [&](const char* what) { communicator.break_after_exception(what); });
}

}  // namespace hocket::c_api
