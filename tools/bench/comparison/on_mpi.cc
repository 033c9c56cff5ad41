// SPDX-License-Identifier: BSD-3-Clause
#include "bench/comparison/on_mpi.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "bench/comparison/variants.h"
#include "bench/endpoint.h"
#include "bench/evenness.h"

namespace hocket::command {
namespace {

using Variants = std::vector<std::unique_ptr<bench::Variant>>;

const std::vector<std::string> kUsual = {kMpiVariant, kOwnChoice};

class Memory {
 public:
  Memory(bench::MpiRanks& ranks, const bench::Options& options)
      : ranks_(ranks), is_plain_(options.memory == bench::Memory::kPlain) {
    const size_t bytes = bench::buffer_bytes(options, ranks.world().size());
    std::byte* memory = is_plain_ ? static_cast<std::byte*>(std::aligned_alloc(64, 2 * bytes))
                                  : ranks.allocate(2 * bytes, options.memory);
    buffers_ = {memory, memory == nullptr ? nullptr : memory + bytes};
  }
  ~Memory() { is_plain_ ? std::free(buffers_.input) : ranks_.release(buffers_.input); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  const bench::Buffers& buffers() const { return buffers_; }

 private:
  bench::MpiRanks& ranks_;
  bool is_plain_;
  bench::Buffers buffers_;
};

bool is_algorithm(const std::string& name) { return name != kMpiVariant && name != kOwnChoice; }

bool has_algorithms(const bench::Options& options) {
  return std::any_of(options.variants.begin(), options.variants.end(), is_algorithm);
}

Variants make_variants(bench::MpiRanks& ranks, bench::Endpoint* endpoint, const bench::Options& options,
                       bench::Collective collective) {
  Variants variants;
  for (const std::string& name : variants_of(options, collective, kUsual)) {
    if (is_algorithm(name))
      variants.push_back(std::make_unique<bench::HocketVariant>(*endpoint, options, name));
    else
      variants.push_back(ranks.variant(options, name == kOwnChoice));
  }
  return variants;
}

std::vector<bench::Variant*> pointers_to(const Variants& variants) {
  std::vector<bench::Variant*> pointers;
  for (const auto& variant : variants) pointers.push_back(variant.get());
  return pointers;
}

std::string title_of(const bench::MpiRanks& ranks, const bench::Options& options) {
  const std::string reference =
      options.variants.empty() || options.variants.front() == "all" ? kMpiVariant : options.variants.front();
  if (!has_algorithms(options)) return ranks.title() + " against hocket; ratio: mpi / hocket";
  return ranks.title() + ", hocket, and hocket's algorithms; ratio: " + reference + " / variant";
}

// One clock tells how unevenly ranks begin an isolated call; several don't.
std::string evenness_of(bench::MpiRanks& ranks) {
  if (ranks.machines() > 1 || ranks.world().size() == 1) return {};
  const bench::Summary between = bench::time_between_first_and_last(ranks.world());
  char text[128];
  std::snprintf(text, sizeof(text), "\nbefore isolated calls ranks are let go within %.3g us (90th percentile: %.3g)",
                between.median_us, between.p90_us);
  return text;
}

int refuse(int rank, const char* why) {
  if (rank == 0) std::fprintf(stderr, "hocket bench: %s\n", why);
  return 2;
}

}  // namespace

int bench_on_mpi(bench::MpiRanks& ranks, bench::Options options, const GridWords& grid) {
  bench::World& world = ranks.world();
  if (const Status status = set_halo(grid, world.size(), true, options); !status.is_ok())
    return refuse(world.rank(), status.message());
  if (options.pingpong) return refuse(world.rank(), "pingpong has no MPI in it: give --ranks 2");
  // Displacements are ints.
  if (bench::buffer_bytes(options, world.size()) > static_cast<size_t>(std::numeric_limits<int>::max()))
    return refuse(world.rank(), "an MPI takes messages shorter than 2G, of all blocks together");
  if (options.memory != bench::Memory::kPlain && has_algorithms(options))
    return refuse(world.rank(),
                  "with --memory shared, window or shared-window it is the MPI's memory, which single "
                  "algorithms don't know");
  std::unique_ptr<bench::Endpoint> endpoint;
  if (has_algorithms(options)) {
    endpoint = std::make_unique<bench::Endpoint>(world, &ranks.hockets_wire());
    if (!endpoint->open()) ranks.abort(1);
  }
  const Memory memory(ranks, options);
  if (memory.buffers().input == nullptr) {
    refuse(0, "no memory for the buffers");
    ranks.abort(1);
  }
  bench::Suite suite(options, world, memory.buffers(), title_of(ranks, options) + evenness_of(ranks));
  bool good = true;
  for (const bench::Collective collective : options.collectives) {
    const Variants variants = make_variants(ranks, endpoint.get(), options, collective);
    good = good && suite.run(collective, pointers_to(variants));
  }
  if (good && options.wait) {
    Variants waiting;
    for (const std::string& name : kUsual) waiting.push_back(ranks.variant(options, name == kOwnChoice));
    good = suite.run_wait(pointers_to(waiting));
  }
  // The others may wait in a call that this rank will never make.
  if (!good) ranks.abort(1);
  return suite.finish();
}

}  // namespace hocket::command
