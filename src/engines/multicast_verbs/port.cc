// SPDX-License-Identifier: BSD-3-Clause
#include "engines/multicast_verbs/port.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/log.h"

namespace hocket::engines::multicast_verbs {
namespace {

// The device puts a global route header, or an IP header, before each datagram that comes.
constexpr uint32_t kRouteBytes = 40;
constexpr uint32_t kCacheLine = 64;
// On InfiniBand: what an interface takes for itself of a datagram, and the length that every group carries.
constexpr uint32_t kInterfaceBytes = 4;
constexpr uint32_t kUsualBytes = 2048;
constexpr uint32_t kFewestSlots = 64;
// A root sends a quarter of its room at once.
constexpr uint32_t kReceivesPerSend = 4;

// A group on InfiniBand is made after the interface's own, which may carry less than the port; the interface's MTU
// tells, unless it isn't one of datagrams.
uint32_t longest_datagram(const ibv_port_attr& port, uint32_t interface_mtu) {
  const uint32_t most = 128U << port.active_mtu;
  if (port.link_layer == IBV_LINK_LAYER_ETHERNET) return most;
  const uint32_t group = interface_mtu + kInterfaceBytes;
  return std::min(most, group <= 2 * kUsualBytes ? group : kUsualBytes);
}

}  // namespace

Status VerbsPort::failed(const std::string& what, int error_number) const {
  return Status::system("multicast over verbs: can't " + what + " (" + membership_->name() + ")", error_number);
}

Status VerbsPort::size_rings(const multicast::VerbsOptions& options) {
  ibv_port_attr port{};
  if (const int error = ibv_query_port(membership_->device(), membership_->port(), &port); error != 0)
    return failed("ask for the port", error);
  if (port.state != IBV_PORT_ACTIVE)
    return {Code::kNotSupported, "multicast over verbs: " + membership_->name() + " of interface " +
                                     options.interface.name + " is " + ibv_port_state_str(port.state) +
                                     " (is the interface up?)"};
  ibv_device_attr device{};
  if (const int error = ibv_query_device(membership_->device(), &device); error != 0)
    return failed("ask for the device's limits", error);
  most_bytes_ = longest_datagram(port, options.interface.mtu);
  slot_bytes_ = (kRouteBytes + most_bytes_ + kCacheLine - 1) / kCacheLine * kCacheLine;
  const auto limit = static_cast<uint32_t>(std::min(device.max_qp_wr, device.max_cqe));
  const auto wanted = std::max(kFewestSlots, static_cast<uint32_t>(options.room / most_bytes_));
  receives_ = std::min(wanted, limit);
  sends_ = std::min(std::max(kFewestSlots, receives_ / kReceivesPerSend), limit);
  is_ethernet_ = port.link_layer == IBV_LINK_LAYER_ETHERNET;
  return Status::ok();
}

Status VerbsPort::make_memory() {
  const size_t bytes = size_t{receives_ + sends_} * slot_bytes_;
  memory_ = std::make_unique<std::byte[]>(bytes);
  domain_.reset(ibv_alloc_pd(membership_->device()));
  if (domain_ == nullptr) return failed("make a protection domain", errno);
  const int access = IBV_ACCESS_LOCAL_WRITE;
  registered_.reset(ibv_reg_mr(domain_.get(), memory_.get(), bytes, access));
  if (registered_ == nullptr)
    return failed("register " + std::to_string(bytes) + " bytes of memory (`ulimit -l` is the limit)", errno);
  return Status::ok();
}

Status VerbsPort::make_queues() {
  ibv_context* device = membership_->device();
  channel_.reset(ibv_create_comp_channel(device));
  if (channel_ == nullptr) return failed("make a completion channel", errno);
  const int flags = fcntl(channel_->fd, F_GETFL);
  if (flags < 0 || fcntl(channel_->fd, F_SETFL, flags | O_NONBLOCK) != 0)
    return failed("set up the completion channel", errno);
  come_.reset(ibv_create_cq(device, static_cast<int>(receives_), nullptr, channel_.get(), 0));
  gone_.reset(ibv_create_cq(device, static_cast<int>(sends_), nullptr, nullptr, 0));
  if (come_ == nullptr || gone_ == nullptr) return failed("make a completion queue", errno);
  ibv_qp_init_attr wanted{};
  wanted.send_cq = gone_.get();
  wanted.recv_cq = come_.get();
  wanted.qp_type = IBV_QPT_UD;
  wanted.sq_sig_all = 1;
  wanted.cap.max_send_wr = sends_;
  wanted.cap.max_recv_wr = receives_;
  wanted.cap.max_send_sge = 1;
  wanted.cap.max_recv_sge = 1;
  Result<ibv_qp*> pair = membership_->create_queue_pair(domain_.get(), wanted);
  if (!pair.is_ok()) return pair.take_status();
  pair_ = pair.value();
  // This comes before the first datagram can arrive, so that it wakes a sleeper.
  if (const int error = ibv_req_notify_cq(come_.get(), 0); error != 0) return failed("ask for wake-ups", error);
  for (uint32_t i = 0; i < receives_; ++i) post_receive(i);
  return Status::ok();
}

Status VerbsPort::set_up(const multicast::VerbsOptions& options) {
  Result<std::unique_ptr<Membership>> membership = Membership::bind(options);
  if (!membership.is_ok()) return membership.take_status();
  membership_ = membership.take();
  HOCKET_TRY(size_rings(options));
  HOCKET_TRY(make_memory());
  HOCKET_TRY(make_queues());
  Result<Membership::Destination> destination = membership_->join();
  if (!destination.is_ok()) return destination.take_status();
  destination_ = destination.value();
  // RoCE is IP; on InfiniBand the subnet manager says how far the group reaches.
  if (is_ethernet_) destination_.address.grh.hop_limit = options.hops;
  to_.reset(ibv_create_ah(domain_.get(), &destination_.address));
  if (to_ == nullptr) return failed("make a way to the group " + to_text(options.group), errno);
  return Status::ok();
}

Result<std::unique_ptr<multicast::MulticastPort>> VerbsPort::open(const multicast::VerbsOptions& options) {
  std::unique_ptr<VerbsPort> port(new VerbsPort);
  HOCKET_TRY(port->set_up(options));
  return std::unique_ptr<multicast::MulticastPort>(std::move(port));
}

VerbsPort::~VerbsPort() {
  to_.reset();
  if (membership_ != nullptr) membership_->end();
}

// --- sending --------------------------------------------------------------------------------------------------------

void VerbsPort::reap() {
  ibv_wc done[kBatch];
  for (int count = 1; count > 0;) {
    count = ibv_poll_cq(gone_.get(), kBatch, done);
    for (int i = 0; i < count; ++i) {
      ++reaped_;
      if (done[i].status == IBV_WC_SUCCESS || has_broken_) continue;
      // After this nothing goes out any more: everything is lost from here on, and comes by the other way.
      has_broken_ = true;
      HOCKET_LOG_WARN("multicast over verbs: a datagram could not be sent: %s (%s)", ibv_wc_status_str(done[i].status),
                      membership_->name().c_str());
    }
  }
}

Status VerbsPort::send(std::span<const std::byte> head, std::span<const std::byte> body) {
  const size_t bytes = head.size() + body.size();
  if (bytes > most_bytes_)
    return {Code::kSystem, "a multicast datagram of " + std::to_string(bytes) + " bytes is longer than the " +
                               std::to_string(most_bytes_) + " that " + membership_->name() + " carries"};
  reap();
  if (sent_ - reaped_ == sends_ || has_broken_) return Status::ok();
  std::byte* memory = slot(receives_ + static_cast<uint32_t>(sent_ % sends_));
  std::copy(head.begin(), head.end(), memory);
  std::copy(body.begin(), body.end(), memory + head.size());
  ibv_sge piece{reinterpret_cast<uint64_t>(memory), static_cast<uint32_t>(bytes), registered_->lkey};
  ibv_send_wr work{};
  work.sg_list = &piece;
  work.num_sge = 1;
  work.opcode = IBV_WR_SEND;
  work.wr.ud.ah = to_.get();
  work.wr.ud.remote_qpn = destination_.queue_pair;
  work.wr.ud.remote_qkey = destination_.key;
  ibv_send_wr* refused = nullptr;
  if (ibv_post_send(pair_, &work, &refused) == 0) ++sent_;
  return Status::ok();
}

// --- receiving ------------------------------------------------------------------------------------------------------

void VerbsPort::post_receive(uint32_t number) {
  ibv_sge piece{reinterpret_cast<uint64_t>(slot(number)), slot_bytes_, registered_->lkey};
  ibv_recv_wr work{};
  work.wr_id = number;
  work.sg_list = &piece;
  work.num_sge = 1;
  ibv_recv_wr* refused = nullptr;
  // There is room for each slot.
  (void)ibv_post_recv(pair_, &work, &refused);
}

// Whether something has come; what was taken before goes back to the device.
bool VerbsPort::look() {
  for (uint32_t i = 0; i < batch_size_; ++i) {
    // A queue pair that has broken gives everything back at once, and would again.
    if (batch_[i].status != IBV_WC_WR_FLUSH_ERR) post_receive(static_cast<uint32_t>(batch_[i].wr_id));
  }
  const int count = ibv_poll_cq(come_.get(), kBatch, batch_.data());
  batch_size_ = count > 0 ? static_cast<uint32_t>(count) : 0;
  taken_ = 0;
  return batch_size_ > 0;
}

// Whether there were any. The queue then no longer wakes anybody until it is asked to.
bool VerbsPort::take_wake_ups() {
  unsigned count = 0;
  ibv_cq* which = nullptr;
  void* context = nullptr;
  while (ibv_get_cq_event(channel_.get(), &which, &context) == 0) ++count;
  if (count != 0) ibv_ack_cq_events(come_.get(), count);
  return count != 0;
}

std::span<const std::byte> VerbsPort::receive() {
  for (;;) {
    while (taken_ < batch_size_) {
      const ibv_wc& one = batch_[taken_++];
      if (one.status != IBV_WC_SUCCESS || one.byte_len <= kRouteBytes) continue;
      return {slot(static_cast<uint32_t>(one.wr_id)) + kRouteBytes, one.byte_len - kRouteBytes};
    }
    if (look()) continue;
    // A past wake-up is taken away before the next is requested. A datagram that came in between would wake no thread,
    // so we look once more. Until a wake-up has come, the earlier request still stands.
    if (!take_wake_ups()) return {};
    if (ibv_req_notify_cq(come_.get(), 0) != 0 || !look()) return {};
  }
}

}  // namespace hocket::engines::multicast_verbs

// The entry that libhocket looks for (engines/multicast/verbs_port.h).
extern "C" __attribute__((visibility("default"))) void hocket_open_verbs_port_2(
    const hocket::engines::multicast::VerbsOptions& options,
    hocket::Result<std::unique_ptr<hocket::engines::multicast::MulticastPort>>& port) {
  port = hocket::engines::multicast_verbs::VerbsPort::open(options);
}
