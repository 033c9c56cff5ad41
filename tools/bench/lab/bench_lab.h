// SPDX-License-Identifier: BSD-3-Clause
// A lab of the benchmark's own, and the NIC engines in its nodes.
//
// Thread safety: one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "lab/lab.h"
#include "platform/descriptor.h"

namespace hocket::lab_bench {

// What runs in the nodes: nothing (so that no packets meet programs), or engines.
enum class Engines : uint8_t { kNone, kKernel, kDriver, kAgent, kMixed };

// The words of `--impair`, with examples of values: "loss=1%, lost-multicasts=1%, ..., delay=1ms".
std::string words_of_impairments();

// Whether all packets come nevertheless, once, as they were and in their order: delays, or nothing. `text`:
// words_of_impairments(), several by commas.
bool only_delays(std::string_view text);

class BenchLab {
 public:
  static Result<BenchLab> build(int nodes, lab::SwitchKind kind);
  // Engines end, and the lab is gone.
  ~BenchLab();
  BenchLab(BenchLab&& other) noexcept;
  BenchLab& operator=(BenchLab&&) = delete;

  const lab::Lab& lab() const { return *lab_; }
  // Ends what runs in the nodes and starts what shall; nothing happens where that runs already.
  Status use(Engines engines);
  // Of all nodes' packets. `text`: words_of_impairments(), several by commas.
  Status impair(const std::string& text) const;

 private:
  explicit BenchLab(lab::Lab lab);
  Status introduce() const;
  Status start(int node) const;
  Status end(int node) const;

  std::optional<lab::Lab> lab_;
  Engines engines_ = Engines::kNone;
  std::vector<platform::Descriptor> passing_;  // kDriver: the switch's ports
};

}  // namespace hocket::lab_bench
