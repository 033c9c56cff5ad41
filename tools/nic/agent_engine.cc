// SPDX-License-Identifier: BSD-3-Clause
#include "nic/agent_engine.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "nic/group_keeper.h"
#include "nic/multicast.h"
#include "platform/memory/memory_file.h"

namespace hocket::nic {
namespace {

using platform::Descriptor;

// Packets and rings that are taken before the loop looks at anything else.
constexpr int kMostPacketsAtOnce = 256;
constexpr uint64_t kWire = ~uint64_t{0};            // in epoll's data: the socket; else a group's doorbell, or
constexpr uint64_t kMulticast = uint64_t{1} << 32;  // beside the group: what comes for all of its members

struct Packet {
  __u64 words[NIC_WORDS + 1];
  nic_operand operand;
  __u64 too_long;  // so that it shows
};

bool is_length(ssize_t bytes) {
  return bytes >= NIC_HEADER_BYTES && bytes <= NIC_MOST_PACKET_BYTES && bytes % sizeof(uint64_t) == 0;
}
uint32_t words_beside(ssize_t bytes) { return static_cast<uint32_t>(bytes - NIC_HEADER_BYTES) / sizeof(uint64_t); }

class AgentEngine final : public Engine {
 public:
  AgentEngine(const EngineOptions& options, Descriptor socket, Descriptor poll)
      : options_(options),
        socket_(std::move(socket)),
        poll_(std::move(poll)),
        slots_(NIC_MOST_GROUPS),
        keeper_(
            NIC_MOST_GROUPS, options.backoff,
            [this](uint32_t group, const nic_message& message, const nic_operand& operand) {
              send(*slots_[group], message, &operand);
            },
            [this](uint32_t group) { forget(group); }) {}

  const char* kind() const override { return "agent"; }
  std::string place() const override { return "a process that works over UDP: no root, no programs in the kernel"; }
  const std::string& interface() const override { return options_.name; }
  nic_peer address() const override { return {options_.interface.ip, htons(options_.port), 0}; }
  uint32_t free_groups() const override { return keeper_.free_groups(); }

  Result<Lent> join(const JoinRequest& request) override {
    const int64_t number = keeper_.find_free();
    if (number < 0)
      return Status(Code::kNoMemory, "the NIC engine is full: it has " + std::to_string(NIC_MOST_GROUPS) +
                                         " groups, those left in the last seconds among them");
    if (ids_.contains(request.group.id))
      return Status(Code::kInvalidArgument, "the NIC engine has a group of that id already");
    auto slot = std::make_unique<Slot>();
    slot->group = request.group;
    slot->group.unexpected = options_.unexpected;
    slot->operands.resize(size_t{NIC_WINDOW} * request.group.operands);
    slot->members = request.members;
    slot->signs_of_life.resize(request.members.size());
    Lent lent;
    lent.group = static_cast<uint32_t>(number);
    HOCKET_TRY(make_page(*slot, lent));
    HOCKET_TRY(make_doorbell(*slot, lent));
    HOCKET_TRY(open_multicast(*slot, lent.group));
    ids_[request.group.id] = lent.group;
    const GroupMemory memory = {&slot->group,    &slot->state, slot->page, slot->memory(), slot->signs_of_life.data(),
                                sizeof(uint32_t)};
    keeper_.add(lent.group, memory, request.silence_ns, request.user);
    slots_[lent.group] = std::move(slot);
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

  std::vector<int> sources() const override { return {poll_.get()}; }

  void work() override {
    std::array<epoll_event, 64> events;
    const int ready = epoll_wait(poll_.get(), events.data(), events.size(), 0);
    for (int i = 0; i < ready; ++i) {
      const uint64_t what = events[static_cast<size_t>(i)].data.u64;
      if (what == kWire) {
        take_packets(socket_);
      } else if ((what & kMulticast) != 0) {
        const Slot* slot = slots_[static_cast<uint32_t>(what)].get();
        if (slot != nullptr) take_packets(slot->multicast);
      } else {
        take_rings(static_cast<uint32_t>(what));
      }
    }
  }

  // Whatever begins comes by here.
  int64_t look(uint64_t at_ns) override { return keeper_.look(at_ns).wait_ns; }

  Counters counters() const override {
    Counters counters = counters_;
    counters[NIC_OPERATIONS] += keeper_.found_operations();
    counters[NIC_ASKED] += keeper_.asked();
    counters[NIC_RESENT] += keeper_.repeated();
    return counters;
  }
  std::vector<GroupReport> groups() const override { return keeper_.report(); }

 private:
  struct Slot {
    nic_group group = {};
    nic_state state = {};
    nic_page* page = nullptr;
    std::vector<nic_peer> members;
    std::vector<uint32_t> signs_of_life;
    std::vector<nic_operand> operands;
    Descriptor doorbell;  // our end
    Descriptor multicast;

    uint64_t memory() const { return reinterpret_cast<uintptr_t>(operands.data()); }

    ~Slot() {
      if (page != nullptr) munmap(page, sizeof *page);
    }
  };

  static Status make_page(Slot& slot, Lent& lent) {
    Result<int> file = platform::create_memory_file();
    if (!file.is_ok()) return file.take_status();
    lent.page = Descriptor(file.value());
    HOCKET_TRY(platform::extend_file(lent.page.get(), 0, sizeof(nic_page)));
    // The job has the descriptor: cut short, the file would kill this process; made long, it would outlive the job.
    if (fcntl(lent.page.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
      return Status::system("can't fix the size of a page of the NIC engine", errno);
    void* memory = mmap(nullptr, sizeof(nic_page), PROT_READ | PROT_WRITE, MAP_SHARED, lent.page.get(), 0);
    if (memory == MAP_FAILED) return Status::system("can't map a page of the NIC engine", errno);
    slot.page = static_cast<nic_page*>(memory);
    return Status::ok();
  }

  // A pair of sockets: rings one way, wake-ups the other.
  Status make_doorbell(Slot& slot, Lent& lent) const {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0)
      return Status::system("can't make a doorbell", errno);
    slot.doorbell = Descriptor(ends[0]);
    lent.doorbell = Descriptor(ends[1]);
    lent.wakeup_socket = Descriptor(fcntl(ends[1], F_DUPFD_CLOEXEC, 0));
    if (lent.wakeup_socket.get() < 0) return Status::system("can't make a doorbell", errno);
    lent.ring.assign(NIC_HEADER_BYTES, std::byte{0});
    return watch(slot.doorbell, lent.group);
  }

  Status open_multicast(Slot& slot, uint32_t group) const {
    if (!needs_multicast(slot.group)) return Status::ok();
    const uint32_t ip = multicast_ip(slot.group.id);
    Result<Descriptor> socket = join_multicast(options_.interface, ip, htons(options_.port));
    if (!socket.is_ok()) return socket.take_status();
    slot.multicast = socket.take();
    return watch(slot.multicast, kMulticast | group);
  }

  Status watch(const Descriptor& descriptor, uint64_t what) const {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = what;
    if (epoll_ctl(poll_.get(), EPOLL_CTL_ADD, descriptor.get(), &event) == 0) return Status::ok();
    return Status::system("can't wait for packets", errno);
  }

  void hang_up(uint32_t group) {
    if (group < slots_.size() && slots_[group] != nullptr) slots_[group]->doorbell.reset();
  }
  void forget(uint32_t group) {
    ids_.erase(slots_[group]->group.id);
    slots_[group].reset();
  }

  void count(uint32_t counter, uint64_t many = 1) { counters_[counter] += many; }

  void take_packets(const Descriptor& socket) {
    Packet packet;
    for (int i = 0; i < kMostPacketsAtOnce; ++i) {
      const ssize_t length = recv(socket.get(), &packet, sizeof packet, MSG_DONTWAIT);
      if (length < 0) return;
      if (!is_length(length)) {
        count(NIC_BAD_LENGTH);
        continue;
      }
      nic_message message{};
      const uint64_t tag = nic_read(packet.words, words_beside(length), &message);
      if (message.kind != 0) take_packet(message, packet.operand, tag);
    }
  }

  void take_packet(const nic_message& message, const nic_operand& operand, uint64_t tag) {
    const auto found = ids_.find(message.group);
    if (found == ids_.end()) return count(NIC_NO_GROUP);
    Slot& slot = *slots_[found->second];
    if (nic_tag(&slot.group.key, &message, &operand) != tag) return count(NIC_BAD_TAG);
    if (nic_is_sign_of_life(&slot.group, &slot.state, &message) != 0) ++slot.signs_of_life[message.source];
    nic_hear(&slot.group, &slot.state, &message, now_ns());
    const nic_outcome outcome = nic_take(&slot.group, &slot.state, slot.memory(), &message, &operand);
    count(outcome.verdict);
    if (outcome.waits != 0) count(NIC_KEPT);
    act(slot, outcome, message);
    if (outcome.reply == 0) return;
    count(NIC_REPLIED);
    send(slot, nic_replied(&slot.group, &slot.state, outcome.reply, &message));
  }

  void take_rings(uint32_t group) {
    Slot* slot = slots_[group].get();
    if (slot == nullptr || slot->doorbell.get() < 0) return;
    Packet packet;
    for (int i = 0; i < kMostPacketsAtOnce; ++i) {
      const ssize_t length = recv(slot->doorbell.get(), &packet, sizeof packet, MSG_DONTWAIT);
      if (!is_length(length)) return;
      nic_message message{};
      (void)nic_read(packet.words, words_beside(length), &message);
      if (message.kind != NIC_DOORBELL || message.group != group) {
        count(message.kind != NIC_DOORBELL ? uint32_t{NIC_UNKNOWN_KIND} : uint32_t{NIC_NO_GROUP});
        continue;
      }
      const nic_outcome outcome = nic_start(&slot->group, &slot->state, slot->memory(), &message, &packet.operand);
      count(outcome.verdict == NIC_TAKEN ? uint32_t{NIC_DOORBELLS} : uint32_t{outcome.verdict});
      act(*slot, outcome, message);
    }
  }

  void act(Slot& slot, const nic_outcome& outcome, const nic_message& message) {
    for (uint32_t number = outcome.first_send; number < outcome.end_send; ++number) {
      nic_message sent;
      nic_operand operand;
      if (nic_following(&slot.group, &message, &outcome, number, &sent) != 0 &&
          nic_carry(&slot.group, &slot.state, slot.memory(), &sent, outcome.call, &operand) != 0)
        send(slot, sent, &operand);
    }
    count(outcome.repeats != 0 ? NIC_RESENT : NIC_SENT, outcome.end_send - outcome.first_send);
    const uint64_t broken = nic_load(&slot.state.broken);
    // Relaxed: the word says all. Partner: NicGroup::is_broken().
    if (broken != 0) __atomic_store_n(&slot.page->broken, broken, __ATOMIC_RELAXED);
    const uint32_t completed = outcome.completed + publish(slot, outcome, message);
    if (completed == 0) return;
    count(NIC_OPERATIONS, completed);
    // Sequentially consistent, both: pairs with NicGroup::sleep(), which sets `sleeps` and then looks at `done`.
    (void)__atomic_fetch_add(&slot.page->done, completed, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&slot.page->sleeps, __ATOMIC_SEQ_CST) == 0 || slot.doorbell.get() < 0) return;
    count(NIC_WOKEN);
    (void)::send(slot.doorbell.get(), "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
  }

  // Gives the host the result of an operation, if the outcome wants that. Worked out elsewhere than in the page, which
  // the job may write.
  static uint32_t publish(Slot& slot, const nic_outcome& outcome, const nic_message& cause) {
    nic_operand result;
    if (outcome.publishes == 0 ||
        nic_result(&slot.group, &slot.state, slot.memory(), cause.program, cause.epoch, outcome.call, &result) == 0)
      return 0;
    const size_t bytes = sizeof(uint64_t) * nic_call_words(outcome.call);
    std::memcpy(&slot.page->result[cause.epoch % NIC_IN_FLIGHT], &result, bytes);
    return nic_published(&slot.group, &slot.state, cause.program, cause.epoch);
  }

  // `operand`: what the message carries.
  void send(const Slot& slot, const nic_message& message, const nic_operand* operand = nullptr) {
    Packet packet;
    nic_write(&message, nic_tag(&slot.group.key, &message, operand), packet.words);
    const size_t bytes = sizeof(uint64_t) * message.carried;
    if (bytes != 0) std::memcpy(&packet.operand, operand, bytes);
    const nic_peer member = message.target != NIC_ALL ? slot.members[message.target]
                                                      : nic_peer{multicast_ip(slot.group.id), htons(options_.port), 0};
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = member.ip;
    address.sin_port = member.port;
    if (sendto(socket_.get(), &packet, NIC_HEADER_BYTES + bytes, MSG_DONTWAIT,
               reinterpret_cast<const sockaddr*>(&address), sizeof address) < 0)
      count(NIC_NO_ROOM);
  }

  EngineOptions options_;
  Descriptor socket_;
  Descriptor poll_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::unordered_map<uint64_t, uint32_t> ids_;
  Counters counters_ = {};
  GroupKeeper keeper_;
};

}  // namespace

Result<std::unique_ptr<Engine>> make_agent_engine(const EngineOptions& options) {
  Descriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  Descriptor poll(epoll_create1(EPOLL_CLOEXEC));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = options.interface.ip;
  address.sin_port = htons(options.port);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = kWire;
  if (bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return Status::system("can't take UDP port " + std::to_string(options.port), errno);
  // What goes to all members goes out by the interface, and not back in here.
  ip_mreqn out{};
  out.imr_ifindex = options.interface.index;
  const int no = 0;
  if (setsockopt(socket.get(), IPPROTO_IP, IP_MULTICAST_IF, &out, sizeof out) != 0 ||
      setsockopt(socket.get(), IPPROTO_IP, IP_MULTICAST_LOOP, &no, sizeof no) != 0)
    return Status::system("can't make a socket for multicast", errno);
  if (epoll_ctl(poll.get(), EPOLL_CTL_ADD, socket.get(), &event) != 0)
    return Status::system("can't wait for packets", errno);
  return std::unique_ptr<Engine>(std::make_unique<AgentEngine>(options, std::move(socket), std::move(poll)));
}

}  // namespace hocket::nic
