// SPDX-License-Identifier: BSD-3-Clause
// Neighbourhoods of real ranks, and calls among neighbours with their buffers; what must come of them is worked out
// here once more, by nothing of the library's.
//
// Thread safety: each rank has its own.
#pragma once

#include <hocket/persistent.h>

#include <functional>
#include <string>
#include <vector>

#include "schedule/collective.h"
#include "support/team.h"

namespace hocket::test {

// Where a block of a rank's output comes from.
struct Origin {
  int rank = HOCKET_NO_RANK;
  int block = 0;
};

// One rank's part of a neighbourhood, as the test knows it.
struct NeighbourhoodPart {
  std::vector<int> destinations;
  std::vector<Origin> origins;  // by source

  std::vector<int> sources() const;
};

struct NeighbourhoodKind {
  std::string name;
  // Makes the rank's handle, and says what belongs to it.
  std::function<hocket_neighbourhood_t*(Rank&, NeighbourhoodPart&)> make;
};

// For any number of ranks: lists in which ranks are several times, themselves, or nobody; grids; stencils.
std::vector<NeighbourhoodKind> neighbourhood_kinds();
NeighbourhoodKind ring_of_neighbours();
NeighbourhoodKind odd_neighbours();

// A call with its buffers, of any of the collectives.
class NeighborCall {
 public:
  // `count`: elements in a block; those of vector versions are about as long, and some are nothing.
  NeighborCall(schedule::Collective collective, const NeighbourhoodPart& part, int rank, size_t count);

  hocket_status_t run(hocket_neighbourhood_t* neighbourhood);
  hocket_status_t start(hocket_neighbourhood_t* neighbourhood, hocket_request_t** request);
  // To be started later, again and again.
  hocket_status_t plan(hocket_neighbourhood_t* neighbourhood, hocket_request_t** request);
  // All elements are others, and the output is as before the call.
  void renew(int64_t salt);
  // An alltoallv by types: blocks of bytes and of numbers in turn.
  hocket_status_t run_by_types(hocket_neighbourhood_t* neighbourhood);
  hocket_status_t plan_by_types(hocket_neighbourhood_t* neighbourhood, hocket_request_t** request);

  // "", or what is wrong with the output.
  std::string problem() const;

 private:
  bool is_one() const { return schedule::base_of(collective_) == schedule::Collective::kNeighborAllgather; }

  schedule::Collective collective_;
  const NeighbourhoodPart& part_;
  int rank_;
  size_t count_;
  int64_t salt_ = 0;
  std::vector<size_t> given_, given_at_, taken_, taken_at_;
  std::vector<int64_t> input_, output_;
};

}  // namespace hocket::test
