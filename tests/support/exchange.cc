// SPDX-License-Identifier: BSD-3-Clause
#include "support/exchange.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "c_api/handles.h"
#include "support/by_parts.h"

namespace hocket::test {
namespace {

using schedule::Collective;

Affine combine(bool ordered, const Affine& left, const Affine& right) {
  if (!ordered) return {left.a + right.a, left.b + right.b};
  return {left.a * right.a, left.a * right.b + left.b};
}
void combine_all(const void* in, void* inout, size_t count, hocket_type_t, void* ordered) {
  const auto* left = static_cast<const Affine*>(in);
  auto* right = static_cast<Affine*>(inout);
  for (size_t i = 0; i < count; ++i) right[i] = combine(ordered != nullptr, left[i], right[i]);
}
// Element `index` of the block that rank `from` has for rank `to`.
Affine element(uint32_t salt, int from, int to, size_t index) {
  return {static_cast<uint32_t>(2 * from + 3 + 2 * static_cast<int>(index % 5)),
          static_cast<uint32_t>(from * 31 + to * 1009) + salt + static_cast<uint32_t>(index)};
}
constexpr Affine kGuard = {0xeeeeeeee, 0xeeeeeeee};

// A buffer with a block a rank, last block first and with room between where lengths vary.
struct Blocks {
  std::vector<size_t> counts;
  std::vector<size_t> displacements;
  size_t extent = 0;

  template <typename Length>
  Blocks(int size, bool vary, bool dense, const Length& length_of) : counts(size), displacements(size) {
    for (int i = 0; i < size; ++i) {
      const int block = vary && !dense ? size - 1 - i : i;
      counts[block] = length_of(block);
      displacements[block] = extent;
      extent += counts[block] + (vary && !dense ? 1 : 0);
    }
  }
};

// What one rank brings and must end with.
struct Sides {
  Affines input;
  Affines output;    // before the call; with guards behind it
  Affines expected;  // after it
  Blocks in_blocks;
  Blocks out_blocks;
};

Affines block(uint32_t salt, int from, int to, size_t count) {
  Affines data(count);
  for (size_t i = 0; i < count; ++i) data[i] = element(salt, from, to, i);
  return data;
}

// The combination of what ranks first..last-1 have for `to`.
Affines combined(const ExchangeCase& c, int last, int to, size_t count) {
  Affines data = block(c.salt, 0, to, count);
  for (int from = 1; from < last; ++from) {
    for (size_t i = 0; i < count; ++i) data[i] = combine(c.ordered, data[i], element(c.salt, from, to, i));
  }
  return data;
}

void put(Affines& into, size_t at, const Affines& data) { std::copy(data.begin(), data.end(), into.begin() + at); }

Sides sides_of(const ExchangeCase& c, const Place& me) {
  const Collective base = schedule::base_of(c.collective);
  const bool is_root = me.rank == c.root;
  const bool alltoall = base == Collective::kAlltoall;
  const bool vary = schedule::is_vector(c.collective);
  const auto gives = [&](int to) { return alltoall ? c.length_of(me.rank, to) : c.length_of(to, 1); };
  const auto gets = [&](int from) { return alltoall ? c.length_of(from, me.rank) : c.length_of(from, 1); };
  const bool dense = base == Collective::kReduceScatterBlock;
  Sides s{{}, {}, {}, Blocks(me.size, vary, dense, gives), Blocks(me.size, vary, dense, gets)};
  const size_t own = c.length_of(me.rank, 1);
  const bool many_in = schedule::input_blocks(base, 2) == 2;
  const bool many_out = schedule::output_blocks(base, 2) == 2;
  if (schedule::has_input(base, is_root)) s.input.assign(many_in ? s.in_blocks.extent : own, kGuard);
  const bool has_output = schedule::has_output(base, is_root);
  s.output.assign((has_output ? (many_out ? s.out_blocks.extent : own) : 0) + 1, kGuard);
  for (int to = 0; many_in && !s.input.empty() && to < me.size; ++to) {
    put(s.input, s.in_blocks.displacements[to], block(c.salt, me.rank, to, s.in_blocks.counts[to]));
  }
  if (!many_in && !s.input.empty()) put(s.input, 0, block(c.salt, me.rank, 0, own));
  s.expected = s.output;
  if (!has_output) return s;
  for (int from = 0; many_out && from < me.size; ++from) {
    put(s.expected, s.out_blocks.displacements[from],
        block(c.salt, from, alltoall ? me.rank : 0, s.out_blocks.counts[from]));
  }
  if (base == Collective::kScatter) put(s.expected, 0, block(c.salt, c.root, me.rank, own));
  if (base == Collective::kReduceScatterBlock) put(s.expected, 0, combined(c, me.size, me.rank, own));
  if (base == Collective::kScan) put(s.expected, 0, combined(c, me.rank + 1, 0, own));
  if (base == Collective::kExscan && me.rank > 0) put(s.expected, 0, combined(c, me.rank, 0, own));
  return s;
}

constexpr hocket_type_t kType = HOCKET_TYPE_OPAQUE(sizeof(Affine));

enum class Form { kBlocking, kStarted, kPlanned };

// The call in one of its forms.
#define EITHER(name, ...)                                        \
  (form == Form::kBlocking  ? name(__VA_ARGS__)                  \
   : form == Form::kStarted ? name##_start(__VA_ARGS__, request) \
                            : name##_init(__VA_ARGS__, request))

hocket_status_t call(const ExchangeCase& c, const Place& me, const void* input, void* output, const Sides& s, Form form,
                     hocket_request_t** request) {
  const size_t count = c.length_of(me.rank, 1);
  // Gone when this returns.
  const Blocks in = s.in_blocks;
  const Blocks out = s.out_blocks;
  switch (c.collective) {
    case Collective::kGather:
      return EITHER(hocket_gather, me.comm, input, output, count, kType, c.root);
    case Collective::kScatter:
      return EITHER(hocket_scatter, me.comm, input, output, count, kType, c.root);
    case Collective::kAllgather:
      return EITHER(hocket_allgather, me.comm, input, output, count, kType);
    case Collective::kAlltoall:
      return EITHER(hocket_alltoall, me.comm, input, output, count, kType);
    case Collective::kReduceScatterBlock:
      return EITHER(hocket_reduce_scatter_block, me.comm, input, output, count, kType, c.op);
    case Collective::kScan:
      return EITHER(hocket_scan, me.comm, input, output, count, kType, c.op);
    case Collective::kExscan:
      return EITHER(hocket_exscan, me.comm, input, output, count, kType, c.op);
    case Collective::kGatherv:
      return EITHER(hocket_gatherv, me.comm, input, count, output, out.counts.data(), out.displacements.data(), kType,
                    c.root);
    case Collective::kScatterv:
      return EITHER(hocket_scatterv, me.comm, input, in.counts.data(), in.displacements.data(), output, count, kType,
                    c.root);
    case Collective::kAllgatherv:
      return EITHER(hocket_allgatherv, me.comm, input, output, out.counts.data(), out.displacements.data(), kType);
    case Collective::kAlltoallv:
      return EITHER(hocket_alltoallv, me.comm, input, in.counts.data(), in.displacements.data(), output,
                    out.counts.data(), out.displacements.data(), kType);
    case Collective::kReduceScatter:
      return EITHER(hocket_reduce_scatter, me.comm, input, output, in.counts.data(), kType, c.op);
    default:
      ADD_FAILURE() << "exchange.cc has no call of " << schedule::name(c.collective);
      return HOCKET_ERR_NOT_SUPPORTED;
  }
}

#undef EITHER

// The same on demand, described as by a caller that has checked it already.
hocket_status_t call_on_demand(const ExchangeCase& c, const Place& me, const Affine* input, Affine* output,
                               const Sides& s, ByParts& parts) {
  const bool is_root = me.rank == c.root;
  c_api::Arguments arguments;
  arguments.collective = c.collective;
  arguments.count = c.length_of(me.rank, 1);
  arguments.root = static_cast<uint32_t>(c.root);
  arguments.combiner.type = kType;
  arguments.combiner.element_bytes = sizeof(Affine);
  if (schedule::combines(c.collective)) {
    arguments.combiner.function = c.op->function;
    arguments.combiner.user = c.op->user;
    arguments.combiner.commutative = c.op->commutative;
  }
  if (schedule::has_input(c.collective, is_root)) {
    arguments.input = reinterpret_cast<const std::byte*>(input);
    if (schedule::is_vector(c.collective) && schedule::input_blocks(c.collective, 2) == 2)
      arguments.input_blocks = {s.in_blocks.counts.data(), s.in_blocks.displacements.data()};
  }
  if (schedule::has_output(c.collective, is_root)) {
    arguments.output = reinterpret_cast<std::byte*>(output);
    if (schedule::is_vector(c.collective) && schedule::output_blocks(c.collective, 2) == 2)
      arguments.output_blocks = {s.out_blocks.counts.data(), s.out_blocks.displacements.data()};
  }
  arguments.on_demand = &parts;
  return c_api::run(me.comm, arguments);
}

// In place: the output holds the input where the call expects it (or, of a scatter, the input the output).
void lay_in_place(const ExchangeCase& c, const Place& me, Sides& s) {
  const Collective base = schedule::base_of(c.collective);
  if (base == Collective::kGather || base == Collective::kAllgather) {
    put(s.output, s.out_blocks.displacements[me.rank], s.input);
  } else if (base == Collective::kReduceScatterBlock) {
    // What is behind the result stays as it was.
    s.output.assign(s.input.size() + 1, kGuard);
    put(s.output, 0, s.input);
    const Affines result(s.expected.begin(), s.expected.end() - 1);
    s.expected = s.output;
    put(s.expected, 0, result);
  } else if (base == Collective::kAlltoall) {
    // What comes must be as long as what goes: the caller of this sees to it.
    for (int to = 0; to < me.size; ++to) {
      put(s.output, s.out_blocks.displacements[to], block(c.salt, me.rank, to, s.out_blocks.counts[to]));
    }
  } else {
    put(s.output, 0, s.input);
    if (base == Collective::kExscan && me.rank == 0) s.expected = s.output;  // the first rank gets nothing
  }
}

class Memory {
 public:
  Memory(const Place& me, const Affines& data, bool mapped) : me_(me), data_(data), mapped_(mapped) {
    if (!mapped_) return;
    if (hocket_alloc(me.context, (data.size() + 1) * sizeof(Affine), &memory_) != HOCKET_OK) std::abort();
    if (!data.empty()) std::memcpy(memory_, data.data(), data.size() * sizeof(Affine));
  }
  ~Memory() {
    if (mapped_) hocket_free(me_.context, memory_);
  }
  Memory(const Memory&) = delete;
  void fill(const Affines& data) { std::copy(data.begin(), data.end(), at()); }
  Affine* at() { return mapped_ ? static_cast<Affine*>(memory_) : data_.data(); }
  // The first element that is not as expected, or -1.
  std::ptrdiff_t first_other_than(const Affines& expected) {
    for (size_t i = 0; i < expected.size(); ++i) {
      if (!(at()[i] == expected[i])) return static_cast<std::ptrdiff_t>(i);
    }
    return -1;
  }

 private:
  const Place& me_;
  Affines data_;
  bool mapped_;
  void* memory_ = nullptr;
};

}  // namespace

struct Exchange::State {
  ExchangeCase c;
  Place me;
  Sides sides;
  std::unique_ptr<Memory> input;
  std::unique_ptr<Memory> output;
  const void* from() const { return input_is_in_output ? HOCKET_IN_PLACE : input->at(); }
  void* to() const { return output_is_in_input ? const_cast<void*>(HOCKET_IN_PLACE) : output->at(); }
  bool input_is_in_output = false;
  bool output_is_in_input = false;
  bool took_something_else = false;
};

hocket_status_t make_affine_op(bool ordered, hocket_op_t& op) {
  static int mark = 0;
  return hocket_op_create(combine_all, ordered ? &mark : nullptr, ordered ? 0 : 1, &op);
}

Exchange::Exchange(const ExchangeCase& what, const Place& where)
    : state_(new State{what, where, sides_of(what, where), nullptr, nullptr}) {
  State& s = *state_;
  const Collective base = schedule::base_of(what.collective);
  const bool here = what.in_place && (!schedule::has_root(base) || where.rank == what.root);
  s.output_is_in_input = here && base == Collective::kScatter;
  s.input_is_in_output = here && !s.output_is_in_input;
  if (s.input_is_in_output) lay_in_place(what, where, s.sides);
  s.input = std::make_unique<Memory>(s.me, s.sides.input, what.mapped);
  s.output = std::make_unique<Memory>(s.me, s.sides.output, what.mapped);
}
Exchange::~Exchange() = default;
Exchange::Exchange(Exchange&&) noexcept = default;

hocket_status_t Exchange::run(hocket_request_t** request) {
  State& s = *state_;
  if (!s.c.on_demand) {
    const Form form = request == nullptr ? Form::kBlocking : Form::kStarted;
    return call(s.c, s.me, s.from(), s.to(), s.sides, form, request);
  }
  ByParts parts(std::as_bytes(std::span(s.sides.input)), reinterpret_cast<std::byte*>(s.input->at()),
                std::as_bytes(std::span(s.output->at(), s.sides.output.size())));
  const hocket_status_t status = call_on_demand(s.c, s.me, s.input->at(), s.output->at(), s.sides, parts);
  s.took_something_else = !schedule::combines(s.c.collective) && !parts.has_taken_results();
  s.input->fill(s.sides.input);  // not all of it need have been asked for
  return status;
}

hocket_status_t Exchange::plan(hocket_request_t** request) {
  const State& s = *state_;
  return call(s.c, s.me, s.from(), s.to(), s.sides, Form::kPlanned, request);
}

void Exchange::renew(uint32_t salt) {
  State& s = *state_;
  s.c.salt = salt;
  s.sides = sides_of(s.c, s.me);
  if (s.input_is_in_output) lay_in_place(s.c, s.me, s.sides);
  s.input->fill(s.sides.input);
  s.output->fill(s.sides.output);
}

std::string Exchange::problem() const {
  const State& s = *state_;
  std::string where(name(s.c.collective));
  where += ", rank " + std::to_string(s.me.rank) + " of " + std::to_string(s.me.size) + ", root " +
           std::to_string(s.c.root) + (s.c.in_place ? ", in place" : "") + (s.c.mapped ? ", mapped" : "") +
           (s.c.on_demand ? ", on demand" : "");
  if (s.took_something_else) return where + ": what had come was changed later";
  if (s.input->first_other_than(s.sides.input) >= 0) return where + ": the input was changed";
  if (s.output_is_in_input) return "";
  const std::ptrdiff_t other = s.output->first_other_than(s.sides.expected);
  if (other < 0) return "";
  return where + ": element " + std::to_string(other) + " of " + std::to_string(s.sides.expected.size()) + " is wrong";
}

}  // namespace hocket::test
