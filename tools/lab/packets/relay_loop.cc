// SPDX-License-Identifier: BSD-3-Clause
#include "lab/packets/relay_loop.h"

#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <optional>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "lab/namespaces.h"
#include "lab/netlink.h"

namespace hocket::lab {
namespace {

using platform::Descriptor;

constexpr const char* kTap = "relay";
constexpr uint32_t kQueuePackets = 10'000;
constexpr size_t kMostHeldBytes = size_t{256} << 20;
constexpr size_t kLongestFrame = 65'536 + 64;
// How many before the clock is looked at again.
constexpr int kMostAtOnce = 64;
constexpr uint64_t kLongestPauseNs = 3'600'000'000'000;

// Where the tags stand: behind the two addresses. The kernel has put them there.
constexpr size_t kTagPlace = 12;
constexpr size_t kTagBytes = 4;

// The word of the tag at that place; nothing: there is none.
std::optional<uint16_t> tag_at(const uint8_t* at) {
  if (at[0] != 0x81 || at[1] != 0x00) return std::nullopt;
  return static_cast<uint16_t>(at[2] << 8 | at[3]);
}

Result<Descriptor> make_tap() {
  Descriptor tap(open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC));
  if (tap.get() < 0) return Status::system("can't open /dev/net/tun (the kernel's CONFIG_TUN)", errno);
  unsigned index = kRelayIndex;
  ifreq request{};
  std::strncpy(request.ifr_name, kTap, IFNAMSIZ - 1);
  request.ifr_flags = IFF_TAP | IFF_NO_PI;
  if (ioctl(tap.get(), TUNSETIFINDEX, &index) != 0 || ioctl(tap.get(), TUNSETIFF, &request) != 0)
    return Status::system("can't make the relay's interface", errno);
  return tap;
}

// A network doesn't wait until ranks that spin let go of a core. Where the kernel refuses, it does.
void take_precedence() {
  sched_param lowest_of_real_time{};
  lowest_of_real_time.sched_priority = sched_get_priority_min(SCHED_FIFO);
  if (sched_setscheduler(0, SCHED_FIFO, &lowest_of_real_time) != 0) setpriority(PRIO_PROCESS, 0, PRIO_MIN);
}

Status enter_switch(const Lab& lab) {
  const Result<Descriptor> network = open_namespace(lab.switch_network());
  if (!network.is_ok()) return {network.status().code(), network.status().message()};
  if (setns(network.value().get(), CLONE_NEWNET) != 0) return Status::system("can't enter the switch's network", errno);
  return Status::ok();
}

}  // namespace

RelayLoop::RelayLoop(LinkTable table, Descriptor tap)
    : table_(std::move(table)), tap_(std::move(tap)), line_(std::make_unique<DelayLine>(kMostHeldBytes)) {}

Result<RelayLoop> RelayLoop::prepare(const Lab& lab) {
  Result<LinkTable> table = LinkTable::open(lab);
  if (!table.is_ok()) return table.take_status();
  HOCKET_TRY(enter_switch(lab));
  Result<Descriptor> tap = make_tap();
  if (!tap.is_ok()) return tap.take_status();
  Result<Netlink> netlink = Netlink::open();
  if (!netlink.is_ok()) return netlink.take_status();
  HOCKET_TRY(netlink.value().set_queue_length(kRelayIndex, kQueuePackets));
  HOCKET_TRY(attach_relay_program(lab));
  HOCKET_TRY(netlink.value().set_up(kRelayIndex));
  prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
  take_precedence();
  return RelayLoop(table.take(), tap.take());
}

// False: the interface has failed.
bool RelayLoop::take_packets() {
  uint8_t frame[kLongestFrame];
  has_all_ = false;
  for (int i = 0; i < kMostAtOnce; ++i) {
    const ssize_t length = read(tap_.get(), frame, sizeof frame);
    if (length < 0 && errno == EINTR) continue;
    has_all_ = length < 0;
    if (has_all_) return errno == EAGAIN;
    take(frame, static_cast<size_t>(length));
  }
  return true;
}

// What doesn't have both tags was not sent by the programs.
void RelayLoop::take(uint8_t* frame, size_t bytes) {
  if (bytes < kTagPlace + 2 * kTagBytes) return;
  const std::optional<uint16_t> time = tag_at(frame + kTagPlace);
  const std::optional<uint16_t> tag = tag_at(frame + kTagPlace + kTagBytes);
  if (!time || !tag || *tag == 0 || lab_tag_link(*tag) >= LAB_LINKS) return;
  const uint32_t link = lab_tag_link(*tag);
  const uint64_t now = now_ns();
  const uint64_t came_ns = lab_tag_time_ns(*time, now);
  // It goes back without the outer one.
  std::memmove(frame + kTagBytes, frame, kTagPlace);
  const auto release_ns = line_->add({frame + kTagBytes, frame + bytes}, link, lab_tag_is_held(*tag) != 0,
                                     table_.settings_of_link(link), came_ns);
  if (release_ns)
    watch_.found(*release_ns - came_ns, now);
  else
    // Relaxed: a number for `hocket lab status`.
    __atomic_fetch_add(&table_.counters_of_link(link).crowded_out, 1, __ATOMIC_RELAXED);
}

bool RelayLoop::give_back_due() {
  while (const auto frame = line_->take_due(now_ns())) {
    while (write(tap_.get(), frame->data(), frame->size()) < 0) {
      if (errno == EINTR) continue;
      if (errno != EAGAIN && errno != ENOBUFS && errno != EINVAL) return false;
      break;
    }
  }
  return true;
}

void RelayLoop::run() {
  for (;;) {
    if (!take_packets() || !give_back_due()) return;
    if (!has_all_) continue;
    const uint64_t now = now_ns();
    const uint64_t look = watch_.next_ns(now);
    const uint64_t next = std::min(line_->next_ns(), look == 0 ? now + kLongestPauseNs : look);
    if (next <= now) continue;
    const uint64_t pause_ns = next - now;
    const timespec pause{static_cast<time_t>(pause_ns / 1'000'000'000), static_cast<long>(pause_ns % 1'000'000'000)};
    pollfd woken_by{tap_.get(), POLLIN, 0};
    ppoll(&woken_by, look == 0 ? 1 : 0, &pause, nullptr);
  }
}

}  // namespace hocket::lab
