// SPDX-License-Identifier: BSD-3-Clause
// The benchmark on the ranks of an MPI. Compiled once for each MPI's mpi.h and linked with none: MPI_* come from
// hocket's preloaded shim, so that both sides of the comparison take the way that users' programs take.
#include <dlfcn.h>
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>

#include "bench/equal_blocks.h"
#include "bench_mpi/entry.h"
#include "bench_mpi/mpi_meeting.h"

namespace hocket::bench {
namespace {

// The shim's switch (interposer/): 1: hocket carries calls out, 0: they go to the MPI. The same on all ranks.
using SwitchFunction = int (*)(int enabled);
constexpr const char* kSwitchName = "hocket_mpi_set_enabled";
using CountFunction = unsigned long long (*)();
constexpr const char* kCountName = "hocket_mpi_carried_out";

struct Shim {
  SwitchFunction enable;
  CountFunction carried_out;
};

MPI_Datatype type_of(Element element) {
  switch (element) {
    case Element::kInt32:
      return MPI_INT32_T;
    case Element::kInt64:
      return MPI_INT64_T;
    case Element::kFloat:
      return MPI_FLOAT;
    case Element::kDouble:
      break;
  }
  return MPI_DOUBLE;
}

MPI_Op op_of(Operation operation) {
  if (operation == Operation::kMin) return MPI_MIN;
  if (operation == Operation::kMax) return MPI_MAX;
  return MPI_SUM;
}

class MpiWorld : public World {
 public:
  explicit MpiWorld(const Shim& shim) : enable_(shim.enable), carried_out_(shim.carried_out) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    enable_(0);
    // Of its own, so that what is agreed never mixes with what is measured.
    MPI_Comm_dup(MPI_COMM_WORLD, &agreeing_);
    MPI_Comm node;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    int node_rank = 0;
    MPI_Comm_rank(node, &node_rank);
    MPI_Comm_free(&node);
    const int first = node_rank == 0 ? 1 : 0;
    MPI_Allreduce(&first, &nodes_, 1, MPI_INT, MPI_SUM, agreeing_);
    meeting_ = std::make_unique<MpiMeeting>(MPI_COMM_WORLD, nodes_ == 1);
  }
  ~MpiWorld() override {
    enable_(0);
    meeting_.reset();
    MPI_Comm_free(&agreeing_);
    enable_(1);
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  int nodes() const override { return nodes_; }

  void synchronize() override {
    enable_(0);
    meeting_->meet();
    enable_(enabled_);
  }

  // By the MPI's own means, whatever is measured.
  void maximum(std::span<double> values) override {
    enable_(0);
    MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, MPI_MAX, agreeing_);
    enable_(enabled_);
  }

  void set_enabled(int enabled) {
    enabled_ = enabled;
    enable_(enabled);
  }

  unsigned long long carried_out() const { return carried_out_(); }

 private:
  SwitchFunction enable_;
  CountFunction carried_out_;
  std::unique_ptr<MpiMeeting> meeting_;
  MPI_Comm agreeing_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
  int nodes_ = 1;
  int enabled_ = 0;
};

// The MPI's own, or hocket through the same MPI_* functions.
class MpiVariant : public Variant {
 public:
  MpiVariant(MpiWorld& world, const Options& options, bool hocket)
      : world_(world),
        type_(type_of(options.element)),
        op_(op_of(options.operation)),
        hocket_(hocket),
        blocks_(world.size()) {}

  std::string name() const override { return hocket_ ? "hocket" : "mpi"; }

  std::string activate(Collective) override {
    world_.set_enabled(hocket_ ? 1 : 0);
    carried_out_before_ = world_.carried_out();
    return {};
  }

  std::string doubt() override {
    const bool carried_out = world_.carried_out() != carried_out_before_;
    if (carried_out == hocket_) return {};
    return hocket_ ? "hocket handed the call on to the MPI; HOCKET_STATS=1 tells why"
                   : "hocket could not be switched off";
  }

  int run(const Call& call) override {
    if (call.collective == Collective::kBarrier) return MPI_Barrier(MPI_COMM_WORLD);
    if (schedule::is_vector(call.collective)) blocks_.set(call.count);
    return schedule::combines(call.collective) ? run_combining(call) : run_moving(call);
  }

  std::string error(int code) const override {
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(code, text, &length);
    return text;
  }

 private:
  int run_moving(const Call& call) const {
    const auto& [collective, input, output, all, root] = call;
    const int count = static_cast<int>(all);
    const int* const counts = blocks_.counts();
    const int* const at = blocks_.displacements();
    const MPI_Comm comm = MPI_COMM_WORLD;
    switch (collective) {
      case Collective::kGather:
        return MPI_Gather(input, count, MPI_BYTE, output, count, MPI_BYTE, root, comm);
      case Collective::kGatherv:
        return MPI_Gatherv(input, count, MPI_BYTE, output, counts, at, MPI_BYTE, root, comm);
      case Collective::kScatter:
        return MPI_Scatter(input, count, MPI_BYTE, output, count, MPI_BYTE, root, comm);
      case Collective::kScatterv:
        return MPI_Scatterv(input, counts, at, MPI_BYTE, output, count, MPI_BYTE, root, comm);
      case Collective::kAllgather:
        return MPI_Allgather(input, count, MPI_BYTE, output, count, MPI_BYTE, comm);
      case Collective::kAllgatherv:
        return MPI_Allgatherv(input, count, MPI_BYTE, output, counts, at, MPI_BYTE, comm);
      case Collective::kAlltoall:
        return MPI_Alltoall(input, count, MPI_BYTE, output, count, MPI_BYTE, comm);
      case Collective::kAlltoallv:
        return MPI_Alltoallv(input, counts, at, MPI_BYTE, output, counts, at, MPI_BYTE, comm);
      default:
        return MPI_Bcast(output, count, MPI_BYTE, root, comm);
    }
  }

  int run_combining(const Call& call) const {
    const int count = static_cast<int>(call.count);
    switch (call.collective) {
      case Collective::kReduce:
        return MPI_Reduce(call.input, call.output, count, type_, op_, call.root, MPI_COMM_WORLD);
      case Collective::kReduceScatterBlock:
        return MPI_Reduce_scatter_block(call.input, call.output, count, type_, op_, MPI_COMM_WORLD);
      case Collective::kReduceScatter:
        return MPI_Reduce_scatter(call.input, call.output, blocks_.counts(), type_, op_, MPI_COMM_WORLD);
      case Collective::kScan:
        return MPI_Scan(call.input, call.output, count, type_, op_, MPI_COMM_WORLD);
      case Collective::kExscan:
        return MPI_Exscan(call.input, call.output, count, type_, op_, MPI_COMM_WORLD);
      default:
        return MPI_Allreduce(call.input, call.output, count, type_, op_, MPI_COMM_WORLD);
    }
  }

  MpiWorld& world_;
  MPI_Datatype type_;
  MPI_Op op_;
  bool hocket_;
  EqualBlocks<int> blocks_;
  unsigned long long carried_out_before_ = 0;
};

class Memory {
 public:
  Memory(const Options& options, int ranks) : shared_(options.shared_memory) {
    const size_t bytes = buffer_bytes(options, ranks);
    void* memory = nullptr;
    if (shared_)
      MPI_Alloc_mem(static_cast<MPI_Aint>(2 * bytes), MPI_INFO_NULL, &memory);
    else
      memory = std::aligned_alloc(64, 2 * bytes);
    buffers_ = {static_cast<std::byte*>(memory), static_cast<std::byte*>(memory) + bytes};
  }
  ~Memory() { shared_ ? static_cast<void>(MPI_Free_mem(buffers_.input)) : std::free(buffers_.input); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  const Buffers& buffers() const { return buffers_; }

 private:
  bool shared_;
  Buffers buffers_;
};

std::string library_title() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(text, &length);
  std::string title(text);
  title.resize(std::min(title.find_first_of(",\n"), title.size()));
  std::replace(title.begin(), title.end(), '\t', ' ');
  return title;
}

int refuse(const char* why) {
  std::fprintf(stderr, "hocket bench: %s\n", why);
  return 2;
}

int run_benchmark(const Options& options, const Shim& shim) {
  MpiWorld world(shim);
  MpiVariant mpi(world, options, false);
  MpiVariant hocket(world, options, true);
  Variant* const variants[] = {&mpi, &hocket};
  // Displacements are ints.
  if (buffer_bytes(options, world.size()) > static_cast<size_t>(std::numeric_limits<int>::max())) {
    if (world.rank() == 0) refuse("an MPI takes messages shorter than 2G, of all blocks together");
    return 2;
  }
  const Memory memory(options, world.size());
  Suite suite(options, world, memory.buffers(), library_title() + " against hocket; ratio: mpi / hocket");
  bool good = memory.buffers().input != nullptr;
  for (Collective collective : options.collectives) good = good && suite.run(collective, variants);
  if (good && options.wait) good = suite.run_wait(variants);
  // The others may wait in a call that this rank will never make.
  if (!good) MPI_Abort(MPI_COMM_WORLD, 1);
  return suite.finish();
}

}  // namespace
}  // namespace hocket::bench

extern "C" __attribute__((visibility("default"))) int hocket_bench_mpi(const hocket::bench::Options* options) {
  using namespace hocket::bench;
  if (options->pingpong) return refuse("pingpong has no MPI in it: give --ranks 2");
  if (!options->variants.empty())
    return refuse("--variants needs --ranks; for an MPI set HOCKET_ALLREDUCE and the like");
  const Shim shim{reinterpret_cast<SwitchFunction>(dlsym(RTLD_DEFAULT, kSwitchName)),
                  reinterpret_cast<CountFunction>(dlsym(RTLD_DEFAULT, kCountName))};
  if (shim.enable == nullptr || shim.carried_out == nullptr)
    return refuse("hocket's library is not loaded in this rank, or is another version");
  MPI_Init(nullptr, nullptr);
  const int code = run_benchmark(*options, shim);
  if (code != 0) MPI_Abort(MPI_COMM_WORLD, code);
  MPI_Finalize();
  return code;
}
