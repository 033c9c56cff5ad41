// SPDX-License-Identifier: BSD-3-Clause
#include "lab/relay_loop.h"

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
// So many before the clock is looked at again.
constexpr int kMostAtOnce = 64;

// Where the tag stands: behind the two addresses. The kernel has put it there.
constexpr size_t kTagPlace = 12;
constexpr size_t kTagBytes = 4;

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
  for (int i = 0; i < kMostAtOnce; ++i) {
    const ssize_t length = read(tap_.get(), frame, sizeof frame);
    if (length < 0 && errno == EINTR) continue;
    if (length < 0) return errno == EAGAIN;
    const auto bytes = static_cast<size_t>(length);
    // What has no tag was not sent by the programs.
    if (bytes < kTagPlace + kTagBytes || frame[kTagPlace] != 0x81 || frame[kTagPlace + 1] != 0x00) continue;
    const uint32_t tag = (uint32_t{frame[kTagPlace + 2]} << 8 | frame[kTagPlace + 3]) & 0xfff;
    if (tag == 0 || lab_tag_link(tag) >= LAB_LINKS) continue;
    const uint32_t link = lab_tag_link(tag);
    if (!line_->add({frame, frame + bytes}, link, lab_tag_is_held(tag) != 0, table_.settings_of_link(link), now_ns()))
      __atomic_fetch_add(&table_.counters_of_link(link).crowded_out, 1, __ATOMIC_RELAXED);
  }
  return true;
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
    const uint64_t now = now_ns();
    const uint64_t next = line_->next_ns();
    if (next <= now) continue;
    const uint64_t pause_ns = std::min<uint64_t>(next - now, 3'600'000'000'000);
    const timespec pause{static_cast<time_t>(pause_ns / 1'000'000'000), static_cast<long>(pause_ns % 1'000'000'000)};
    pollfd watched{tap_.get(), POLLIN, 0};
    ppoll(&watched, 1, &pause, nullptr);
  }
}

}  // namespace hocket::lab
