// SPDX-License-Identifier: BSD-3-Clause
// The NIC engine's arithmetic as the kernel carries it out (BPF_PROG_TEST_RUN): bit for bit the processor's. As root;
// with LONG_TESTS=1 ten million pairs of each format and operation.
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <memory>

#include "support/floating_numbers.h"
#include "support/long_tests.h"
#include "tests/bpf/combined_pairs.h"

extern "C" const unsigned char operation_object_begin[];
extern "C" const unsigned char operation_object_end[];

namespace hocket::test {
namespace {

constexpr int kSkipped = 77;

uint64_t pairs() { return is_long_tier() ? 10'000'000 : 200'000; }

class Kernel {
 public:
  Kernel() {
    object_.reset(bpf_object__open_mem(operation_object_begin, operation_object_end - operation_object_begin, nullptr));
    if (object_ == nullptr || bpf_object__load(object_.get()) != 0) return;
    const int map = bpf_object__find_map_fd_by_name(object_.get(), "pairs_to_combine");
    program_ = bpf_program__fd(bpf_object__find_program_by_name(object_.get(), "nic_combine_pairs"));
    void* memory = mmap(nullptr, sizeof *pairs_, PROT_READ | PROT_WRITE, MAP_SHARED, map, 0);
    if (memory != MAP_FAILED) pairs_ = static_cast<combined_pairs*>(memory);
  }
  ~Kernel() {
    if (pairs_ != nullptr) munmap(pairs_, sizeof *pairs_);
  }
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;

  bool is_ready() const { return pairs_ != nullptr; }
  combined_pairs& pairs() const { return *pairs_; }
  bool combine() const {
    char frame[64] = {};
    bpf_test_run_opts options;
    std::memset(&options, 0, sizeof options);
    options.sz = sizeof options;
    options.data_in = frame;
    options.data_size_in = sizeof frame;
    return bpf_prog_test_run_opts(program_, &options) == 0 && options.retval == 0;
  }

 private:
  struct Close {
    void operator()(bpf_object* object) const { bpf_object__close(object); }
  };
  std::unique_ptr<bpf_object, Close> object_;
  int program_ = -1;
  combined_pairs* pairs_ = nullptr;
};

template <typename Number>
class FloatingInTheKernel : public testing::Test {};
using Formats = testing::Types<double, float>;
TYPED_TEST_SUITE(FloatingInTheKernel, Formats);

TYPED_TEST(FloatingInTheKernel, GivesTheProcessorsBits) {
  using Number = TypeParam;
  const Kernel kernel;
  ASSERT_TRUE(kernel.is_ready());
  combined_pairs& pairs_of_kernel = kernel.pairs();
  pairs_of_kernel.type = Format<Number>::kType;
  RandomNumbers<Number> random;
  const auto specials = special_numbers<Number>();
  size_t special = 0;
  for (const uint32_t operation : {NIC_SUM, NIC_MIN, NIC_MAX}) {
    pairs_of_kernel.operation = operation;
    for (uint64_t done = 0; done < pairs(); done += COMBINED_PAIRS) {
      for (size_t i = 0; i < COMBINED_PAIRS; ++i) {
        const auto [left, right] = random.pair();
        // Every other pair has one that is special, each of them in turn.
        pairs_of_kernel.left[i] = i % 2 == 0 ? left : specials[special++ % specials.size()];
        pairs_of_kernel.right[i] = right;
      }
      ASSERT_TRUE(kernel.combine());
      for (size_t i = 0; i < COMBINED_PAIRS; ++i) {
        const auto left = static_cast<Bits<Number>>(pairs_of_kernel.left[i]);
        const auto right = static_cast<Bits<Number>>(pairs_of_kernel.right[i]);
        const auto expected =
            std::bit_cast<Bits<Number>>(apply(operation, std::bit_cast<Number>(left), std::bit_cast<Number>(right)));
        const auto found = static_cast<Bits<Number>>(pairs_of_kernel.result[i]);
        ASSERT_TRUE(is_same<Number>(found, expected)) << std::hex << "operation " << operation << " of " << left
                                                      << " and " << right << " gives " << found << ", not " << expected;
      }
    }
  }
}

}  // namespace
}  // namespace hocket::test

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (geteuid() != 0) {
    std::puts("skipped: BPF programs need root");
    return hocket::test::kSkipped;
  }
  return RUN_ALL_TESTS();
}
