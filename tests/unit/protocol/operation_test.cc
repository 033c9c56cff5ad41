// SPDX-License-Identifier: BSD-3-Clause
// The engine's arithmetic against the processor's: the same bits, for numbers of all kinds. With LONG_TESTS=1 a hundred
// million pairs of each format, else a part of that.
#include "protocol/operation.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>

#include "support/floating_numbers.h"
#include "support/long_tests.h"

namespace hocket::test {
namespace {

uint64_t pairs() { return is_long_tier() ? 100'000'000 : 1'000'000; }

template <typename Number>
void expect_the_processors_bits(Bits<Number> left, Bits<Number> right) {
  for (const uint32_t operation : {NIC_SUM, NIC_MIN, NIC_MAX}) {
    const auto expected =
        std::bit_cast<Bits<Number>>(apply(operation, std::bit_cast<Number>(left), std::bit_cast<Number>(right)));
    const auto found = static_cast<Bits<Number>>(nic_combine_element(operation, Format<Number>::kType, left, right));
    ASSERT_TRUE(is_same<Number>(found, expected)) << std::hex << "operation " << operation << " of " << left << " and "
                                                  << right << " gives " << found << ", not " << expected;
  }
}

template <typename Number>
class Floating : public testing::Test {};
using Formats = testing::Types<double, float>;
TYPED_TEST_SUITE(Floating, Formats);

TYPED_TEST(Floating, SpecialNumbersGiveTheProcessorsBitsInAllPairs) {
  const auto numbers = special_numbers<TypeParam>();
  for (const auto left : numbers)
    for (const auto right : numbers) ASSERT_NO_FATAL_FAILURE(expect_the_processors_bits<TypeParam>(left, right));
}

TYPED_TEST(Floating, RandomNumbersGiveTheProcessorsBits) {
  RandomNumbers<TypeParam> numbers;
  for (uint64_t i = pairs(); i > 0; --i) {
    const auto [left, right] = numbers.pair();
    ASSERT_NO_FATAL_FAILURE(expect_the_processors_bits<TypeParam>(left, right)) << "seed " << kSeedOfNumbers;
  }
}

TEST(Operation, IntegersWrapAndCompareByTheirSign) {
  constexpr uint64_t kLeast = uint64_t{1} << 63;
  EXPECT_EQ(nic_combine_word(NIC_SUM, NIC_INT64, ~uint64_t{0}, 2), 1);
  EXPECT_EQ(nic_combine_word(NIC_MIN, NIC_INT64, kLeast, 1), kLeast);
  EXPECT_EQ(nic_combine_word(NIC_MIN, NIC_UINT64, kLeast, 1), 1);
  EXPECT_EQ(nic_combine_word(NIC_MAX, NIC_INT64, kLeast, 1), 1);
  EXPECT_EQ(nic_combine_word(NIC_MAX, NIC_UINT64, kLeast, 1), kLeast);
  EXPECT_EQ(nic_combine_word(NIC_BIT_AND, NIC_UINT64, 12, 10), 8);
  EXPECT_EQ(nic_combine_word(NIC_BIT_OR, NIC_INT64, 12, 10), 14);
  EXPECT_EQ(nic_combine_word(NIC_BIT_XOR, NIC_INT32, 12, 10), 6);
}

TEST(Operation, TwoShortElementsOfAWordDontMeet) {
  const auto word = [](uint32_t low, uint32_t high) { return uint64_t{high} << 32 | low; };
  const uint32_t minus_one = ~uint32_t{0};
  EXPECT_EQ(nic_combine_word(NIC_SUM, NIC_UINT32, word(minus_one, 5), word(1, 6)), word(0, 11));
  EXPECT_EQ(nic_combine_word(NIC_MIN, NIC_INT32, word(minus_one, 5), word(1, minus_one)), word(minus_one, minus_one));
  EXPECT_EQ(nic_combine_word(NIC_MAX, NIC_UINT32, word(minus_one, 5), word(1, 6)), word(minus_one, 6));
  const auto bits = [](float number) { return std::bit_cast<uint32_t>(number); };
  EXPECT_EQ(nic_combine_word(NIC_SUM, NIC_FLOAT, word(bits(1.5F), bits(-2)), word(bits(0.25F), bits(2))),
            word(bits(1.75F), bits(0)));
}

TEST(Operation, BitsOfNumbersThatFloatArentCombined) {
  EXPECT_TRUE(nic_can_combine(NIC_BIT_AND, NIC_UINT32));
  EXPECT_TRUE(nic_can_combine(NIC_SUM, NIC_FLOAT));
  EXPECT_FALSE(nic_can_combine(NIC_BIT_AND, NIC_DOUBLE));
  EXPECT_FALSE(nic_can_combine(NIC_BIT_XOR, NIC_FLOAT));
  EXPECT_FALSE(nic_can_combine(0, NIC_INT64));
  EXPECT_FALSE(nic_can_combine(NIC_SUM, NIC_TYPES_END));
}

}  // namespace
}  // namespace hocket::test
