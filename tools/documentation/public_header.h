// SPDX-License-Identifier: BSD-3-Clause
// The public headers as their manual needs them: comments, and the declarations that they stand over.
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace hocket::documentation {

// Declarations in lines that follow each other, and the comment over them.
struct Declarations {
  std::string comment;                 // without its marks
  std::string code;                    // as it stands, without HOCKET_API
  std::vector<std::string> functions;  // in their order
  std::string type;                    // "hocket_wire_t": a struct or a function's type that is defined here; or ""
};

// From one "/* --- title --- */" to the next.
struct HeaderSection {
  std::string title;
  std::string text;
  size_t header = 0;  // of those that were read
  std::vector<Declarations> groups;
};

struct StatusValue {
  std::string name;
  std::string meaning;  // "" where the name says it all
  bool is_error;        // it is negative
};

struct HeaderText {
  std::string name;  // as programs include it: "hocket/hocket.h"
  std::string text;
};

struct PublicHeaders {
  std::vector<std::string> names;
  std::vector<std::string> introductions;  // what each file opens with
  std::vector<StatusValue> statuses;
  std::vector<HeaderSection> sections;
};

// The first one has the statuses.
Result<PublicHeaders> read_public_headers(const std::vector<HeaderText>& headers);

}  // namespace hocket::documentation
