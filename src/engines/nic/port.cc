// SPDX-License-Identifier: BSD-3-Clause
#include "engines/nic/port.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <fstream>
#include <optional>

#include "protocol/machine.h"

namespace hocket::engines::nic {
namespace {

using platform::Descriptor;

// How often, and how long each time, it is waited for until a doorbell takes a ring.
constexpr int kMostTries = 5;
constexpr int kTryMs = 2;
constexpr size_t kLongestReport = 128 << 10;

}  // namespace

std::vector<std::string> interfaces_with_service() {
  std::vector<std::string> found;
  std::ifstream sockets("/proc/self/net/unix");
  const std::string wanted = std::string("@") + NIC_SERVICE_NAME;
  for (std::string line; std::getline(sockets, line);) {
    const size_t at = line.find(wanted);
    if (at == std::string::npos) continue;
    const std::string name = line.substr(at + wanted.size());
    // The list contains connections as well as listeners.
    if (std::find(found.begin(), found.end(), name) == found.end()) found.push_back(name);
  }
  std::sort(found.begin(), found.end());
  return found;
}

namespace {

// To the only one that may be joined.
Result<ServiceClient> find_service() {
  // Others' don't count: anybody could take a name.
  std::optional<ServiceClient> only;
  Status refused(Code::kNotSupported, "no NIC engine runs on this machine: `hocket nic up INTERFACE` as root");
  for (const std::string& name : interfaces_with_service()) {
    Result<ServiceClient> service = ServiceClient::connect(name);
    Status status = service.is_ok() ? service.value().check_keeper() : service.take_status();
    if (!status.is_ok()) {
      refused = std::move(status);
      continue;
    }
    if (only)
      return Status(Code::kInvalidArgument,
                    "NIC engines serve " + only->interface() + " and " + name + ": name one by HOCKET_NIC_INTERFACE");
    only = service.take();
  }
  if (!only) return refused;
  return std::move(*only);
}

}  // namespace

Result<std::unique_ptr<NicPort>> NicPort::open(const std::string& interface) {
  Result<ServiceClient> service = interface.empty() ? find_service() : ServiceClient::connect(interface);
  if (!service.is_ok()) return service.take_status();
  if (!interface.empty()) HOCKET_TRY(service.value().check_keeper());
  Result<nic_hello> hello = service.value().greet();
  if (!hello.is_ok()) return hello.take_status();
  std::unique_ptr<NicPort> port(new NicPort(service.take()));
  port->engine_.assign(hello.value().engine, strnlen(hello.value().engine, sizeof hello.value().engine));
  port->address_ = {hello.value().ip, hello.value().port};
  return port;
}

Result<std::unique_ptr<NicPort>> NicPort::open_any(const std::string& interface) {
  Result<ServiceClient> service = ServiceClient::connect(interface);
  if (!service.is_ok()) return service.take_status();
  return std::unique_ptr<NicPort>(new NicPort(service.take()));
}

Result<std::string> NicPort::report() {
  const nic_request request = {NIC_SERVICE_VERSION, NIC_REQUEST_STATUS};
  std::string text(kLongestReport, ' ');
  Result<size_t> length = service_.exchange(bytes_of(request), std::as_writable_bytes(std::span(text)));
  if (!length.is_ok()) return length.take_status();
  nic_answer refusal{};
  if (length.value() == sizeof refusal && text[0] != '{') {
    std::memcpy(&refusal, text.data(), sizeof refusal);
    HOCKET_TRY(out_of(refusal));
  }
  text.resize(length.value());
  return text;
}

Status NicPort::end_service() {
  const nic_request request = {NIC_SERVICE_VERSION, NIC_REQUEST_DOWN};
  nic_answer answer{};
  // Of another version as well: its answers begin alike.
  Result<size_t> length = service_.exchange(bytes_of(request), writable_bytes_of(answer));
  if (!length.is_ok()) return length.take_status();
  answer.version = NIC_SERVICE_VERSION;
  HOCKET_TRY(out_of(answer));
  service_.wait_for_end();
  return Status::ok();
}

Result<std::unique_ptr<NicGroup>> NicPort::join(const GroupDescription& description) {
  Result<ServiceClient::Joined> answered = service_.join(description, doorbell_ != nullptr);
  if (!answered.is_ok()) return answered.take_status();
  ServiceClient::Joined joined = answered.take();
  const nic_joined& answer = joined.answer;
  // Whatever goes wrong from here on, the group is left.
  std::unique_ptr<NicGroup> group(new NicGroup(*this, answer.group));
  std::shared_ptr<const Descriptor> doorbell = answer.is_shared != 0 ? doorbell_ : nullptr;
  if (joined.doorbell.get() >= 0) doorbell = std::make_shared<const Descriptor>(std::move(joined.doorbell));
  if (joined.page.get() < 0 || joined.wakeup_socket.get() < 0 || doorbell == nullptr)
    return Status(Code::kSystem, "this process has no room for the three files that are a NIC group: `ulimit -n`");
  if (answer.is_shared != 0) doorbell_ = doorbell;
  HOCKET_TRY(group->map(joined.page));
  group->members_ = description.members;
  group->wakeup_socket_ = std::move(joined.wakeup_socket);
  group->doorbell_ = std::move(doorbell);
  group->words_at_ = answer.words_at;
  HOCKET_TRY(joined.check_packet());
  for (NicGroup::Ring& ring : group->rings_) std::memcpy(ring.bytes.data(), answer.doorbell, answer.doorbell_bytes);
  group->synchronizing_ = description.synchronizing;
  return group;
}

NicGroup::~NicGroup() {
  if (!has_left_) (void)leave(false);
  if (page_ != nullptr) munmap(page_, sizeof *page_);
}

bool NicGroup::leave(bool is_failure) {
  const nic_leave leave = {{NIC_SERVICE_VERSION, NIC_REQUEST_LEAVE}, number_, is_failure ? 1U : 0U};
  has_left_ = port_.service_.tell(bytes_of(leave));
  return has_left_;
}

bool NicGroup::abandon() { return has_left_ || leave(true); }

Status NicGroup::map(const Descriptor& page) {
  void* memory = mmap(nullptr, sizeof *page_, PROT_READ | PROT_WRITE, MAP_SHARED, page.get(), 0);
  if (memory == MAP_FAILED) return Status::system("can't map the NIC engine's page", errno);
  page_ = static_cast<nic_page*>(memory);
  return Status::ok();
}

Status NicGroup::start(const NicCall& call) {
  if (started_ - done() >= NIC_IN_FLIGHT)
    return {Code::kInvalidArgument, "there are " + std::to_string(NIC_IN_FLIGHT) + " operations under way already"};
  // Operations begin in their order: what was not heard comes first.
  if (is_ring_refused_) HOCKET_TRY(ring_again());
  ++started_;
  write_ring(call);
  return is_ring_refused_ ? Status::ok() : ring(ring_of(started_));
}

void NicGroup::write_ring(const NicCall& call) {
  const bool synchronizes = started_ % NIC_SYNCHRONIZES == 0 && call.program < synchronizing_.size();
  nic_message m{};
  m.group = number_;
  m.epoch = started_;
  m.root = static_cast<uint16_t>(call.root);
  m.words = call.words;
  m.operation = call.operation;
  m.type = call.type;
  m.kind = NIC_DOORBELL;
  m.program = static_cast<uint8_t>(synchronizes ? synchronizing_[call.program] : call.program);
  m.carried = call.operand != nullptr ? call.words : 0;
  __u64 words[NIC_WORDS + 1];
  nic_write(&m, 0, words);
  Ring& ring = ring_of(started_);
  std::byte* at = ring.bytes.data() + words_at_;
  std::memcpy(at, words, sizeof words);
  const size_t bytes = m.carried * sizeof(uint64_t);
  if (bytes != 0) std::memcpy(at + sizeof words, call.operand, bytes);
  ring.length = words_at_ + sizeof words + bytes;
}

Status NicGroup::ring_again() {
  is_ring_refused_ = false;
  for (uint64_t operation = done() + 1; operation <= started_ && !is_ring_refused_; ++operation)
    HOCKET_TRY(ring(ring_of(operation)));
  return Status::ok();
}

Status NicGroup::ring(const Ring& ring) {
  for (int tries = 0; send(doorbell_->get(), ring.bytes.data(), ring.length, MSG_NOSIGNAL) < 0; ++tries) {
    // ENOBUFS: the engine has kept the packet, as it does where nothing goes out.
    if (errno == ENOBUFS) break;
    if (errno == EINTR) continue;
    if (errno != EAGAIN) return Status::system("the NIC engine's doorbell doesn't ring", errno);
    // An engine that doesn't listen now is rung again later: ring_again().
    is_ring_refused_ = tries >= kMostTries;
    if (is_ring_refused_) break;
    pollfd doorbell = {doorbell_->get(), POLLOUT, 0};
    (void)poll(&doorbell, 1, kTryMs);
  }
  return Status::ok();
}

uint32_t NicGroup::culprit() const {
  const uint64_t broken = std::atomic_ref(page_->broken).load(std::memory_order_relaxed);
  return broken == 0 ? ~uint32_t{0} : static_cast<uint32_t>(broken >> 8);
}

Status NicGroup::health() const {
  const uint64_t broken = std::atomic_ref(page_->broken).load(std::memory_order_relaxed);
  if (broken == 0) {
    if (!port_.service_.has_ended()) return Status::ok();
    return {Code::kPeerFailed, "the NIC engine's service of this machine has ended"};
  }
  const uint64_t number = broken >> 8;
  std::string member = "member " + std::to_string(number);
  if (number < members_.size()) {
    const in_addr ip = {members_[number].ip};
    std::array<char, INET_ADDRSTRLEN> text{};
    member += std::string(" (") + inet_ntop(AF_INET, &ip, text.data(), text.size()) + ")";
  }
  switch (broken & 0xff) {
    case NIC_CAUSE_SILENT:
      return {Code::kPeerFailed, "the NIC engine of " + member + " has given no sign of life"};
    case NIC_CAUSE_LEFT:
      return {Code::kPeerFailed, member + " of the NIC engine's group has ended"};
    case NIC_CAUSE_LOST:
      return {Code::kPeerFailed,
              "a message of " + member + " was lost; the NIC engine's chain takes the wire for one that loses none"};
    default:
      return {Code::kMismatch, member + " takes part in another collective than the others"};
  }
}

bool NicGroup::sleep(uint64_t seen, int64_t limit_ns) {
  std::atomic_ref sleeps(page_->sleeps);
  // memory_order_seq_cst, as of the engine's addition to `done` before its look at `sleeps`: one of the two sees the
  // other.
  sleeps.store(1, std::memory_order_seq_cst);
  if (std::atomic_ref(page_->done).load(std::memory_order_seq_cst) == seen) {
    pollfd wakeup_socket = {wakeup_socket_.get(), POLLIN, 0};
    const timespec limit = {limit_ns / 1'000'000'000, limit_ns % 1'000'000'000};
    (void)ppoll(&wakeup_socket, 1, &limit, nullptr);
  }
  // Relaxed: an engine that still sees 1 sends a packet too many, which ends a later sleep early and nothing more.
  sleeps.store(0, std::memory_order_relaxed);
  char drained[NIC_MOST_DOORBELL_BYTES];
  while (recv(wakeup_socket_.get(), drained, sizeof drained, MSG_DONTWAIT) > 0) continue;
  return done() != seen;
}

}  // namespace hocket::engines::nic
