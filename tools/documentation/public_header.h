// SPDX-License-Identifier: BSD-3-Clause
// The public header as its manual needs it: comments, and the declarations that they stand over.
//
// Thread safety: pure functions.
#pragma once

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
  std::vector<Declarations> groups;
};

struct StatusValue {
  std::string name;
  std::string meaning;  // "" where the name says it all
  bool is_error;        // it is negative
};

struct PublicHeader {
  std::string introduction;  // what the file opens with
  std::vector<StatusValue> statuses;
  std::vector<HeaderSection> sections;
};

Result<PublicHeader> read_public_header(std::string_view text);

}  // namespace hocket::documentation
