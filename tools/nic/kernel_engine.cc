// SPDX-License-Identifier: BSD-3-Clause
#include "nic/kernel_engine.h"

#ifdef HOCKET_NIC_PROGRAMS
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "nic/group_keeper.h"
#include "nic/kernel_programs.h"
#include "nic/lent_sockets.h"
#include "nic/multicast.h"
#include "nic/pool.h"
#endif

namespace hocket::nic {

#ifdef HOCKET_NIC_PROGRAMS
namespace {

using platform::Descriptor;

// Of the header that goes between the two, either way.
uint16_t ip_checksum(uint32_t one, uint32_t other) {
  iphdr header{};
  header.version = 4;
  header.ihl = 5;
  header.tot_len = htons(NIC_FRAME_BYTES - NIC_ETHERNET_BYTES);
  header.frag_off = htons(IP_DF);
  header.ttl = NIC_TTL;
  header.protocol = IPPROTO_UDP;
  header.saddr = one;
  header.daddr = other;
  uint16_t words[sizeof header / 2];
  std::memcpy(words, &header, sizeof header);
  uint32_t sum = 0;
  for (const uint16_t word : words) sum += word;
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<uint16_t>(~sum);
}

// The members that a group's programs exchange messages with.
std::vector<bool> peers_of(const nic_group& group) {
  std::vector<bool> peers(group.size);
  for (uint32_t i = 0; i < group.programs; ++i) {
    const nic_program& program = group.program[i];
    const auto add = [&](uint16_t member) {
      if (member < group.size) peers[member] = true;
      if (member == NIC_HUB) peers[0] = true;
      if (member == NIC_ROOT) peers.assign(group.size, true);
    };
    for (uint32_t send = 0; send < program.sends; ++send) add(program.send[send].member);
    for (uint32_t arrival = 0; arrival < program.arrivals; ++arrival) add(program.arrival[arrival].member);
  }
  return peers;
}

class KernelEngine final : public Engine {
 public:
  KernelEngine(const EngineOptions& options, std::unique_ptr<KernelPrograms> programs, Descriptor socket)
      : options_(options),
        programs_(std::move(programs)),
        socket_(std::move(socket)),
        slots_(NIC_MOST_GROUPS),
        keeper_(
            NIC_MOST_GROUPS, options.backoff,
            [this](uint32_t group, const nic_message& message, const nic_operand& operand) {
              send(group, message, operand);
            },
            [this](uint32_t group) { forget(group); }) {}

  const char* kind() const override { return "kernel"; }
  std::string place() const override { return programs_->place(); }
  const std::string& interface() const override { return options_.name; }
  nic_peer address() const override { return {options_.interface.ip, htons(options_.port), 0}; }
  uint32_t free_groups() const override { return keeper_.free_groups(); }

  Result<Lent> join(const JoinRequest& request) override {
    const int64_t number = keeper_.find_free();
    const int64_t first = members_.find(entries_of(request));
    const int64_t first_operand = operands_.find(operands_of(request));
    if (number < 0 || first < 0 || first_operand < 0)
      return Status(Code::kNoMemory, "the NIC engine is full: " + std::to_string(NIC_MOST_GROUPS) + " groups with " +
                                         std::to_string(NIC_MEMBER_POOL) + " members and " +
                                         std::to_string(NIC_OPERAND_POOL) +
                                         " operands in all, those left in the last seconds among them");
    // Before all that costs something.
    if (std::any_of(slots_.begin(), slots_.end(),
                    [&](const Slot& other) { return other.has_id && other.kernel.group.id == request.group.id; }))
      return Status(Code::kInvalidArgument, "the NIC engine has a group of that id already");
    const auto group = static_cast<uint32_t>(number);
    Slot& slot = slots_[group];
    slot = Slot();
    slot.kernel.first_operand = static_cast<uint32_t>(first_operand);
    slot.operands = operands_of(request);
    operands_.take(slot.kernel.first_operand, slot.operands);
    Result<Lent> lent = lend(group, static_cast<uint32_t>(first), request);
    if (!lent.is_ok()) {
      forget(group);
      return lent;
    }
    const uint64_t operands =
        slot.operands == 0 ? 0 : reinterpret_cast<uintptr_t>(&programs_->operand(slot.kernel.first_operand));
    const GroupMemory memory = {&slot.kernel.group,
                                &programs_->state(group),
                                slot.page,
                                operands,
                                &programs_->member(slot.kernel.first_member).signs_of_life,
                                sizeof(nic_member)};
    keeper_.add(group, memory, request.silence_ns, request.user);
    return lent;
  }

  void leave(uint32_t group) override {
    hang_up(group);
    keeper_.leave(group, now_ns());
  }
  void abandon(uint32_t group) override {
    hang_up(group);
    keeper_.abandon(group, now_ns());
  }

  std::vector<int> sources() const override { return {socket_.get(), programs_->news()}; }
  void work() override {
    // Packets that the programs passed on: of groups that are gone.
    char packet[NIC_MOST_PACKET_BYTES];
    while (recv(socket_.get(), packet, sizeof packet, MSG_DONTWAIT) >= 0) continue;
    programs_->take_news();
  }
  int64_t look(uint64_t at_ns) override {
    const GroupKeeper::Next next = keeper_.look(at_ns);
    if (!next.unless_started) return next.wait_ns;
    programs_->ask_for_news();
    // What has started between the two would not be told of.
    return keeper_.look(at_ns).wait_ns;
  }

  Counters counters() const override {
    Counters counters = programs_->counters();
    counters[NIC_OPERATIONS] += keeper_.found_operations();
    counters[NIC_ASKED] += keeper_.asked();
    counters[NIC_RESENT] += keeper_.repeated();
    return counters;
  }
  std::vector<GroupReport> groups() const override { return keeper_.report(); }

 private:
  struct Slot {
    nic_slot kernel = {};
    uint32_t members = 0;  // these two: taken of the pools
    uint32_t operands = 0;
    nic_page* page = nullptr;
    nic_doorbell doorbell = {};
    Descriptor multicast;
    bool has_id = false;
  };

  // In the pool: the members, and one that stands for all of them.
  static uint32_t entries_of(const JoinRequest& request) { return static_cast<uint32_t>(request.members.size()) + 1; }

  static uint32_t operands_of(const JoinRequest& request) { return uint32_t{NIC_WINDOW} * request.group.operands; }

  Result<Lent> lend(uint32_t number, uint32_t first, const JoinRequest& request) {
    Slot& slot = slots_[number];
    nic_slot& kernel = slot.kernel;
    kernel.group = request.group;
    kernel.group.unexpected = options_.unexpected;
    kernel.first_member = first;
    kernel.interface = static_cast<uint32_t>(options_.interface.index);
    std::memcpy(kernel.mac, options_.interface.mac.data(), sizeof kernel.mac);
    kernel.port = htons(options_.port);
    kernel.ip = options_.interface.ip;
    slot.members = entries_of(request);
    members_.take(first, slot.members);
    HOCKET_TRY(set_members(first, request));
    HOCKET_TRY(set_multicast(slot, request));
    Lent lent;
    lent.group = number;
    HOCKET_TRY(make_wakeup_socket(kernel, request.user, lent));
    HOCKET_TRY(make_page(number, lent));
    std::memset(&programs_->state(number), 0, sizeof(nic_state));
    // Programs of a job's own making may send what has not come: that must not be what others have left.
    if (slot.operands != 0)
      std::memset(&programs_->operand(kernel.first_operand), 0, slot.operands * sizeof(nic_operand));
    HOCKET_TRY(programs_->set_slot(number, kernel));
    HOCKET_TRY(make_doorbell(number, request, lent));
    // Last: from now on packets are taken.
    HOCKET_TRY(programs_->set_id(kernel.group.id, number));
    slot.has_id = true;
    return lent;
  }

  // Looks for all peers before it says that one isn't known yet. Others' machines aren't looked for: there may be
  // thousands, and a kernel's table of neighbours is limited.
  Status set_members(uint32_t first, const JoinRequest& request) {
    const std::vector<bool> peers = peers_of(request.group);
    Status unknown;
    for (size_t i = 0; i < request.members.size(); ++i) {
      nic_member& member = programs_->member(first + static_cast<uint32_t>(i));
      member = {};
      const nic_peer& peer = request.members[i];
      if (i == request.group.self) continue;
      set_address(member, peer);
      if (!peers[i]) continue;
      Result<std::array<uint8_t, 6>> hop = next_hop(options_.interface, peer.ip);
      if (!hop.is_ok() && hop.status().code() != Code::kInProgress) return hop.take_status();
      if (!hop.is_ok()) {
        if (unknown.is_ok()) unknown = hop.take_status();
        continue;
      }
      set_hop(member, hop.value());
    }
    return unknown;
  }

  static void set_hop(nic_member& member, const std::array<uint8_t, 6>& mac) {
    std::memcpy(member.mac, mac.data(), sizeof member.mac);
    member.is_peer = 1;
  }
  void set_address(nic_member& member, const nic_peer& peer) const {
    member.ip = peer.ip;
    member.port = peer.port;
    member.ip_check = ip_checksum(options_.interface.ip, peer.ip);
  }

  Status set_multicast(Slot& slot, const JoinRequest& request) {
    nic_member& all = programs_->member(slot.kernel.first_member + request.group.size);
    all = {};
    if (!needs_multicast(request.group)) return Status::ok();
    const nic_peer address = {multicast_ip(request.group.id), htons(options_.port), 0};
    set_address(all, address);
    set_hop(all, multicast_mac(address.ip));
    Result<Descriptor> joined = join_multicast(options_.interface, address.ip, address.port);
    if (!joined.is_ok()) return joined.take_status();
    slot.multicast = joined.take();
    return Status::ok();
  }

  Status make_wakeup_socket(nic_slot& kernel, uint32_t user, Lent& lent) const {
    Result<Descriptor> wakeup_socket = bound_socket(options_.interface.ip, 0);
    if (!wakeup_socket.is_ok()) return wakeup_socket.take_status();
    HOCKET_TRY(hand_over(wakeup_socket.value(), user));
    sockaddr_in address{};
    socklen_t length = sizeof address;
    if (getsockname(wakeup_socket.value().get(), reinterpret_cast<sockaddr*>(&address), &length) != 0)
      return Status::system("can't find the port of a socket", errno);
    kernel.wakeup_port = address.sin_port;
    lent.wakeup_socket = wakeup_socket.take();
    return Status::ok();
  }

  Status make_page(uint32_t number, Lent& lent) {
    Result<Descriptor> page = programs_->take_page(number, [this](uint32_t slot) { return keeper_.is_free(slot); });
    if (!page.is_ok()) return page.take_status();
    void* memory = mmap(nullptr, sizeof(nic_page), PROT_READ | PROT_WRITE, MAP_SHARED, page.value().get(), 0);
    if (memory == MAP_FAILED) return Status::system("can't map a page of the NIC engine", errno);
    slots_[number].page = static_cast<nic_page*>(memory);
    lent.page = page.take();
    return Status::ok();
  }

  // A socket whose packets are taken for rings. Raw packets cost half of what UDP does, and are for users that may send
  // them anyway. They get one socket for all of their groups: closing it takes some 20 ms. UDP's can't be shared, since
  // each has a peer that must be there.
  Status make_doorbell(uint32_t number, const JoinRequest& request, Lent& lent) {
    const nic_member& other = any_peer(slots_[number].kernel.first_member, request.group);
    const uint64_t known = request.is_privileged ? request.doorbell_cookie : 0;
    if (request.is_privileged) {
      lent.ring = raw_ring(options_.interface, options_.port, other.mac);
      lent.words_at = NIC_BEFORE_HEADER;
    } else {
      lent.ring.assign(NIC_HEADER_BYTES, std::byte{0});
    }
    if (known == 0) {
      Result<Descriptor> doorbell = request.is_privileged
                                        ? make_raw_doorbell(options_.interface)
                                        : make_udp_doorbell(options_.interface.ip, peer_of(other), request.user);
      if (!doorbell.is_ok()) return doorbell.take_status();
      lent.doorbell = doorbell.take();
    }
    Result<uint64_t> socket = known != 0 ? Result<uint64_t>(known) : cookie_of(lent.doorbell);
    if (!socket.is_ok()) return socket.take_status();
    if (request.is_privileged) lent.doorbell_cookie = socket.value();
    const nic_doorbell doorbell = {socket.value(), number};
    HOCKET_TRY(programs_->set_doorbell(doorbell));
    slots_[number].doorbell = doorbell;
    return Status::ok();
  }

  nic_peer peer_of(const nic_member& member) const { return {member.ip, htons(options_.port), 0}; }

  // A member that a packet could go to; if there is none, any other member.
  const nic_member& any_peer(uint32_t first, const nic_group& group) const {
    for (uint32_t member = 0; member < group.size; ++member)
      if (programs_->member(first + member).is_peer != 0) return programs_->member(first + member);
    return programs_->member(first + (group.self == 0 ? 1 : 0));
  }

  void hang_up(uint32_t number) {
    if (number >= slots_.size() || slots_[number].doorbell.socket == 0) return;
    programs_->forget_doorbell(std::exchange(slots_[number].doorbell, {}));
  }

  void forget(uint32_t number) {
    Slot& slot = slots_[number];
    hang_up(number);
    if (slot.has_id) programs_->forget_id(slot.kernel.group.id);
    if (slot.page != nullptr) munmap(slot.page, sizeof *slot.page);
    members_.give_back(slot.kernel.first_member, slot.members);
    operands_.give_back(slot.kernel.first_operand, slot.operands);
    slot = Slot();
  }

  void send(uint32_t number, const nic_message& message, const nic_operand& operand) {
    const nic_slot& slot = slots_[number].kernel;
    const nic_member& member = programs_->member(slot.first_member + message.target);
    struct {
      __u64 words[NIC_WORDS + 1];
      nic_operand operand;
    } packet;
    nic_write(&message, nic_tag(&slot.group.key, &message, &operand), packet.words);
    const size_t bytes = sizeof(uint64_t) * message.carried;
    if (bytes != 0) std::memcpy(&packet.operand, &operand, bytes);
    const sockaddr_in address = socket_address(member.ip, member.port);
    (void)sendto(socket_.get(), &packet, NIC_HEADER_BYTES + bytes, MSG_DONTWAIT,
                 reinterpret_cast<const sockaddr*>(&address), sizeof address);
  }

  EngineOptions options_;
  std::unique_ptr<KernelPrograms> programs_;
  Descriptor socket_;
  std::vector<Slot> slots_;
  Pool members_{NIC_MEMBER_POOL};
  Pool operands_{NIC_OPERAND_POOL};
  GroupKeeper keeper_;
};

}  // namespace

Result<std::unique_ptr<Engine>> make_kernel_engine(const EngineOptions& options) {
  Result<Descriptor> socket = bound_socket(options.interface.ip, htons(options.port));
  if (!socket.is_ok()) return socket.take_status();
  Result<std::unique_ptr<KernelPrograms>> programs =
      KernelPrograms::load(options.interface, options.port, options.hook);
  if (!programs.is_ok()) return programs.take_status();
  return std::unique_ptr<Engine>(std::make_unique<KernelEngine>(options, programs.take(), socket.take()));
}

#else

Result<std::unique_ptr<Engine>> make_kernel_engine(const EngineOptions&) {
  return Status(Code::kNotSupported,
                "this hocket was built without BPF programs: install clang-19 and libbpf-dev, then configure and build "
                "anew; or `hocket nic agent`, which needs neither them nor root");
}

#endif

}  // namespace hocket::nic
