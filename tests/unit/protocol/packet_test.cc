// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/packet.h"

#include <gtest/gtest.h>

#include <cstring>

namespace hocket::test {
namespace {

uint64_t little_endian(const unsigned char* bytes) {
  uint64_t word = 0;
  for (int i = 7; i >= 0; --i) word = word << 8 | bytes[i];
  return word;
}

// The vectors of the reference implementation: key 00 01 .. 0f, input 00 01 .. of whole words.
TEST(NicSipHash, IsWhatItsAuthorsSay) {
  unsigned char bytes[32];
  for (unsigned i = 0; i < sizeof bytes; ++i) bytes[i] = static_cast<unsigned char>(i);
  const nic_key key = {little_endian(bytes), little_endian(bytes + 8)};
  const auto hash = [&](int words) {
    nic_siphash s = nic_siphash_begin(&key);
    for (int i = 0; i < words; ++i) nic_siphash_word(&s, little_endian(bytes + 8 * i));
    return nic_siphash_end(&s, static_cast<uint64_t>(words));
  };
  EXPECT_EQ(hash(0), 0x726fdb47dd0e0e31u);
  EXPECT_EQ(hash(1), 0x93f5f5799a932462u);
  EXPECT_EQ(hash(2), 0x3f2acc7f57c29bdbu);
}

TEST(NicPacket, ReadsWhatWasWritten) {
  const nic_message message = {0x0123456789abcdef, 0xfedcba9876543210, 0x1234, 0xabcd, NIC_NACK, 7, 46, 45, 3, 2, 64};
  uint64_t words[NIC_WORDS + 1];
  nic_write(&message, 0x1122334455667788, reinterpret_cast<__u64*>(words));
  nic_message read{};
  EXPECT_EQ(nic_read(reinterpret_cast<__u64*>(words), &read), 0x1122334455667788u);
  uint64_t again[NIC_WORDS + 1];
  nic_write(&read, 0x1122334455667788, reinterpret_cast<__u64*>(again));
  EXPECT_EQ(0, memcmp(again, words, sizeof words));
  const auto* bytes = reinterpret_cast<const unsigned char*>(words);
  EXPECT_EQ(bytes[0], NIC_MAGIC >> 24);
  EXPECT_EQ(bytes[4], NIC_VERSION);
  EXPECT_EQ(bytes[8], 0x01);  // the group's highest byte
}

TEST(NicPacket, OfAnotherMagicOrVersionHasNoKind) {
  const nic_message message = {1, 1, 0, 1, NIC_MESSAGE, 0, 0, 0, 0, 0, 0};
  __u64 words[NIC_WORDS + 1];
  for (const int byte : {0, 3, 4}) {
    nic_write(&message, 0, words);
    reinterpret_cast<unsigned char*>(words)[byte] ^= 1;
    nic_message read{};
    (void)nic_read(words, &read);
    EXPECT_EQ(read.kind, 0);
  }
}

TEST(NicPacket, EveryBitChangesTheTag) {
  const nic_key key = {3, 4};
  const nic_message message = {5, 6, 7, 8, NIC_MESSAGE, 1, 2, 3, 0, 0, 0};
  const uint64_t tag = nic_tag(&key, &message);
  __u64 words[NIC_WORDS + 1];
  for (int bit = 0; bit < 64 * NIC_WORDS; ++bit) {
    nic_write(&message, tag, words);
    reinterpret_cast<unsigned char*>(words)[bit / 8] ^= static_cast<unsigned char>(1 << bit % 8);
    nic_message read{};
    (void)nic_read(words, &read);
    EXPECT_TRUE(read.kind == 0 || nic_tag(&key, &read) != tag) << bit;
  }
  const nic_key other = {3, 5};
  EXPECT_NE(nic_tag(&other, &message), tag);
}

}  // namespace
}  // namespace hocket::test
