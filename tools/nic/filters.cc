// SPDX-License-Identifier: BSD-3-Clause
#include "nic/filters.h"

#include <bpf/libbpf.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>

#include "bpf_support/options.h"
#include "bpf_support/words.h"
#include "platform/descriptor.h"

namespace hocket::nic {
namespace {

// So that our filters are told from others' on the interface. The second says that the qdisc is ours as well.
constexpr uint32_t kHandle = 0x686b;
constexpr uint32_t kHandleWithQdisc = kHandle + 1;
constexpr uint32_t kPriority = 0x686b;
constexpr bpf_tc_attach_point kSides[] = {BPF_TC_INGRESS, BPF_TC_EGRESS};

bpf_tc_hook hook_of(int interface, int sides) {
  auto hook = bpf::sized<bpf_tc_hook>();
  hook.ifindex = interface;
  hook.attach_point = static_cast<bpf_tc_attach_point>(sides);
  return hook;
}

bpf_tc_opts our_filter(uint32_t handle) {
  auto options = bpf::sized<bpf_tc_opts>();
  options.handle = handle;
  options.priority = kPriority;
  return options;
}

// Whether the interface has filters on one side, whosever; also if the kernel doesn't say.
bool has_filters(int interface, uint32_t side) {
  struct {
    nlmsghdr header;
    tcmsg about;
  } request = {};
  request.header.nlmsg_len = NLMSG_LENGTH(sizeof request.about);
  request.header.nlmsg_type = RTM_GETTFILTER;
  request.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  request.about.tcm_ifindex = interface;
  request.about.tcm_parent = TC_H_MAKE(TC_H_CLSACT, side);
  const platform::Descriptor socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  if (socket.get() < 0 || send(socket.get(), &request, request.header.nlmsg_len, 0) < 0) return true;
  alignas(nlmsghdr) std::array<char, 32768> answer;
  for (;;) {
    const ssize_t length = recv(socket.get(), answer.data(), answer.size(), 0);
    if (length < 0 && errno == EINTR) continue;
    if (length <= 0) return true;
    auto left = static_cast<uint32_t>(length);
    for (auto* header = reinterpret_cast<nlmsghdr*>(answer.data()); NLMSG_OK(header, left);
         header = NLMSG_NEXT(header, left)) {
      if (header->nlmsg_type == NLMSG_DONE) return false;
      if (header->nlmsg_type != RTM_NEWTFILTER) return true;
      // A priority that has filters is listed by itself, too, and may be empty.
      if (static_cast<const tcmsg*>(NLMSG_DATA(header))->tcm_handle != 0) return true;
    }
  }
}

// Takes our filters away, and gives whether there were any of that handle.
bool detach(int interface, uint32_t handle) {
  bool were_there = false;
  for (const bpf_tc_attach_point side : kSides) {
    bpf_tc_hook hook = hook_of(interface, side);
    bpf_tc_opts filter = our_filter(handle);
    if (bpf_tc_query(&hook, &filter) != 0) continue;
    were_there = true;
    filter = our_filter(handle);
    (void)bpf_tc_detach(&hook, &filter);
  }
  return were_there;
}

}  // namespace

void Filters::remove_old(int interface) {
  (void)detach(interface, kHandle);
  if (!detach(interface, kHandleWithQdisc)) return;
  if (has_filters(interface, TC_H_MIN_INGRESS) || has_filters(interface, TC_H_MIN_EGRESS)) return;
  // libbpf takes the qdisc away only when it is asked to end both sides.
  bpf_tc_hook both = hook_of(interface, BPF_TC_INGRESS | BPF_TC_EGRESS);
  (void)bpf_tc_hook_destroy(&both);
}

Filters::~Filters() {
  if (interface_ != 0) remove_old(interface_);
}

Status Filters::attach(int interface, int arriving, int leaving) {
  interface_ = interface;
  bpf_tc_hook hook = hook_of(interface, BPF_TC_INGRESS | BPF_TC_EGRESS);
  const int created = bpf_tc_hook_create(&hook);
  if (created != 0 && created != -EEXIST)
    return bpf::failed("can't prepare the interface for the NIC engine's programs (CONFIG_NET_SCH_INGRESS?)", created);
  for (const bpf_tc_attach_point side : kSides) {
    hook = hook_of(interface, side);
    bpf_tc_opts filter = our_filter(created == 0 ? kHandleWithQdisc : kHandle);
    filter.prog_fd = side == BPF_TC_INGRESS ? arriving : leaving;
    if (const int error = bpf_tc_attach(&hook, &filter); error != 0)
      return bpf::failed("can't put the NIC engine's programs on the interface", error);
  }
  return Status::ok();
}

}  // namespace hocket::nic
