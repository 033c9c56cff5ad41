// SPDX-License-Identifier: BSD-3-Clause
#include <string>

#include "base/thread_owned.h"
#include "c_api/handles.h"

namespace hocket::c_api {
namespace {

struct LastError {
  std::string text;
};
using ThreadError = ThreadOwned<LastError>;

static_assert(static_cast<int>(Code::kOk) == HOCKET_OK);
static_assert(static_cast<int>(Code::kInProgress) == HOCKET_IN_PROGRESS);
static_assert(static_cast<int>(Code::kInvalidArgument) == HOCKET_ERR_INVALID_ARGUMENT);
static_assert(static_cast<int>(Code::kNotSupported) == HOCKET_ERR_NOT_SUPPORTED);
static_assert(static_cast<int>(Code::kNoMemory) == HOCKET_ERR_NO_MEMORY);
static_assert(static_cast<int>(Code::kPeerFailed) == HOCKET_ERR_PEER_FAILED);
static_assert(static_cast<int>(Code::kMismatch) == HOCKET_ERR_MISMATCH);
static_assert(static_cast<int>(Code::kSystem) == HOCKET_ERR_SYSTEM);
static_assert(static_cast<int>(Code::kTimeout) == HOCKET_ERR_TIMEOUT);
static_assert(static_cast<int>(Code::kBroken) == HOCKET_ERR_BROKEN);

}  // namespace

hocket_status_t report(const Status& status) noexcept {
  try {
    ThreadError::get().text = status.message();
  } catch (const std::bad_alloc&) {
    (void)report_no_memory();
  }
  return static_cast<hocket_status_t>(status.code());
}

hocket_status_t report_no_memory() noexcept {
  try {
    ThreadError::get().text = "out of memory";  // short enough to need none, but for the first error of a thread
  } catch (const std::bad_alloc&) {
    return HOCKET_ERR_NO_MEMORY;  // the code must do
  }
  return HOCKET_ERR_NO_MEMORY;
}

hocket_status_t invalid(const char* function, const char* what) noexcept {
  try {
    return report(Status(Code::kInvalidArgument, std::string(function) + ": " + what));
  } catch (const std::bad_alloc&) {
    (void)report_no_memory();
    return HOCKET_ERR_INVALID_ARGUMENT;
  }
}

}  // namespace hocket::c_api

const char* hocket_error_text(void) {
  try {
    return hocket::c_api::ThreadError::get().text.c_str();
  } catch (const std::bad_alloc&) {
    return "out of memory";
  }
}

const char* hocket_status_name(hocket_status_t status) {
  switch (status) {
    case HOCKET_OK:
      return "ok";
    case HOCKET_IN_PROGRESS:
      return "in progress";
    case HOCKET_ERR_INVALID_ARGUMENT:
      return "invalid argument";
    case HOCKET_ERR_NOT_SUPPORTED:
      return "not supported";
    case HOCKET_ERR_NO_MEMORY:
      return "no memory";
    case HOCKET_ERR_PEER_FAILED:
      return "peer failed";
    case HOCKET_ERR_MISMATCH:
      return "calls differ between ranks";
    case HOCKET_ERR_SYSTEM:
      return "system call failed";
    case HOCKET_ERR_TIMEOUT:
      return "timed out";
    case HOCKET_ERR_BROKEN:
      return "communicator is broken";
  }
  return "unknown status";
}

#define HOCKET_TEXT_INNER(x) #x
#define HOCKET_TEXT(x) HOCKET_TEXT_INNER(x)
const char* hocket_version(void) {
  return HOCKET_TEXT(HOCKET_VERSION_MAJOR) "." HOCKET_TEXT(HOCKET_VERSION_MINOR) "." HOCKET_TEXT(HOCKET_VERSION_PATCH);
}
