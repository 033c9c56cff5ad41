// SPDX-License-Identifier: BSD-3-Clause
// One call of a collective with a block for each rank, or of a scan, from its operands to the check of its results, for
// suites that differ in how they come to their cases.
#pragma once

#include <hocket/persistent.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "schedule/collective.h"

namespace hocket::test {

// Elements whose combination x -> a*x + b modulo 2^32 is associative and does not commute.
struct Affine {
  uint32_t a;
  uint32_t b;
  bool operator==(const Affine&) const = default;
};
using Affines = std::vector<Affine>;

// The operation on them. Not ordered: the sum instead, for algorithms that combine in any order.
hocket_status_t make_affine_op(bool ordered, hocket_op_t& op);

// A vector version where it varies: elements of the block that `from` has for `to`. Where there is one length a rank,
// it is that of (rank, 1).
using LengthOf = std::function<size_t(int from, int to)>;

struct ExchangeCase {
  schedule::Collective collective;
  LengthOf length_of;
  int root = 0;
  bool in_place = false;
  bool mapped = false;  // in memory from hocket_alloc
  bool ordered = true;
  hocket_op_t op = nullptr;
  uint32_t salt = 0;  // changes all elements
  // The input is laid down part by part as hocket asks for it, and what is told to have come is taken away at once. For
  // blocking calls that are not in place.
  bool on_demand = false;
};

struct Place {
  hocket_context_t* context;
  hocket_comm_t* comm;
  int rank;
  int size;
};

class Exchange {
 public:
  Exchange(const ExchangeCase& what, const Place& where);
  ~Exchange();
  Exchange(Exchange&&) noexcept;
  // Blocking, or started if `request` is given.
  hocket_status_t run(hocket_request_t** request);
  // To be started later, again and again.
  hocket_status_t plan(hocket_request_t** request);
  // All elements are others, in the same places, and the output is as before the call.
  void renew(uint32_t salt);
  // "" or what is wrong with the result or, after the call, with the input.
  std::string problem() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hocket::test
