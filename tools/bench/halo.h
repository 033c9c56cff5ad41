// SPDX-License-Identifier: BSD-3-Clause
// A benchmark's calls among neighbours, through the public C API.
//
// Thread safety: none; everything belongs to one rank.
#pragma once

#include <memory>
#include <string>

#include "bench/bench.h"
#include "bench/vector_blocks.h"
#include "hocket/neighbourhoods.h"

namespace hocket::bench {

// A neighbourhood on a communicator, which may go first.
class Neighbourhood {
 public:
  // Collective. "" or what went wrong.
  std::string make(hocket_comm_t* comm, const Halo& halo, int rank);
  bool is_there() const { return made_ != nullptr; }
  hocket_status_t run(const Call& call);

 private:
  struct Destroy {
    void operator()(hocket_neighbourhood_t* made) const { hocket_neighbourhood_destroy(made); }
  };
  std::unique_ptr<hocket_neighbourhood_t, Destroy> made_;
  std::unique_ptr<VectorBlocks<size_t>> blocks_;
};

}  // namespace hocket::bench
