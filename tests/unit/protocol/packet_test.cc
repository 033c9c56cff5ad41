// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/packet.h"

#include <gtest/gtest.h>

#include <cstring>
#include <tuple>

namespace hocket::test {
namespace {

constexpr nic_message kMessage = {.group = 0x0123456789abcdef,
                                  .epoch = 0xfedcba9876543210,
                                  .source = 0x1234,
                                  .target = 0xabcd,
                                  .root = 0x5678,
                                  .words = 64,
                                  .operation = 5,
                                  .type = 6,
                                  .kind = NIC_NACK,
                                  .program = 15,
                                  .send = 45,
                                  .bit = 46,
                                  .carried = 0};

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
  nic_message message = kMessage;
  message.carried = 3;
  uint64_t words[NIC_WORDS + 1];
  nic_write(&message, 0x1122334455667788, reinterpret_cast<__u64*>(words));
  nic_message read{};
  EXPECT_EQ(nic_read(reinterpret_cast<__u64*>(words), 3, &read), 0x1122334455667788u);
  const auto fields = [](const nic_message& m) {
    return std::tuple(m.group, m.epoch, m.source, m.target, m.root, m.words, m.operation, m.type, m.kind, m.program,
                      m.send, m.bit, m.carried);
  };
  EXPECT_EQ(fields(read), fields(message));
  uint64_t again[NIC_WORDS + 1];
  nic_write(&read, 0x1122334455667788, reinterpret_cast<__u64*>(again));
  EXPECT_EQ(0, memcmp(again, words, sizeof words));
  const auto* bytes = reinterpret_cast<const unsigned char*>(words);
  EXPECT_EQ(bytes[0], NIC_MAGIC >> 24);
  EXPECT_EQ(bytes[4], NIC_VERSION << 4 | NIC_NACK);
  EXPECT_EQ(bytes[8], 0x01);  // the group's highest byte
}

TEST(NicPacket, OfAnotherMagicOrVersionHasNoKind) {
  const nic_message message = kMessage;
  __u64 words[NIC_WORDS + 1];
  for (const int byte : {0, 3, 4}) {
    nic_write(&message, 0, words);
    reinterpret_cast<unsigned char*>(words)[byte] ^= 0x10;
    nic_message read{};
    (void)nic_read(words, 0, &read);
    EXPECT_EQ(read.kind, 0);
  }
}

TEST(NicPacket, EveryBitChangesTheTag) {
  const nic_key key = {3, 4};
  const nic_message message = kMessage;
  const uint64_t tag = nic_tag(&key, &message, nullptr);
  __u64 words[NIC_WORDS + 1];
  for (int bit = 0; bit < 64 * NIC_WORDS; ++bit) {
    nic_write(&message, tag, words);
    reinterpret_cast<unsigned char*>(words)[bit / 8] ^= static_cast<unsigned char>(1 << bit % 8);
    nic_message read{};
    (void)nic_read(words, 0, &read);
    EXPECT_TRUE(read.kind == 0 || nic_tag(&key, &read, nullptr) != tag) << bit;
  }
  const nic_key other = {3, 5};
  EXPECT_NE(nic_tag(&other, &message, nullptr), tag);
}

TEST(NicPacket, EveryBitOfWhatItCarriesChangesTheTag) {
  const nic_key key = {3, 4};
  for (const uint8_t words : std::initializer_list<uint8_t>{1, 2, 63, 64}) {
    nic_message message = kMessage;
    nic_operand operand{};
    for (__u64& word : operand.word) word = 0x0123456789abcdef;
    const uint64_t nothing = nic_tag(&key, &message, &operand);
    EXPECT_EQ(nothing, nic_tag(&key, &message, nullptr));
    message.carried = words;
    const uint64_t tag = nic_tag(&key, &message, &operand);
    EXPECT_NE(tag, nothing);
    for (int bit = 0; bit < 64 * NIC_MOST_WORDS; ++bit) {
      operand.word[bit / 64] ^= 1ULL << bit % 64;
      EXPECT_EQ(nic_tag(&key, &message, &operand) == tag, bit >= 64 * words) << bit;
      operand.word[bit / 64] ^= 1ULL << bit % 64;
    }
  }
}

}  // namespace
}  // namespace hocket::test
