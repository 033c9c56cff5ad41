// SPDX-License-Identifier: BSD-3-Clause
// Texts that callers ask for, into memory of theirs.
//
// Thread safety: pure, but for the error text, which is the thread's.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>

#include "c_api/handles.h"

namespace hocket::c_api {

// Ends with a 0, and is cut off where there is no room: an error, which says how much it needs.
inline hocket_status_t write_text(const char* function, const std::string& answer, char* text, size_t capacity) {
  const size_t length = std::min(answer.size(), capacity - 1);
  std::memcpy(text, answer.data(), length);
  text[length] = '\0';
  if (length == answer.size()) return HOCKET_OK;
  return report(Status(Code::kInvalidArgument, std::string(function) + ": the text needs `capacity` " +
                                                   std::to_string(answer.size() + 1) + ", not " +
                                                   std::to_string(capacity) + "; it was cut off"));
}

}  // namespace hocket::c_api
