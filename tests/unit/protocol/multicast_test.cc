// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/multicast.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace hocket::test {
namespace {

constexpr nic_key kKey = {0x0123456789abcdef, 0xfedcba9876543210};
constexpr uint64_t kGroup = 0x1122334455667788;
constexpr uint32_t kMost = 64;

using Bytes = std::vector<unsigned char>;

constexpr multicast_fragment kFragment = {
    .group = kGroup, .number = 0x123456789a, .source = 0xabcdef, .offset = 128, .whole = 149, .bytes = 21, .stream = 3};

Bytes datagram_of(const multicast_fragment& fragment, const nic_key& key = kKey) {
  Bytes datagram(MULTICAST_HEADER_BYTES + fragment.bytes);
  for (size_t i = 0; i < fragment.bytes; ++i) datagram[MULTICAST_HEADER_BYTES + i] = static_cast<unsigned char>(7 * i);
  multicast_write(&key, &fragment, datagram.data() + MULTICAST_HEADER_BYTES, datagram.data());
  return datagram;
}

multicast_verdict verdict_of(const Bytes& datagram, multicast_fragment* fragment = nullptr) {
  multicast_fragment own;
  return multicast_read(&kKey, kGroup, kMost, datagram.data(), static_cast<uint32_t>(datagram.size()),
                        fragment != nullptr ? fragment : &own);
}

TEST(MulticastDatagram, IsReadAsItWasWritten) {
  multicast_fragment read{};
  ASSERT_EQ(verdict_of(datagram_of(kFragment), &read), MULTICAST_TAKEN);
  EXPECT_EQ(read.group, kFragment.group);
  EXPECT_EQ(read.number, kFragment.number);
  EXPECT_EQ(read.source, kFragment.source);
  EXPECT_EQ(read.offset, kFragment.offset);
  EXPECT_EQ(read.whole, kFragment.whole);
  EXPECT_EQ(read.bytes, kFragment.bytes);
  EXPECT_EQ(read.stream, kFragment.stream);
}

TEST(MulticastDatagram, BeginsWithTheNameOfTheProtocolInTheNetworksOrder) {
  const Bytes datagram = datagram_of(kFragment);
  EXPECT_EQ(std::string(datagram.begin(), datagram.begin() + 4), "hKMC");
  EXPECT_EQ(datagram[4], MULTICAST_VERSION);
  EXPECT_EQ(datagram[5], 3);
  EXPECT_EQ(datagram[7], 21);
  EXPECT_EQ(datagram[8], 0x11);
}

TEST(MulticastDatagram, EveryBitCounts) {
  const Bytes whole = datagram_of(kFragment);
  for (size_t bit = 0; bit < whole.size() * 8; ++bit) {
    Bytes spoilt = whole;
    spoilt[bit / 8] = static_cast<unsigned char>(spoilt[bit / 8] ^ 1u << bit % 8);
    EXPECT_NE(verdict_of(spoilt), MULTICAST_TAKEN) << bit;
  }
}

TEST(MulticastDatagram, IsRefusedForWhatIsWrong) {
  Bytes datagram = datagram_of(kFragment);
  datagram.resize(MULTICAST_HEADER_BYTES - 1);
  EXPECT_EQ(verdict_of(datagram), MULTICAST_TOO_SHORT);
  EXPECT_EQ(verdict_of({}), MULTICAST_TOO_SHORT);
  datagram = datagram_of(kFragment);
  datagram[0] = 'H';
  EXPECT_EQ(verdict_of(datagram), MULTICAST_FOREIGN);
  datagram = datagram_of(kFragment);
  ++datagram[4];
  EXPECT_EQ(verdict_of(datagram), MULTICAST_OTHER_VERSION);
  multicast_fragment fragment = kFragment;
  fragment.group = 1;
  EXPECT_EQ(verdict_of(datagram_of(fragment)), MULTICAST_OTHER_GROUP);
  EXPECT_EQ(verdict_of(datagram_of(kFragment, {1, 2})), MULTICAST_BAD_TAG);
  datagram = datagram_of(kFragment);
  datagram.push_back(0);
  EXPECT_EQ(verdict_of(datagram), MULTICAST_BAD_LENGTH);
  datagram.resize(datagram.size() - 2);
  EXPECT_EQ(verdict_of(datagram), MULTICAST_BAD_LENGTH);
}

TEST(MulticastDatagram, HoldsWhatAMessageWouldBeCutInto) {
  const auto verdict = [](uint32_t offset, uint32_t whole, uint16_t bytes) {
    multicast_fragment fragment = kFragment;
    fragment.offset = offset;
    fragment.whole = whole;
    fragment.bytes = bytes;
    return verdict_of(datagram_of(fragment));
  };
  EXPECT_EQ(verdict(0, 0, 0), MULTICAST_TAKEN);
  EXPECT_EQ(verdict(0, 1, 1), MULTICAST_TAKEN);
  EXPECT_EQ(verdict(0, 65, 64), MULTICAST_TAKEN);
  EXPECT_EQ(verdict(64, 65, 1), MULTICAST_TAKEN);
  EXPECT_EQ(verdict(64, 128, 64), MULTICAST_TAKEN);
  EXPECT_EQ(verdict(0xffffffc0, 0xffffffff, 63), MULTICAST_TAKEN);
  EXPECT_EQ(verdict(0, 1, 0), MULTICAST_BAD_LENGTH);
  EXPECT_EQ(verdict(64, 64, 0), MULTICAST_BAD_LENGTH);   // nothing is left there
  EXPECT_EQ(verdict(32, 65, 33), MULTICAST_BAD_LENGTH);  // no fragment begins there
  EXPECT_EQ(verdict(128, 65, 1), MULTICAST_BAD_LENGTH);
  EXPECT_EQ(verdict(0, 65, 63), MULTICAST_BAD_LENGTH);
  EXPECT_EQ(verdict(0, 200, 65), MULTICAST_BAD_LENGTH);
}

}  // namespace
}  // namespace hocket::test
