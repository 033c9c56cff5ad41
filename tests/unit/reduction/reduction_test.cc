// SPDX-License-Identifier: BSD-3-Clause
// Every kernel of every instruction set that this CPU has, against the reference.
#include "reduction/reduction.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <string>

#include "reduction/elements.h"
#include "reduction/kernel_table.h"
#include "reference.h"

namespace hocket::reduction {
namespace {

constexpr size_t kMostElements = 70;  // beyond a 64-byte vector of bytes
constexpr size_t kGuardBytes = 64;
constexpr unsigned char kGuard = 0xa5;

template <typename Visit>
void for_each_combination(Visit&& visit) {
  for (size_t operation = 0; operation < static_cast<size_t>(Operation::kCount); ++operation) {
    for (size_t type = 0; type < static_cast<size_t>(Type::kCount); ++type) {
      visit(static_cast<Operation>(operation), static_cast<Type>(type));
    }
  }
}

std::string title(Operation operation, Type type) {
  return std::string(name(operation)) + " of " + std::string(name(type));
}

// A copy of elements at an address of the given remainder by 64, with guards on both sides.
class Placed {
 public:
  Placed(const Bytes& elements, size_t remainder) : size_(elements.size()), memory_(size_ + 4 * kGuardBytes, kGuard) {
    const size_t over = reinterpret_cast<uintptr_t>(memory_.data()) % 64;
    offset_ = kGuardBytes + (64 - over) + remainder;
    if (size_ > 0) std::memcpy(data(), elements.data(), size_);
  }
  unsigned char* data() { return memory_.data() + offset_; }
  bool guards_are_whole() const {
    for (size_t i = 0; i < memory_.size(); ++i) {
      if ((i < offset_ || i >= offset_ + size_) && memory_[i] != kGuard) return false;
    }
    return true;
  }

 private:
  size_t size_;
  Bytes memory_;
  size_t offset_;
};

enum class Alias { kNone, kLeft, kRight };

class Kernels : public testing::TestWithParam<InstructionSet> {
 protected:
  void SetUp() override {
    table_ = find_kernels(GetParam());
    if (table_ == nullptr) GTEST_SKIP() << "this machine has no " << name(GetParam());
    const char* given = std::getenv("TEST_SEED");
    const uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 0) : std::random_device{}();
    RecordProperty("seed", std::to_string(seed));
    trace_ = std::make_unique<testing::ScopedTrace>(__FILE__, __LINE__, "TEST_SEED=" + std::to_string(seed));
    random_.seed(seed);
  }
  void TearDown() override { trace_.reset(); }

  Combine kernel(Operation operation, Type type) const {
    return table_->combine[static_cast<size_t>(operation)][static_cast<size_t>(type)];
  }

  void expect_expected(Operation operation, Type type, const Bytes& expected, const unsigned char* actual, size_t count,
                       const std::string& how) {
    for (size_t i = 0; i < count; ++i) {
      const size_t at = i * size_of(type);
      ASSERT_TRUE(same_element(operation, type, &expected[at], actual + at))
          << title(operation, type) << ", " << how << ", element " << i << " of " << count;
    }
  }

  void try_count(Operation operation, Type type, const Bytes& left, const Bytes& right, const Bytes& expected,
                 size_t count, Alias alias) {
    const size_t bytes = count * size_of(type);
    const auto cut = [&](const Bytes& all) { return Bytes(all.begin(), all.begin() + static_cast<ptrdiff_t>(bytes)); };
    const size_t remainders[3] = {random_() % 64, random_() % 64, random_() % 64};
    Placed a(cut(left), remainders[0]);
    Placed b(cut(right), remainders[1]);
    Placed c(Bytes(bytes, 0), remainders[2]);
    Placed& out = alias == Alias::kLeft ? a : alias == Alias::kRight ? b : c;
    kernel(operation, type)(a.data(), b.data(), out.data(), count);
    const std::string how = "aliasing " + std::to_string(static_cast<int>(alias)) + ", addresses " +
                            std::to_string(remainders[0]) + " " + std::to_string(remainders[1]) + " " +
                            std::to_string(remainders[2]);
    expect_expected(operation, type, expected, out.data(), count, how);
    for (Placed* placed : {&a, &b, &c}) ASSERT_TRUE(placed->guards_are_whole()) << title(operation, type) << how;
    if (bytes == 0) return;
    EXPECT_TRUE(alias == Alias::kLeft || std::memcmp(a.data(), left.data(), bytes) == 0) << how;
    EXPECT_TRUE(alias == Alias::kRight || std::memcmp(b.data(), right.data(), bytes) == 0) << how;
  }

  const KernelTable* table_ = nullptr;
  std::mt19937_64 random_;
  std::unique_ptr<testing::ScopedTrace> trace_;
};

TEST_P(Kernels, ExistExactlyWhereMpiDefinesTheOperation) {
  for_each_combination([&](Operation operation, Type type) {
    EXPECT_EQ(kernel(operation, type) != nullptr, mpi_defines(operation, type)) << title(operation, type);
  });
}

TEST_P(Kernels, AgreeWithTheReferenceForEveryCountAddressAndAliasing) {
  for_each_combination([&](Operation operation, Type type) {
    if (!mpi_defines(operation, type) || HasFatalFailure()) return;
    for (size_t count = 0; count <= kMostElements; ++count) {
      const Bytes left = random_elements(type, count, random_);
      const Bytes right = random_elements(type, count, random_);
      Bytes expected(left.size());
      for (size_t i = 0; i < count; ++i) {
        const size_t at = i * size_of(type);
        reference(operation, type, &left[at], &right[at], &expected[at]);
      }
      for (Alias alias : {Alias::kNone, Alias::kLeft, Alias::kRight}) {
        try_count(operation, type, left, right, expected, count, alias);
        if (HasFatalFailure()) return;
      }
    }
  });
}

TEST_P(Kernels, GiveTheSameHoweverAVectorIsCut) {
  constexpr size_t kCount = 3000;
  for_each_combination([&](Operation operation, Type type) {
    if (!mpi_defines(operation, type) || HasFatalFailure()) return;
    const size_t size = size_of(type);
    const Bytes left = random_elements(type, kCount, random_);
    const Bytes right = random_elements(type, kCount, random_);
    Bytes whole(left.size()), pieces(left.size()), baseline(left.size());
    kernel(operation, type)(left.data(), right.data(), whole.data(), kCount);
    for (size_t done = 0; done < kCount;) {
      const size_t piece = std::min<size_t>(random_() % 200, kCount - done);
      kernel(operation, type)(&left[done * size], &right[done * size], &pieces[done * size], piece);
      done += piece;
    }
    const KernelTable& plain = *find_kernels(InstructionSet::kBaseline);
    plain.combine[static_cast<size_t>(operation)][static_cast<size_t>(type)](left.data(), right.data(), baseline.data(),
                                                                             kCount);
    expect_expected(operation, type, whole, pieces.data(), kCount, "cut");
    expect_expected(operation, type, baseline, whole.data(), kCount, "baseline");
  });
}

template <typename T, size_t kCount>
void expect_result(Combine kernel, const T (&left)[kCount], const T (&right)[kCount], const T (&expected)[kCount]) {
  T out[kCount];
  kernel(left, right, out, kCount);
  for (size_t i = 0; i < kCount; ++i) EXPECT_EQ(out[i], expected[i]) << i;
}

TEST_P(Kernels, SaturateOnlyWhereAsked) {
  const int8_t left[] = {100, -100, 127, -128, 5};
  const int8_t right[] = {100, -100, 1, -1, -6};
  expect_result<int8_t>(kernel(Operation::kSumSaturating, Type::kInt8), left, right, {127, -128, 127, -128, -1});
  expect_result<int8_t>(kernel(Operation::kSum, Type::kInt8), left, right, {-56, 56, -128, 127, -1});
  expect_result<uint16_t>(kernel(Operation::kSumSaturating, Type::kUint16), {65535, 40000, 7}, {1, 40000, 8},
                          {65535, 65535, 15});
}

TEST_P(Kernels, TakeTheLowerIndexOfEqualValues) {
  using DoubleInt = Pair<double, int>;
  const DoubleInt left[] = {{1.5, 7}, {2.0, 1}, {-0.0, 4}};
  const DoubleInt right[] = {{1.5, 3}, {3.0, 0}, {0.0, 9}};
  DoubleInt least[3], greatest[3];
  kernel(Operation::kMinLoc, Type::kDoubleInt)(left, right, least, 3);
  kernel(Operation::kMaxLoc, Type::kDoubleInt)(left, right, greatest, 3);
  const int expected_least[] = {3, 1, 4};
  const int expected_greatest[] = {3, 0, 4};
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(least[i].index, expected_least[i]) << i;
    EXPECT_EQ(greatest[i].index, expected_greatest[i]) << i;
  }
}

TEST_P(Kernels, TakeTheRightOperandOfANanAndOfZeros) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (Operation operation : {Operation::kMin, Operation::kMax}) {
    const double left[] = {nan, 1.0, 0.0, -0.0};
    const double right[] = {2.0, nan, -0.0, 0.0};
    double out[4];
    kernel(operation, Type::kDouble)(left, right, out, 4);
    EXPECT_TRUE(same_bytes(out, right, sizeof right)) << name(operation);
  }
}

TEST_P(Kernels, MakeLogicalResultsZeroOrOne) {
  expect_result<int32_t>(kernel(Operation::kLogicalAnd, Type::kInt32), {-1, 8, 0, 0}, {2, 0, 5, 0}, {1, 0, 0, 0});
  expect_result<uint32_t>(kernel(Operation::kLogicalXor, Type::kLogical4), {~0u, 8, 0, 0}, {2, 0, 5, 0}, {0, 1, 1, 0});
  expect_result<uint8_t>(kernel(Operation::kLogicalOr, Type::kBool), {1, 1, 0, 0}, {1, 0, 1, 0}, {1, 1, 1, 0});
}

TEST_P(Kernels, MultiplyComplexNumbers) {
  const Complex<double> left = {2, 3}, right = {4, -5};
  Complex<double> out;
  kernel(Operation::kProduct, Type::kComplexDouble)(&left, &right, &out, 1);
  EXPECT_EQ(out.real, 23);
  EXPECT_EQ(out.imaginary, 2);
}

INSTANTIATE_TEST_SUITE_P(Of, Kernels,
                         testing::Values(InstructionSet::kBaseline, InstructionSet::kAvx2, InstructionSet::kAvx512),
                         [](const auto& parameter) { return std::string(name(parameter.param)); });

TEST(Reduction, ChoosesTheBestKernelsOfThisMachine) {
  const KernelTable* best = find_kernels(best_instruction_set());
  ASSERT_NE(best, nullptr);
  EXPECT_EQ(instruction_set(), name(best_instruction_set()));
  for_each_combination([&](Operation operation, Type type) {
    EXPECT_EQ(find_combine(operation, type), best->combine[static_cast<size_t>(operation)][static_cast<size_t>(type)]);
  });
}

TEST(Reduction, AnswersNothingForNumbersOutOfRange) {
  EXPECT_EQ(find_combine(Operation::kCount, Type::kInt32), nullptr);
  EXPECT_EQ(find_combine(Operation::kSum, static_cast<Type>(200)), nullptr);
  EXPECT_EQ(size_of(static_cast<Type>(200)), 0u);
  EXPECT_EQ(name(static_cast<Type>(200)), "unknown");
}

TEST(Reduction, KnowsTheSizesOfTheCompilersTypes) {
  struct {
    short value;
    int index;
  } short_int;
  struct {
    long double value;
    int index;
  } long_double_int;
  EXPECT_EQ(size_of(Type::kShortInt), sizeof short_int);
  EXPECT_EQ(size_of(Type::kLongDoubleInt), sizeof long_double_int);
  EXPECT_EQ(size_of(Type::kComplexLongDouble), 2 * sizeof(long double));
  EXPECT_EQ(size_of(Type::kLogical4), 4u);
  EXPECT_EQ(size_of(Type::kNone), 0u);
}

}  // namespace
}  // namespace hocket::reduction
