// SPDX-License-Identifier: BSD-3-Clause
// How long a kernel takes for one call, for each instruction set of this machine: called through its pointer, in
// place, as collectives do it. 65536/<size> elements are operands of 64 KiB each: in the second-level cache.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>

#include "reduction/kernel_table.h"
#include "reduction/reduction.h"

namespace {

using hocket::reduction::find_kernels;
using hocket::reduction::InstructionSet;
using hocket::reduction::name;
using hocket::reduction::Operation;
using hocket::reduction::size_of;
using hocket::reduction::Type;

constexpr size_t kOperandBytes = 64 * 1024;

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<unsigned char, Free>;

Memory zeros(size_t bytes) {
  Memory memory(static_cast<unsigned char*>(std::aligned_alloc(64, bytes)));
  std::fill(memory.get(), memory.get() + bytes, 0);
  return memory;
}

void run(benchmark::State& state, hocket::reduction::Combine kernel, Type type, size_t count) {
  const Memory left = zeros(kOperandBytes);
  const Memory right = zeros(kOperandBytes);
  benchmark::DoNotOptimize(kernel);
  for (auto _ : state) {
    kernel(left.get(), right.get(), right.get(), count);
    benchmark::ClobberMemory();
  }
  // Two operands read, one result written.
  state.SetBytesProcessed(static_cast<int64_t>(3 * count * size_of(type)) * state.iterations());
}

void add(InstructionSet set, Operation operation, Type type) {
  const auto* kernels = find_kernels(set);
  if (kernels == nullptr) return;
  const auto kernel = kernels->combine[static_cast<size_t>(operation)][static_cast<size_t>(type)];
  for (size_t count : {size_t{1}, size_t{8}, size_t{512}, kOperandBytes / size_of(type)}) {
    const std::string title = std::string(name(operation)) + "/" + std::string(name(type)) + "/" +
                              std::string(name(set)) + "/" + std::to_string(count);
    benchmark::RegisterBenchmark(title.c_str(), run, kernel, type, count);
  }
}

[[maybe_unused]] const bool registered = [] {
  for (InstructionSet set : {InstructionSet::kBaseline, InstructionSet::kAvx2, InstructionSet::kAvx512}) {
    add(set, Operation::kSum, Type::kDouble);
    add(set, Operation::kSum, Type::kInt32);
    add(set, Operation::kSum, Type::kInt8);
    add(set, Operation::kSumSaturating, Type::kInt8);
    add(set, Operation::kProduct, Type::kComplexDouble);
    add(set, Operation::kMin, Type::kDouble);
    add(set, Operation::kMaxLoc, Type::kDoubleInt);
    add(set, Operation::kMaxLoc, Type::kIntInt);
  }
  return true;
}();

}  // namespace
