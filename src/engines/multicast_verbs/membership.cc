// SPDX-License-Identifier: BSD-3-Clause
#include "engines/multicast_verbs/membership.h"

#include <fcntl.h>
#include <poll.h>

#include <cerrno>
#include <cstring>

#include "base/clock.h"

namespace hocket::engines::multicast_verbs {
namespace {

using multicast::Family;

// A subnet manager that is there answers within a second; librdmacm asks again meanwhile.
constexpr int64_t kJoinMs = 5000;

sockaddr_in ipv4(uint32_t address) {
  sockaddr_in result{};
  result.sin_family = AF_INET;
  result.sin_addr.s_addr = address;
  return result;
}

bool has_devices() {
  int count = 0;
  ibv_device** list = ibv_get_device_list(&count);
  if (list == nullptr) return false;
  ibv_free_device_list(list);
  return count > 0;
}

std::string no_device_behind(const std::string& interface) {
  return "interface " + interface +
         " belongs to no RDMA device: name one that does by HOCKET_MULTICAST_INTERFACE (`rdma link` lists them), or "
         "make one (`rdma link add rxe0 type rxe netdev " +
         interface + "`)";
}

}  // namespace

Status Membership::failed(const char* what, int error_number) const {
  return Status::system(std::string("multicast over verbs: ") + what + " on interface " + options_.interface.name +
                            (id_ != nullptr && id_->verbs != nullptr ? " (" + name() + ")" : ""),
                        error_number);
}

std::string Membership::name() const {
  return std::string("device ") + ibv_get_device_name(id_->verbs->device) + ", port " + std::to_string(id_->port_num);
}

Result<std::unique_ptr<Membership>> Membership::bind(const multicast::VerbsOptions& options) {
  if (options.group.family != Family::kIpv4)
    return Status(Code::kNotSupported, "multicast over verbs takes groups of IPv4 only, not " + to_text(options.group));
  if (!has_devices())
    return Status(Code::kNotSupported,
                  "multicast over verbs: this machine has no RDMA device (`rdma link add rxe0 "
                  "type rxe netdev " +
                      options.interface.name + "` makes one by software)");
  std::unique_ptr<Membership> made(new Membership(options));
  made->channel_ = rdma_create_event_channel();
  if (made->channel_ == nullptr)
    return made->failed("can't open /dev/infiniband/rdma_cm (is the module rdma_ucm loaded?)", errno);
  const int flags = fcntl(made->channel_->fd, F_GETFL);
  if (flags < 0 || fcntl(made->channel_->fd, F_SETFL, flags | O_NONBLOCK) != 0)
    return made->failed("the event channel", errno);
  if (rdma_create_id(made->channel_, &made->id_, nullptr, RDMA_PS_UDP) != 0)
    return made->failed("can't begin to talk to the device", errno);
  sockaddr_in own = ipv4(options.interface.ip);
  if (rdma_bind_addr(made->id_, reinterpret_cast<sockaddr*>(&own)) != 0) {
    if (errno == ENODEV || errno == EADDRNOTAVAIL)
      return Status(Code::kNotSupported, "multicast over verbs: " + no_device_behind(options.interface.name));
    return made->failed("can't bind to the address", errno);
  }
  if (made->id_->verbs == nullptr)
    return Status(Code::kNotSupported, "multicast over verbs: " + no_device_behind(options.interface.name));
  return made;
}

Result<ibv_qp*> Membership::create_queue_pair(ibv_pd* domain, ibv_qp_init_attr& wanted) {
  if (rdma_create_qp(id_, domain, &wanted) != 0) return failed("can't make a queue pair for datagrams", errno);
  return id_->qp;
}

Result<Membership::Destination> Membership::join() {
  uint32_t address = 0;
  std::memcpy(&address, options_.group.bytes, sizeof address);
  group_ = ipv4(address);
  if (rdma_join_multicast(id_, reinterpret_cast<sockaddr*>(&group_), nullptr) != 0)
    return failed(("can't join the group " + to_text(options_.group)).c_str(), errno);
  has_joined_ = true;
  return await_join();
}

Result<Membership::Destination> Membership::await_join() {
  const std::string what = "joining the group " + to_text(options_.group);
  const uint64_t until_ns = now_ns() + uint64_t{kJoinMs} * 1'000'000;
  for (uint64_t at_ns = now_ns(); at_ns < until_ns; at_ns = now_ns()) {
    pollfd one{channel_->fd, POLLIN, 0};
    (void)poll(&one, 1, static_cast<int>((until_ns - at_ns) / 1'000'000 + 1));
    rdma_cm_event* event = nullptr;
    if (rdma_get_cm_event(channel_, &event) != 0) {
      if (errno == EAGAIN || errno == EINTR) continue;
      return failed(what.c_str(), errno);
    }
    const rdma_cm_event_type kind = event->event;
    const int status = event->status;
    const Destination to{event->param.ud.ah_attr, event->param.ud.qp_num, event->param.ud.qkey};
    rdma_ack_cm_event(event);
    if (kind == RDMA_CM_EVENT_MULTICAST_JOIN) return to;
    if (kind == RDMA_CM_EVENT_MULTICAST_ERROR) return failed(what.c_str(), status < 0 ? -status : EIO);
  }
  return failed((what + ": no answer in " + std::to_string(kJoinMs / 1000) + " s (is there a subnet manager?)").c_str(),
                ETIMEDOUT);
}

// Whatever of it fails, the descriptors' end takes the rest along.
void Membership::end() {
  if (has_joined_) (void)rdma_leave_multicast(id_, reinterpret_cast<sockaddr*>(&group_));
  has_joined_ = false;
  if (id_ != nullptr && id_->qp != nullptr) rdma_destroy_qp(id_);
}

Membership::~Membership() {
  end();
  if (id_ != nullptr) (void)rdma_destroy_id(id_);
  if (channel_ != nullptr) rdma_destroy_event_channel(channel_);
}

}  // namespace hocket::engines::multicast_verbs
