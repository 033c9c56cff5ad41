// SPDX-License-Identifier: BSD-3-Clause
// The switch of hocket's preloaded library: whether it carries collectives out or passes them through to the MPI.
//
// Thread safety: none. The same on all ranks.
#pragma once

#include <dlfcn.h>

namespace hocket::bench {

class Shim {
 public:
  // As preloaded, or without effect where it isn't.
  static Shim find() {
    Shim shim;
    shim.enable_ = reinterpret_cast<Enable*>(dlsym(RTLD_DEFAULT, "hocket_mpi_set_enabled"));
    shim.carried_out_ = reinterpret_cast<CarriedOut*>(dlsym(RTLD_DEFAULT, "hocket_mpi_carried_out"));
    return shim;
  }
  bool is_there() const { return enable_ != nullptr && carried_out_ != nullptr; }

  // What holds for calls that are measured.
  void set_enabled(bool enabled) {
    enabled_ = enabled;
    put(enabled);
  }
  unsigned long long carried_out() const { return carried_out_ == nullptr ? 0 : carried_out_(); }

  // As long as it lives, collectives are the MPI's.
  class Pause {
   public:
    explicit Pause(Shim& shim) : shim_(shim) { shim_.put(false); }
    ~Pause() { shim_.put(shim_.enabled_); }
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;

   private:
    Shim& shim_;
  };

 private:
  using Enable = int(int enabled);
  using CarriedOut = unsigned long long();

  void put(bool enabled) {
    if (enable_ != nullptr) enable_(enabled ? 1 : 0);
  }

  Enable* enable_ = nullptr;
  CarriedOut* carried_out_ = nullptr;
  bool enabled_ = true;
};

}  // namespace hocket::bench
