// SPDX-License-Identifier: BSD-3-Clause
// Anybody may send to a multicast group, and a member signed datagrams: whatever comes, in between what this rank
// awaits and gives up, nothing is written but messages that are awaited, into their own memory, and what is complete is
// what its sender has sent. The first byte of each piece of the input says what it is.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "engines/multicast/member.h"
#include "input.h"

using namespace hocket;
using namespace hocket::engines::multicast;
using hocket::test::take;

namespace {

constexpr uint32_t kFragment = 8;
constexpr uint32_t kRanks = 3;
constexpr uint32_t kStreams = 2;
constexpr nic_key kKey = {1, 2};
constexpr uint64_t kGroup = 3;
constexpr uint32_t kLongestMessage = 40;

// Gives what the input says, one datagram at a time.
class FedPort final : public MulticastPort {
 public:
  std::vector<std::byte> next;

  uint32_t most_bytes() const override { return 1500; }
  uint64_t room() const override { return 1; }
  int descriptor() const override { return -1; }
  Status send(std::span<const std::byte>, std::span<const std::byte>) override { return Status::ok(); }
  std::span<const std::byte> receive() override {
    taken_ = std::exchange(next, {});
    return taken_;
  }

 private:
  std::vector<std::byte> taken_;
};

// A member sends as many bytes in message `number` of a stream as every receiver awaits, and always the same.
uint32_t length_of(uint64_t number) { return static_cast<uint32_t>(number * 7 % kLongestMessage); }
std::byte content_of(uint32_t source, uint64_t number, uint32_t at) {
  return static_cast<std::byte>(source * 101 + number * 31 + at * 3 + 1);
}

struct Fields {
  uint8_t number, source, stream, fragment, mistake;
};

// As an honest member would send it, but for one bit if `mistake` says so.
std::vector<std::byte> signed_datagram(const Fields& fields) {
  multicast_fragment fragment{};
  fragment.group = kGroup;
  fragment.number = fields.number % 16;
  fragment.source = fields.source;
  fragment.stream = fields.stream;
  fragment.whole = length_of(fragment.number);
  const uint32_t fragments = std::max(1u, (fragment.whole + kFragment - 1) / kFragment);
  fragment.offset = fields.fragment % fragments * kFragment;
  fragment.bytes = static_cast<uint16_t>(std::min(kFragment, fragment.whole - fragment.offset));
  std::vector<std::byte> datagram(MULTICAST_HEADER_BYTES + fragment.bytes);
  for (uint32_t i = 0; i < fragment.bytes; ++i)
    datagram[MULTICAST_HEADER_BYTES + i] = content_of(fragment.source, fragment.number, fragment.offset + i);
  auto* bytes = reinterpret_cast<unsigned char*>(datagram.data());
  multicast_write(&kKey, &fragment, bytes + MULTICAST_HEADER_BYTES, bytes);
  if (fields.mistake % 4 == 1) datagram[fields.mistake % datagram.size()] ^= std::byte{0x10};
  return datagram;
}

struct Awaited {
  uint32_t expected;
  uint32_t source;
  uint64_t number;
  std::unique_ptr<std::vector<std::byte>> memory;
};

void check(const Member& member, const Awaited& awaited) {
  if (!member.has_come(awaited.expected)) return;
  for (uint32_t i = 0; i < awaited.memory->size(); ++i)
    if ((*awaited.memory)[i] != content_of(awaited.source, awaited.number, i)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::span<const uint8_t> input(data, size);
  auto owned = std::make_unique<FedPort>();
  FedPort& port = *owned;
  Member member(std::move(owned), {kKey, kGroup, 0, kFragment, kStreams, kRanks}, 5 * kFragment);
  std::vector<Awaited> awaited;
  uint64_t next[kStreams][kRanks] = {};
  while (!input.empty()) {
    const uint8_t what = take<uint8_t>(input);
    if (what % 4 == 0) {  // this rank awaits a message
      const uint32_t source = 1 + what / 4 % 2;
      const uint32_t stream = what / 8 % kStreams;
      auto memory = std::make_unique<std::vector<std::byte>>(length_of(next[stream][source] % 16));
      uint64_t number = 0;
      const uint32_t expected = member.expect(stream, source, *memory, number);
      if (number != next[stream][source]++) std::abort();
      awaited.push_back({expected, source, number % 16, std::move(memory)});
    } else if (what % 4 == 1 && !awaited.empty()) {  // and gives it up, or has it
      const size_t which = what / 4 % awaited.size();
      check(member, awaited[which]);
      member.forget(awaited[which].expected);
      awaited.erase(awaited.begin() + static_cast<std::ptrdiff_t>(which));
    } else if (what % 4 == 2) {
      port.next = signed_datagram(take<Fields>(input));
      member.poll();
    } else {
      const size_t bytes = std::min<size_t>(what, input.size());
      const auto* begin = reinterpret_cast<const std::byte*>(input.data());
      port.next.assign(begin, begin + bytes);
      input = input.subspan(bytes);
      member.poll();
    }
  }
  for (const Awaited& one : awaited) check(member, one);
  return 0;
}
