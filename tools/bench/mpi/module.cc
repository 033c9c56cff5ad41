// SPDX-License-Identifier: BSD-3-Clause
// A benchmark's ranks on an MPI. Compiled once for each MPI's mpi.h and linked with none: MPI_* come from hocket's
// preloaded shim, so that both sides of a comparison take the way that users' programs take, or from the MPI itself.
#include <dlfcn.h>
#include <mpi.h>

#include <algorithm>
#include <cstdlib>

#include "bench/mpi/ranks.h"
#include "bench/mpi/shim.h"
#include "bench/mpi/variant.h"
#include "bench/mpi/world.h"

namespace hocket::bench {
namespace {

class Ranks : public MpiRanks {
 public:
  // The communicator goes with these ranks; MPI_COMM_WORLD takes the MPI along.
  Ranks(MPI_Comm comm, Shim& shim) : comm_(comm), shim_(shim), world_(std::make_unique<MpiWorld>(comm, shim)) {}
  ~Ranks() override {
    world_.reset();
    // So it was before, and so the library wants to be left.
    shim_.set_enabled(true);
    comm_ == MPI_COMM_WORLD ? MPI_Finalize() : MPI_Comm_free(&comm_);
  }

  World& world() override { return *world_; }
  const hocket_wire_t& hockets_wire() override { return world_->hockets_wire(); }
  const hocket_wire_t& own_wire() override { return world_->own_wire(); }
  uint32_t machines() const override { return world_->machines(); }

  std::unique_ptr<Variant> variant(const Options& options, bool hocket) override {
    return std::make_unique<MpiVariant>(comm_, shim_, options, hocket, world_->rank(), world_->size());
  }

  std::byte* allocate(size_t bytes, Memory kind) override {
    void* memory = nullptr;
    const auto size = static_cast<MPI_Aint>(bytes);
    if (kind == Memory::kWindow)
      MPI_Win_allocate(size, 1, MPI_INFO_NULL, comm_, &memory, &window_);
    else if (kind == Memory::kSharedWindow)
      MPI_Win_allocate_shared(size, 1, MPI_INFO_NULL, comm_, &memory, &window_);
    else
      MPI_Alloc_mem(size, MPI_INFO_NULL, &memory);
    return static_cast<std::byte*>(memory);
  }
  void release(std::byte* memory) override { window_ != MPI_WIN_NULL ? MPI_Win_free(&window_) : MPI_Free_mem(memory); }

  std::unique_ptr<MpiRanks> split(int color) override {
    MPI_Comm part = MPI_COMM_NULL;
    {
      const Shim::Pause pause(shim_);
      MPI_Comm_split(comm_, color < 0 ? MPI_UNDEFINED : color, world_->rank(), &part);
    }
    if (part == MPI_COMM_NULL) return nullptr;
    return std::make_unique<Ranks>(part, shim_);
  }

  std::string title() const override {
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    MPI_Get_library_version(text, &length);
    std::string title(text);
    title.resize(std::min(title.find_first_of(",\n"), title.size()));
    std::replace(title.begin(), title.end(), '\t', ' ');
    return title;
  }

  void abort(int code) override {
    MPI_Abort(MPI_COMM_WORLD, code);
    std::_Exit(code);
  }

 private:
  MPI_Comm comm_;
  MPI_Win window_ = MPI_WIN_NULL;
  Shim& shim_;
  std::unique_ptr<MpiWorld> world_;
};

}  // namespace
}  // namespace hocket::bench

extern "C" __attribute__((visibility("default"))) hocket::bench::MpiRanks* hocket_bench_mpi(bool needs_shim,
                                                                                            std::string* why_not) {
  using namespace hocket::bench;
  static Shim shim = Shim::find();
  if (needs_shim && !shim.is_there()) {
    *why_not = "hocket's library is not loaded in this rank, or is another version";
    return nullptr;
  }
  MPI_Init(nullptr, nullptr);
  return new Ranks(MPI_COMM_WORLD, shim);
}
