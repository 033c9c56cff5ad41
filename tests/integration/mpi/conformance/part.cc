// SPDX-License-Identifier: BSD-3-Clause
#include "part.h"

#include <algorithm>
#include <numeric>

#include "random.h"

namespace conformance {
namespace {

enum SideIndex : uint64_t { kSend, kReceive };

// What all messages between two ranks are called.
uint64_t key_of(int from, int to) { return 1000 + static_cast<uint64_t>(from) * 64 + static_cast<uint64_t>(to); }

class Maker {
 public:
  Maker(const Case& which, const Communicator& communicator, Part& part)
      : case_(which),
        part_(part),
        rank_(communicator.rank),
        size_(communicator.size),
        root_(static_cast<int>(which.root % static_cast<uint64_t>(communicator.size))) {}

  void make();

 private:
  bool is_root() const { return rank_ == root_; }
  bool is_vector_case() const { return is_vector(case_.collective); }
  uint64_t draw(uint64_t a, uint64_t b = 0) const { return hash(case_.salt, a, b); }

  Shape shape_of(SideIndex side, const Family& family, uint64_t more = 0) const;
  const Layout* layout_of(Shape shape, const Family& family, int64_t columns);
  int64_t length(int from, int to) const;
  std::vector<int> order(SideIndex side) const;
  MPI_Aint gap(SideIndex side, int block) const;

  void place_one(Side& side, SideIndex index, int64_t sequences, uint64_t key);
  void place_blocks(Side& side, SideIndex index, const std::vector<int64_t>& lengths,
                    const std::vector<uint64_t>& keys);
  void place_own_types(Side& side, SideIndex index);
  Family family_between(int from, int to) const;

  void make_broadcast();
  void make_gather();
  void make_scatter();
  void make_allgather();
  void make_alltoall();
  void make_reduction();
  void make_reduce_scatter();

  const Case& case_;
  Part& part_;
  int rank_, size_, root_;
};

Shape Maker::shape_of(SideIndex side, const Family& family, uint64_t more) const {
  const uint64_t any = draw(10 + side, static_cast<uint64_t>(rank_) * 64 + more);
  return fitting(case_.is_mixed ? static_cast<Shape>(any % kShapes) : case_.shape, family);
}

const Layout* Maker::layout_of(Shape shape, const Family& family, int64_t columns) {
  if (shape != Shape::kColumns && !case_.is_fresh) return &kept_layout(shape, family);
  part_.fresh.push_back(std::make_unique<Layout>());
  make_layout(*part_.fresh.back(), shape, family, columns);
  return part_.fresh.back().get();
}

// Sequences of the block that goes from one rank to the other; the same both ways if in place.
int64_t Maker::length(int from, int to) const {
  if (!is_vector_case()) return case_.sequences;
  if (case_.is_in_place && from > to) std::swap(from, to);
  const uint64_t any = draw(20, static_cast<uint64_t>(from) * 64 + static_cast<uint64_t>(to));
  switch (case_.pattern) {
    case Pattern::kEqual:
      return case_.sequences;
    case Pattern::kRandom:
      return static_cast<int64_t>(any % static_cast<uint64_t>(2 * case_.sequences + 1));
    case Pattern::kSparse:
      return any % 4 == 0 ? case_.sequences : 0;
    case Pattern::kOnlyOne:
      return static_cast<uint64_t>(from + to) == draw(21) % static_cast<uint64_t>(2 * size_ - 1) ? case_.sequences : 0;
    case Pattern::kUnequal:
      return case_.sequences >> (any % 4 * 3);
    case Pattern::kNone:
      break;
  }
  return 0;
}

std::vector<int> Maker::order(SideIndex side) const {
  std::vector<int> all(static_cast<size_t>(size_));
  std::iota(all.begin(), all.end(), 0);
  if (!case_.is_permuted) return all;
  Random random(draw(30 + side, static_cast<uint64_t>(rank_)));
  for (size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[random.below(i)]);
  return all;
}

MPI_Aint Maker::gap(SideIndex side, int block) const {
  return case_.is_permuted ? static_cast<MPI_Aint>(draw(40 + side, static_cast<uint64_t>(rank_ * 64 + block)) % 4) : 0;
}

void Maker::place_one(Side& side, SideIndex index, int64_t sequences, uint64_t key) {
  const Shape shape = shape_of(index, case_.family);
  Block block;
  block.count = instances(shape, case_.family, sequences);
  block.layout = layout_of(shape, case_.family, block.count);
  block.key = key;
  side.blocks = {block};
  side.count = block.count;
  side.type = block.layout->type;
}

// Of one type; in rank order and without gaps unless the collective lets programs say where they are.
void Maker::place_blocks(Side& side, SideIndex index, const std::vector<int64_t>& lengths,
                         const std::vector<uint64_t>& keys) {
  const Shape shape = shape_of(index, case_.family);
  side.counts.assign(lengths.size(), 0);
  side.displacements.assign(lengths.size(), 0);
  std::vector<int> in_order = order(index);
  if (!is_vector_case()) std::sort(in_order.begin(), in_order.end());
  const MPI_Aint begin = is_vector_case() ? gap(index, 63) - 2 : 0;  // may be negative
  MPI_Aint end = begin;
  for (const int i : in_order) {
    const auto at = static_cast<size_t>(i);
    side.counts[at] = instances(shape, case_.family, lengths[at]);
    if (is_vector_case()) end += gap(index, i);
    side.displacements[at] = end;
    end += side.counts[at];
  }
  const Layout* layout = layout_of(shape, case_.family, end - begin);
  side.type = layout->type;
  side.count = side.counts.empty() ? 0 : side.counts[0];
  for (size_t i = 0; i < lengths.size(); ++i) {
    Block block;
    block.at = side.displacements[i] * layout->extent;
    block.count = side.counts[i];
    block.layout = layout;
    block.key = keys[i];
    side.blocks.push_back(block);
  }
}

// Alltoallw: sometimes each pair of ranks has elements of its own.
Family Maker::family_between(int from, int to) const {
  if (!case_.is_mixed || case_.family.empty()) return case_.family;
  if (case_.is_in_place && from > to) std::swap(from, to);
  const uint64_t any = draw(50, static_cast<uint64_t>(from * 64 + to));
  if (any % 4 == 0) return case_.family;
  return Family(any / 4 % 5 + 1, case_.family[any % case_.family.size()]);
}

void Maker::place_own_types(Side& side, SideIndex index) {
  side.blocks.resize(static_cast<size_t>(size_));
  side.counts.assign(side.blocks.size(), 0);
  side.displacements.assign(side.blocks.size(), 0);
  side.types.assign(side.blocks.size(), MPI_DATATYPE_NULL);
  MPI_Aint end = 0;
  for (const int i : order(index)) {
    const int from = index == kSend ? rank_ : i, to = index == kSend ? i : rank_;
    const Family family = family_between(from, to);
    const Shape shape = shape_of(index, family, static_cast<uint64_t>(i));
    Block block;
    block.count = instances(shape, family, length(from, to));
    block.layout = layout_of(shape, family, block.count);
    block.key = key_of(from, to);
    MPI_Aint low = 0, high = 0;
    for (size_t e = 0; block.count > 0 && e < block.layout->places.size(); ++e) {
      low = std::min(low, block.layout->places[e]);
      const MPI_Aint last = block.layout->places[e] + (block.count - 1) * block.layout->extent;
      high = std::max(high, last + static_cast<MPI_Aint>(block.layout->elements[e]->size));
    }
    const auto at = static_cast<size_t>(i);
    block.at = (end - low + gap(index, i) * 16 + 31) / 32 * 32;
    end = block.at + high;
    side.counts[at] = block.count;
    side.displacements[at] = block.at;
    side.types[at] = block.layout->type;
    side.blocks[at] = block;
  }
}

void Maker::make_broadcast() {
  place_one(part_.receive, kReceive, case_.sequences, key_of(root_, 0));
  if (is_root()) part_.input_in_place = part_.receive.blocks;
}

// Keys and lengths of all blocks that go one way.
struct Blocks {
  std::vector<int64_t> lengths;
  std::vector<uint64_t> keys;
};

void Maker::make_gather() {
  place_one(part_.send, kSend, length(rank_, root_), key_of(rank_, root_));
  Blocks blocks;
  for (int i = 0; i < size_; ++i) {
    blocks.lengths.push_back(length(i, root_));
    blocks.keys.push_back(key_of(i, root_));
  }
  place_blocks(part_.receive, kReceive, blocks.lengths, blocks.keys);
  if (!is_root()) {
    part_.receive.room.swap(part_.receive.blocks);
    if (case_.is_nonsense) part_.receive.make_nonsense();
  } else if (case_.is_in_place) {
    part_.send.is_in_place = true;
    part_.input_in_place = {part_.receive.blocks[static_cast<size_t>(rank_)]};
  }
}

void Maker::make_scatter() {
  place_one(part_.receive, kReceive, length(root_, rank_), key_of(root_, rank_));
  if (!is_root()) {
    if (case_.is_nonsense) part_.send.make_nonsense();
    return;
  }
  Blocks blocks;
  for (int i = 0; i < size_; ++i) {
    blocks.lengths.push_back(length(root_, i));
    blocks.keys.push_back(key_of(root_, i));
  }
  place_blocks(part_.send, kSend, blocks.lengths, blocks.keys);
  if (case_.is_in_place) part_.receive.is_in_place = true;
}

void Maker::make_allgather() {
  place_one(part_.send, kSend, length(rank_, 0), key_of(rank_, 0));
  Blocks blocks;
  for (int i = 0; i < size_; ++i) {
    blocks.lengths.push_back(length(i, 0));
    blocks.keys.push_back(key_of(i, 0));
  }
  place_blocks(part_.receive, kReceive, blocks.lengths, blocks.keys);
  if (!case_.is_in_place) return;
  part_.send.is_in_place = true;
  part_.input_in_place = {part_.receive.blocks[static_cast<size_t>(rank_)]};
}

void Maker::make_alltoall() {
  if (case_.collective == Collective::kAlltoallw) {
    place_own_types(part_.send, kSend);
    place_own_types(part_.receive, kReceive);
  } else {
    Blocks out, in;
    for (int i = 0; i < size_; ++i) {
      out.lengths.push_back(length(rank_, i));
      out.keys.push_back(key_of(rank_, i));
      in.lengths.push_back(length(i, rank_));
      in.keys.push_back(key_of(i, rank_));
    }
    place_blocks(part_.send, kSend, out.lengths, out.keys);
    place_blocks(part_.receive, kReceive, in.lengths, in.keys);
  }
  if (!case_.is_in_place) return;
  part_.send.is_in_place = true;
  part_.input_in_place = part_.receive.blocks;
  for (int i = 0; i < size_; ++i) part_.input_in_place[static_cast<size_t>(i)].key = key_of(rank_, i);
}

// All ranks have the same type.
void Maker::make_reduction() {
  place_one(part_.send, kSend, case_.sequences, static_cast<uint64_t>(rank_));
  part_.receive = part_.send;
  part_.operands = part_.send.blocks[0].layout;
  Block& result = part_.receive.blocks[0];
  result.key = 0;
  result.last = static_cast<uint64_t>(size_);
  bool has_result = true;
  part_.send.is_in_place = case_.is_in_place;
  if (case_.collective == Collective::kReduce) {
    has_result = is_root();
    part_.send.is_in_place = case_.is_in_place && is_root();
  } else if (case_.collective == Collective::kScan) {
    result.last = static_cast<uint64_t>(rank_) + 1;
  } else if (case_.collective == Collective::kExscan) {
    result.last = static_cast<uint64_t>(rank_);
    has_result = rank_ != 0;
  }
  if (part_.send.is_in_place) part_.input_in_place = part_.send.blocks;
  if (has_result) return;
  part_.receive.room.swap(part_.receive.blocks);
  if (case_.is_nonsense && case_.collective == Collective::kReduce) part_.receive.is_null = true;
}

void Maker::make_reduce_scatter() {
  int64_t sum = 0, before = 0, mine = 0;
  for (int i = 0; i < size_; ++i) {
    const int64_t sequences = length(i, i);
    if (i < rank_) before += sequences;
    if (i == rank_) mine = sequences;
    sum += sequences;
  }
  const Shape shape = shape_of(kSend, case_.family);
  place_one(part_.send, kSend, sum, static_cast<uint64_t>(rank_));
  part_.operands = part_.send.blocks[0].layout;
  part_.receive = part_.send;
  for (int i = 0; i < size_; ++i) part_.receive.counts.push_back(instances(shape, case_.family, length(i, i)));
  Block& result = part_.receive.blocks[0];
  result.count = part_.receive.count = instances(shape, case_.family, mine);
  result.first = before * static_cast<int64_t>(case_.family.size());
  result.key = 0;
  result.last = static_cast<uint64_t>(size_);
  if (!case_.is_in_place) return;
  part_.send.is_in_place = true;
  part_.input_in_place = part_.send.blocks;
}

void Maker::make() {
  switch (case_.collective) {
    case Collective::kBarrier:
      return;
    case Collective::kBcast:
      return make_broadcast();
    case Collective::kGather:
    case Collective::kGatherv:
      make_gather();
      break;
    case Collective::kScatter:
    case Collective::kScatterv:
      make_scatter();
      break;
    case Collective::kAllgather:
    case Collective::kAllgatherv:
      make_allgather();
      break;
    case Collective::kAlltoall:
    case Collective::kAlltoallv:
    case Collective::kAlltoallw:
      make_alltoall();
      break;
    case Collective::kReduceScatterBlock:
    case Collective::kReduceScatter:
      return make_reduce_scatter();
    default:
      return make_reduction();
  }
  for (Side* side : {&part_.send, &part_.receive}) {
    if (!side->is_in_place) continue;
    side->blocks.clear();
    if (case_.is_nonsense) side->make_nonsense();
  }
}

}  // namespace

void Side::make_nonsense() {
  is_null = true;
  count = -7;
  type = MPI_DATATYPE_NULL;
  counts.clear();
  displacements.clear();
  types.clear();
}

Part make_part(const Case& which, const Communicator& communicator) {
  Part part;
  Maker(which, communicator, part).make();
  return part;
}

}  // namespace conformance
