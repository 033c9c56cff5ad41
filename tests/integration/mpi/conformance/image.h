// SPDX-License-Identifier: BSD-3-Clause
// Whole buffers: what is in them before a call, what must be after it, and which bytes mean what.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cases.h"
#include "part.h"

namespace conformance {

enum class Byte : unsigned char {
  kGap,        // not data: must stay as it was
  kData,       // must be the host's result
  kUndefined,  // may hold anything: padding, and what MPI leaves open
};

struct Image {
  size_t origin = 0;  // where the pointer that is passed points to; may lie outside
  std::vector<unsigned char> before;
  std::vector<unsigned char> expected;  // by this program's own reckoning
  std::vector<Byte> meaning;
};

Image input_image(const Case& which, const Part& part);
Image output_image(const Case& which, const Part& part);

struct Comparison {
  bool is_good = true;                // what hocket has is the host's result, or else the right one
  bool is_host_wrong = false;         // the host's isn't what this program reckons
  bool has_host_left_traces = false;  // it wrote into gaps
  std::string text;                   // of the first byte that is not as it should be
};

// The host's result is the law. Where it isn't what this program reckons, hocket may be right against it.
// `is_passed_through`: the host made both calls, so that traces in gaps are its own as well.
Comparison compare(const Image& image, const unsigned char* hocket, const unsigned char* host, bool is_passed_through);

}  // namespace conformance
