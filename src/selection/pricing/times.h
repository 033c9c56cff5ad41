// SPDX-License-Identifier: BSD-3-Clause
// When something that serves one at a time is in use.
//
// Thread safety: none; each walk has its own.
#pragma once

#include <map>

namespace hocket::selection {

class Times {
 public:
  // The first time not before `ready` that leaves `length` free.
  double first_free(double ready, double length) const;
  void take(double begin, double end);
  // Takes the first time that is free; when it ends.
  double serve(double ready, double length);

 private:
  std::map<double, double> taken_;  // where times begin, and their ends; they do not touch each other
};

}  // namespace hocket::selection
