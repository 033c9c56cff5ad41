// SPDX-License-Identifier: BSD-3-Clause
// Aggregation against distribution. The ranks of two nodes copy pieces into the buffers of all lanes of their node; the
// lanes exchange the buffers with those of the other node; then the ranks copy their pieces out of what has come. Only
// the copies are timed, which are equally many and equally long on both sides: what differs is whose cache the data is
// in, if it is in one.
#include <sched.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <stdexcept>

#include "base/clock.h"
#include "bench/meeting_point.h"
#include "bench/shared_area.h"
#include "probe/site.h"

namespace hocket::probe {
namespace {

// A node's shared memory: a meeting point, and for each lane what it sends and what it has received.
class Lanes {
 public:
  Lanes(std::byte* memory, uint32_t lanes, uint64_t most_bytes, bool yields)
      : lanes_(lanes), room_(most_bytes * lanes), yields_(yields) {
    const uintptr_t begin = reinterpret_cast<uintptr_t>(memory) + alignof(bench::MeetingPoint) - 1;
    point_ = reinterpret_cast<bench::MeetingPoint*>(begin - begin % alignof(bench::MeetingPoint));
    buffers_ = reinterpret_cast<std::byte*>(point_ + 1);
  }
  static size_t bytes(uint32_t lanes, uint64_t most_bytes) {
    return 2 * sizeof(bench::MeetingPoint) + 2 * size_t{lanes} * lanes * most_bytes;
  }
  void begin() { new (point_) bench::MeetingPoint; }
  void meet() {
    point_->meet(lanes_, [this] {
      if (yields_) sched_yield();
    });
  }
  std::byte* outgoing(uint32_t lane) const { return buffers_ + lane * room_; }
  std::byte* incoming(uint32_t lane) const { return buffers_ + (lanes_ + lane) * room_; }

 private:
  uint32_t lanes_;
  uint64_t room_;
  bool yields_;
  bench::MeetingPoint* point_;
  std::byte* buffers_;
};

class Worker {
 public:
  Worker(Site& site, Lanes& lanes, uint32_t count, uint64_t bytes)
      : site_(site),
        lanes_(lanes),
        messages_(site.messages()),
        count_(count),
        bytes_(bytes),
        own_(count * bytes),
        got_(count * bytes) {}

  void turn(double* us) {
    const uint32_t place = site_.place();
    ++turn_;
    // As if just computed: it is in the cache.
    std::memset(own_.data(), pattern(site_.node(), place), own_.size());
    lanes_.meet();
    double begin_us = now_us();
    for (uint32_t i = 0; i < count_; ++i) {
      const uint32_t lane = (place + i) % count_;
      std::memcpy(lanes_.outgoing(lane) + place * bytes_, own_.data() + lane * bytes_, bytes_);
    }
    us[0] = now_us() - begin_us;
    lanes_.meet();
    messages_.receive(site_.partner(), lanes_.incoming(place), count_ * bytes_);
    messages_.send(site_.partner(), lanes_.outgoing(place), count_ * bytes_);
    messages_.wait_all();
    lanes_.meet();
    begin_us = now_us();
    for (uint32_t i = 0; i < count_; ++i) {
      const uint32_t lane = (place + i) % count_;
      std::memcpy(got_.data() + lane * bytes_, lanes_.incoming(lane) + place * bytes_, bytes_);
    }
    us[1] = now_us() - begin_us;
    lanes_.meet();
    check();
  }

 private:
  int pattern(uint32_t node, uint32_t place) const { return static_cast<int>((turn_ * 31 + node * 7 + place) & 0xff); }
  // The other node's rank at the same place wrote all that came here.
  void check() const {
    const int right = pattern(1 - site_.node(), site_.place());
    for (const std::byte one : got_)
      if (std::to_integer<int>(one) != right) throw std::runtime_error("a wrong byte came from the other node");
  }

  Site& site_;
  Lanes& lanes_;
  Messages messages_;
  uint32_t count_;
  uint64_t bytes_;
  std::vector<std::byte> own_;
  std::vector<std::byte> got_;
  uint64_t turn_ = 0;
};

}  // namespace

std::vector<Copies> measure_copies(Site& site, uint32_t ranks, const std::vector<uint64_t>& sizes) {
  if (sizes.empty()) return {};
  const schedule::Nodes& placement = site.world.placement();
  std::vector<uint64_t> nodes;
  for (uint32_t rank = 0; rank < placement.ranks(); ++rank) nodes.push_back(placement.node_of(rank));
  const uint64_t most = *std::max_element(sizes.begin(), sizes.end());
  const auto area = bench::SharedArea::open(
      site.world.rank(), nodes, Lanes::bytes(ranks, most),
      [&](const void* send, void* receive, size_t bytes) { site.world.allgather(send, receive, bytes); });
  if (area == nullptr) return {};
  Lanes lanes(area->memory(), ranks, most, site.oversubscribed);
  if (site.place() == 0) lanes.begin();
  site.world.synchronize();
  const bool takes_part = site.is_in_pair(ranks);
  std::vector<Copies> found;
  for (const uint64_t bytes : sizes) {
    Worker worker(site, lanes, ranks, bytes);
    const std::vector<Time> times = site.stopwatch.phases(takes_part, 2, [&](double* us) { worker.turn(us); });
    found.push_back({ranks, bytes, times[0].us, times[1].us});
  }
  return found;
}

}  // namespace hocket::probe
