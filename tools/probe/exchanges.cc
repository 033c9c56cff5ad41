// SPDX-License-Identifier: BSD-3-Clause
// What messages take: pairs of ranks, all ranks with all, one there and back.
#include <algorithm>

#include "probe/site.h"

namespace hocket::probe {
namespace {

constexpr uint64_t kBytesInFlight = 1 << 20;
constexpr uint64_t kMostInFlight = 16;

}  // namespace

std::vector<uint64_t> sizes_up_to(uint64_t most, uint64_t step) {
  std::vector<uint64_t> sizes;
  for (uint64_t bytes = 1; bytes <= most; bytes *= step) sizes.push_back(bytes);
  return sizes;
}

// All of the few, of many the powers of two and the last.
std::vector<uint32_t> numbers_up_to(uint32_t most) {
  std::vector<uint32_t> numbers;
  for (uint32_t number = 1; number <= most; number = number < 4 ? number + 1 : number * 2) numbers.push_back(number);
  if (numbers.back() != most) numbers.push_back(most);
  return numbers;
}

Bandwidth measure_bandwidth(Site& site, uint32_t pairs, uint64_t bytes) {
  const uint64_t at_once = std::clamp<uint64_t>(kBytesInFlight / bytes, 2, kMostInFlight);
  const bool takes_part = site.is_in_pair(pairs);
  std::vector<std::byte> out(takes_part ? at_once * bytes : 0, std::byte{1});
  std::vector<std::byte> in(out.size());
  Messages messages = site.messages();
  const Time time = site.stopwatch.turns(takes_part, [&](uint64_t turns) {
    const uint32_t partner = site.partner();
    for (uint64_t turn = 0; turn < turns; ++turn) {
      for (uint64_t i = 0; i < at_once; ++i) messages.receive(partner, in.data() + i * bytes, bytes);
      for (uint64_t i = 0; i < at_once; ++i) messages.send(partner, out.data() + i * bytes, bytes);
      messages.wait_all();
    }
  });
  Bandwidth found{pairs, bytes, time.us / static_cast<double>(at_once), 0, time.spread};
  if (found.us > 0) found.mb_per_s = 2.0 * pairs * static_cast<double>(bytes) / found.us;
  return found;
}

StartUp measure_start_up(Site& site, uint32_t ranks_a_node, uint64_t bytes_a_node_pair) {
  const uint64_t messages_a_node_pair = uint64_t{ranks_a_node} * ranks_a_node;
  const uint64_t bytes = std::max<uint64_t>(bytes_a_node_pair / messages_a_node_pair, 1);
  std::vector<uint32_t> ranks;
  for (uint32_t node = 0; node < site.world.placement().count(); ++node)
    for (uint32_t place = 0; place < ranks_a_node; ++place) ranks.push_back(site.rank_at(node, place));
  const auto own = std::find(ranks.begin(), ranks.end(), site.rank());
  const bool takes_part = own != ranks.end();
  const auto place = static_cast<size_t>(own - ranks.begin());
  const size_t count = ranks.size();
  std::vector<std::byte> out(takes_part ? count * bytes : 0, std::byte{1});
  std::vector<std::byte> in(out.size());
  Messages messages = site.messages();
  const Time time = site.stopwatch.turns(takes_part, [&](uint64_t turns) {
    for (uint64_t turn = 0; turn < turns; ++turn) {
      for (size_t i = 1; i < count; ++i) {
        const size_t from = (place + count - i) % count;
        messages.receive(ranks[from], in.data() + from * bytes, bytes);
      }
      for (size_t i = 1; i < count; ++i) {
        const size_t to = (place + i) % count;
        messages.send(ranks[to], out.data() + to * bytes, bytes);
      }
      messages.wait_all();
    }
  });
  return {ranks_a_node, bytes_a_node_pair, bytes, time.us, time.spread};
}

Latency measure_latency(Site& site, uint64_t bytes) {
  const bool takes_part = site.is_in_pair(1);
  std::vector<std::byte> memory(takes_part ? bytes : 0);
  Messages messages = site.messages();
  const Time time = site.stopwatch.turns(takes_part, [&](uint64_t turns) {
    const uint32_t partner = site.partner();
    const bool begins = site.node() == 0;
    for (uint64_t turn = 0; turn < 2 * turns; ++turn) {
      if ((turn % 2 == 0) == begins)
        messages.send(partner, memory.data(), bytes);
      else
        messages.receive(partner, memory.data(), bytes);
      messages.wait_all();
    }
  });
  return {bytes, time.us / 2, time.spread};
}

}  // namespace hocket::probe
