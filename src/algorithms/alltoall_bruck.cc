// SPDX-License-Identifier: BSD-3-Clause
// Blocks travel by the digits of their distance: for each digit, those that have it go that far together.
//
// A rank first turns its blocks so that block d is for the rank d further on. For digit z at place r^x, all blocks
// whose distance has it are packed and sent z r^x on; the exchanges of one place don't depend on each other. In the end
// a rank holds, in place d, the block of the rank d before it.
//
// Reference: Kumar, Mamidala, Panda, Scaling Alltoall Collective on Multi-core Systems (Bruck's); Bruck, Ho, Kipnis,
//   Upfal, Weathersby, Efficient algorithms for all-to-all communications in multiport message-passing systems (1997).
// Steps: ceil(log_r size) rounds of up to r-1 exchanges at a time; the degree is the radix r.
// Bytes: a rank sends about n size (r-1)/r ceil(log_r size), and copies twice that and 2 size n; n is one block.
// Cost:  ceil(log_r size) (alpha + 3 (r-1)/r size n beta). For short blocks.
// Restrictions: blocks of one length.
#include "algorithms/registered.h"
#include "algorithms/shapes.h"

namespace hocket::algorithms {
namespace {
namespace of_alltoall_bruck {

using schedule::Builder;
using schedule::Slice;

constexpr uint32_t kDegrees[] = {2, 4, 8};

class Digits {
 public:
  explicit Digits(Builder& builder) : builder_(builder), all_(builder.input()), held_(builder.scratch_area(all_)) {}

  // Blocks by their distance.
  Slice held(uint32_t first, uint32_t last) const { return in(held_, first, last); }

  void exchange(uint32_t place, uint32_t radix) {
    const uint32_t rank = builder_.rank();
    const uint32_t size = builder_.size();
    const uint8_t packed = area(packed_);
    const uint8_t arrived = area(arrived_);
    const auto each_digit = [&](const auto& visit) {
      uint32_t begin = 0;
      for (uint32_t digit = 1; digit < radix && uint64_t{digit} * place < size; ++digit) {
        uint32_t end = begin;
        for_runs(place, radix, digit, [&](uint32_t first, uint32_t last) { end += last - first; });
        visit(digit, begin, end);
        begin = end;
      }
    };
    builder_.begin_stage();
    each_digit([&](uint32_t digit, uint32_t at, uint32_t) { copy_runs(place, radix, digit, packed, at, true); });
    builder_.end_stage();
    builder_.begin_stage();
    each_digit([&](uint32_t digit, uint32_t begin, uint32_t end) {
      builder_.send((rank + digit * place) % size, in(packed, begin, end));
      builder_.receive((rank + size - digit * place) % size, in(arrived, begin, end));
    });
    builder_.end_stage();
    builder_.begin_stage();
    each_digit([&](uint32_t digit, uint32_t at, uint32_t) { copy_runs(place, radix, digit, arrived, at, false); });
    builder_.end_stage();
  }

 private:
  Slice in(uint8_t area, uint32_t first, uint32_t last) const {
    return Builder::in_scratch(area, Builder::parts_of(all_, first, last, builder_.size()), all_);
  }
  // Made when first needed, and used in every round.
  uint8_t area(int& made) {
    if (made < 0) made = builder_.scratch_area(all_);
    return static_cast<uint8_t>(made);
  }
  // The distances with that digit, as runs of neighbours.
  template <typename Visit>
  void for_runs(uint32_t place, uint32_t radix, uint32_t digit, const Visit& visit) const {
    const uint64_t size = builder_.size();
    for (uint64_t first = uint64_t{digit} * place; first < size; first += uint64_t{radix} * place) {
      visit(static_cast<uint32_t>(first), static_cast<uint32_t>(std::min(first + place, size)));
    }
  }
  void copy_runs(uint32_t place, uint32_t radix, uint32_t digit, uint8_t area, uint32_t at, bool packs) {
    for_runs(place, radix, digit, [&](uint32_t first, uint32_t last) {
      const Slice there = in(area, at, at + (last - first));
      packs ? builder_.copy(held(first, last), there) : builder_.copy(there, held(first, last));
      at += last - first;
    });
  }

  Builder& builder_;
  Slice all_;
  uint8_t held_;
  int packed_ = -1;
  int arrived_ = -1;
};

void build(Builder& builder) {
  const uint32_t rank = builder.rank();
  const uint32_t size = builder.size();
  if (size == 1) return builder.copy(builder.input(), builder.output());
  const uint32_t radix = std::clamp(degree_of(builder, kDegrees), 2u, size);
  Digits digits(builder);
  builder.begin_stage();
  builder.copy(Builder::parts_of(builder.input(), rank, size, size), digits.held(0, size - rank));
  if (rank > 0) builder.copy(Builder::parts_of(builder.input(), 0, rank, size), digits.held(size - rank, size));
  builder.end_stage();
  for (uint64_t place = 1; place < size; place *= radix) digits.exchange(static_cast<uint32_t>(place), radix);
  builder.begin_stage();
  for (uint32_t distance = 0; distance < size; ++distance) {
    const uint32_t from = (rank + size - distance) % size;
    builder.copy(digits.held(distance, distance + 1), Builder::part(builder.output(), from, size));
  }
  builder.end_stage();
}

}  // namespace of_alltoall_bruck
}  // namespace

constinit const Algorithm alltoall_bruck = {
    .collective = schedule::Collective::kAlltoall,
    .name = "bruck",
    .summary = "blocks travel by the digits of their distance, to a radix (the degree)",
    .reference =
        "Kumar, Mamidala, Panda, Scaling Alltoall Collective on Multi-core Systems (bruck); Bruck et al., Efficient "
        "Algorithms for All-to-All Communications in Multiport Message-Passing Systems, 1997",
    .build = of_alltoall_bruck::build,
    .root_relative = false,
    .degrees = of_alltoall_bruck::kDegrees,
};

}  // namespace hocket::algorithms
