// SPDX-License-Identifier: BSD-3-Clause
#include "engines/nic/port.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <fstream>

#include "platform/bootstrap/passed_descriptors.h"
#include "protocol/machine.h"

namespace hocket::engines::nic {
namespace {

using platform::Descriptor;

// A service that says nothing for so long is taken for dead.
constexpr timeval kServiceTimeout = {.tv_sec = 10, .tv_usec = 0};
// A service that first has to find the members' machines says so at once; it is asked again so often.
constexpr int kMostRequests = 100;
constexpr timespec kBetweenRequests = {.tv_sec = 0, .tv_nsec = 10'000'000};
// How often, and how long each time, it is waited for until a doorbell takes a ring.
constexpr int kMostTries = 5;
constexpr int kTryMs = 2;
constexpr size_t kMostDescriptors = 3;  // descriptors of one answer
constexpr size_t kLongestReport = 128 << 10;

template <typename T>
std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}
template <typename T>
std::span<std::byte> writable_bytes_of(T& value) {
  return std::as_writable_bytes(std::span(&value, 1));
}

Status connect_by_name(const Descriptor& socket, const std::string& interface) {
  const std::string name = NIC_SERVICE_NAME + interface;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (name.size() + 1 > sizeof address.sun_path)
    return {Code::kInvalidArgument, "`" + interface + "` is too long for the name of an interface"};
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), length) == 0) return Status::ok();
  if (errno == ECONNREFUSED)
    return {Code::kNotSupported, "no NIC engine serves " + interface + ": `hocket nic up " + interface +
                                     "` as root starts one (HOCKET_NIC_INTERFACE names the interface to use)"};
  return Status::system("can't reach the NIC engine of " + interface, errno);
}

Status out_of(const nic_answer& answer) {
  if (answer.version != NIC_SERVICE_VERSION)
    return {Code::kNotSupported, "the NIC engine's service speaks version " + std::to_string(answer.version) +
                                     ", this library " + std::to_string(NIC_SERVICE_VERSION) +
                                     "; `hocket nic down`, then up again by this version's hocket"};
  if (answer.error == 0) return Status::ok();
  const std::string text(answer.text, strnlen(answer.text, sizeof answer.text));
  return {answer.error == ENOMEM ? Code::kNoMemory : Code::kNotSupported, text};
}

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

Result<std::unique_ptr<NicPort>> NicPort::open(const std::string& interface) {
  if (!interface.empty()) {
    Result<std::unique_ptr<NicPort>> port = connect_to(interface);
    if (!port.is_ok()) return port;
    HOCKET_TRY(port.value()->check_keeper());
    HOCKET_TRY(port.value()->greet());
    return port;
  }
  // Others' don't count: anybody could take a name.
  std::unique_ptr<NicPort> only;
  Status refused(Code::kNotSupported, "no NIC engine runs on this machine: `hocket nic up INTERFACE` as root");
  for (const std::string& name : interfaces_with_service()) {
    Result<std::unique_ptr<NicPort>> port = connect_to(name);
    Status status = port.is_ok() ? port.value()->check_keeper() : port.take_status();
    if (!status.is_ok()) {
      refused = std::move(status);
      continue;
    }
    if (only != nullptr)
      return Status(Code::kInvalidArgument,
                    "NIC engines serve " + only->interface_ + " and " + name + ": name one by HOCKET_NIC_INTERFACE");
    only = port.take();
  }
  if (only == nullptr) return refused;
  HOCKET_TRY(only->greet());
  return only;
}

Result<std::unique_ptr<NicPort>> NicPort::open_any(const std::string& interface) { return connect_to(interface); }

Result<std::unique_ptr<NicPort>> NicPort::connect_to(const std::string& interface) {
  Descriptor socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (socket.get() < 0) return Status::system("can't make a socket", errno);
  (void)setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &kServiceTimeout, sizeof kServiceTimeout);
  (void)setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &kServiceTimeout, sizeof kServiceTimeout);
  HOCKET_TRY(connect_by_name(socket, interface));
  std::unique_ptr<NicPort> port(new NicPort(std::move(socket)));
  port->interface_ = interface;
  return port;
}

bool NicPort::is_alive() const {
  char nothing = 0;
  return !is_out_of_step_ && recv(socket_.get(), &nothing, sizeof nothing, MSG_DONTWAIT | MSG_PEEK) < 0 &&
         (errno == EAGAIN || errno == EINTR);
}

Status NicPort::check_keeper() const {
  ucred keeper{};
  socklen_t length = sizeof keeper;
  if (getsockopt(socket_.get(), SOL_SOCKET, SO_PEERCRED, &keeper, &length) != 0)
    return Status::system("can't ask whose the NIC engine of " + interface_ + " is", errno);
  if (keeper.uid == 0 || keeper.uid == geteuid()) return Status::ok();
  return {Code::kNotSupported, "the NIC engine of " + interface_ + " is kept by user " + std::to_string(keeper.uid) +
                                   ", who would learn this job's keys: it must be root's or one's own"};
}

Result<size_t> NicPort::exchange(std::span<const std::byte> request, std::span<std::byte> answer,
                                 std::span<Descriptor> descriptors) {
  if (is_out_of_step_)
    return Status(Code::kNotSupported, "the NIC engine's service of " + interface_ + " has left a question unanswered");
  ssize_t length = 0;
  while ((length = send(socket_.get(), request.data(), request.size(), MSG_NOSIGNAL)) < 0 && errno == EINTR) continue;
  // A service that has hung up may have said why.
  if (length < 0 && errno != EPIPE) return Status::system("the NIC engine's service can't be asked", errno);
  platform::RoomForDescriptors<kMostDescriptors> room;
  iovec piece = {answer.data(), answer.size()};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  platform::expect_descriptors(message, room);
  // A signal must not leave the answer to be taken for the next question's.
  while ((length = recvmsg(socket_.get(), &message, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR) continue;
  // The same where it did not wait for the request: the error comes before what it had said.
  if (length < 0 && errno == ECONNRESET) length = recvmsg(socket_.get(), &message, MSG_CMSG_CLOEXEC);
  is_out_of_step_ = length < 0;
  if (length < 0) return Status::system("the NIC engine's service doesn't answer", errno);
  size_t taken = 0;
  platform::take_descriptors(message, [&](Descriptor descriptor) {
    if (taken < descriptors.size()) descriptors[taken++] = std::move(descriptor);
  });
  if (length == 0) return Status(Code::kNotSupported, "the NIC engine's service has ended, or hung up");
  return static_cast<size_t>(length);
}

Status NicPort::ask(std::span<const std::byte> request, std::span<std::byte> answer,
                    std::span<Descriptor> descriptors) {
  Result<size_t> length = exchange(request, answer, descriptors);
  if (!length.is_ok()) return length.take_status();
  // What all versions have: a refusal may be no longer.
  nic_answer head{};
  if (length.value() >= sizeof head) {
    std::memcpy(&head, answer.data(), std::min(sizeof head, answer.size()));
    if (head.error != EAGAIN) HOCKET_TRY(out_of(head));
  }
  if (length.value() == answer.size()) return Status::ok();
  return {Code::kNotSupported, "the NIC engine's service gives an answer of " + std::to_string(length.value()) +
                                   " bytes, not " + std::to_string(answer.size()) + ": of another version?"};
}

Result<std::string> NicPort::report() {
  const nic_request request = {NIC_SERVICE_VERSION, NIC_REQUEST_STATUS};
  std::string text(kLongestReport, ' ');
  Result<size_t> length = exchange(bytes_of(request), std::as_writable_bytes(std::span(text)), {});
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
  Result<size_t> length = exchange(bytes_of(request), writable_bytes_of(answer), {});
  if (!length.is_ok()) return length.take_status();
  answer.version = NIC_SERVICE_VERSION;
  HOCKET_TRY(out_of(answer));
  // The service is gone when no process holds the other end any more.
  char nothing = 0;
  (void)recv(socket_.get(), &nothing, sizeof nothing, 0);
  return Status::ok();
}

Status NicPort::greet() {
  const nic_request request = {NIC_SERVICE_VERSION, NIC_REQUEST_HELLO};
  nic_hello hello{};
  HOCKET_TRY(ask(bytes_of(request), writable_bytes_of(hello), {}));
  engine_.assign(hello.engine, strnlen(hello.engine, sizeof hello.engine));
  interface_.assign(hello.interface, strnlen(hello.interface, sizeof hello.interface));
  address_ = {hello.ip, hello.port};
  return Status::ok();
}

Result<std::unique_ptr<NicGroup>> NicPort::join(const GroupDescription& description) {
  nic_join join{};
  join.request = {NIC_SERVICE_VERSION, NIC_REQUEST_JOIN};
  join.id = description.id;
  join.key = description.key;
  join.silence_ns = description.silence_ns;
  join.self = static_cast<uint16_t>(description.self);
  join.size = static_cast<uint16_t>(description.members.size());
  join.programs = static_cast<uint16_t>(description.programs.size());
  join.has_doorbell = doorbell_ != nullptr;
  std::vector<std::byte> request;
  const auto append = [&](std::span<const std::byte> bytes) {
    request.insert(request.end(), bytes.begin(), bytes.end());
  };
  append(bytes_of(join));
  append(std::as_bytes(std::span(description.programs)));
  for (const Address& member : description.members) append(bytes_of(nic_peer{member.ip, member.port, 0}));

  nic_joined joined{};
  std::array<Descriptor, kMostDescriptors> descriptors;
  HOCKET_TRY(ask(request, writable_bytes_of(joined), descriptors));
  for (int i = 1; i < kMostRequests && joined.answer.error == EAGAIN; ++i) {
    (void)nanosleep(&kBetweenRequests, nullptr);
    HOCKET_TRY(ask(request, writable_bytes_of(joined), descriptors));
  }
  HOCKET_TRY(out_of(joined.answer));
  // Whatever goes wrong from here on, the group is left.
  std::unique_ptr<NicGroup> group(new NicGroup(*this, joined.group));
  std::shared_ptr<const Descriptor> doorbell = joined.is_shared != 0 ? doorbell_ : nullptr;
  if (descriptors[2].get() >= 0) doorbell = std::make_shared<const Descriptor>(std::move(descriptors[2]));
  if (descriptors[0].get() < 0 || descriptors[1].get() < 0 || doorbell == nullptr)
    return Status(Code::kSystem, "this process has no room for the three files that are a NIC group: `ulimit -n`");
  if (joined.is_shared != 0) doorbell_ = doorbell;
  HOCKET_TRY(group->map(descriptors[0]));
  group->members_ = description.members;
  group->wakeup_socket_ = std::move(descriptors[1]);
  group->doorbell_ = std::move(doorbell);
  group->words_at_ = joined.words_at;
  if (group->words_at_ + NIC_HEADER_BYTES != joined.doorbell_bytes || joined.doorbell_bytes > sizeof joined.doorbell)
    return Status(Code::kNotSupported, "the NIC engine's doorbell has another length: of another version?");
  for (NicGroup::Ring& ring : group->rings_) std::memcpy(ring.bytes.data(), joined.doorbell, joined.doorbell_bytes);
  group->synchronizing_ = description.synchronizing;
  return group;
}

NicGroup::~NicGroup() {
  if (!has_left_) (void)leave(false);
  if (page_ != nullptr) munmap(page_, sizeof *page_);
}

bool NicGroup::leave(bool is_failure) {
  const nic_leave leave = {{NIC_SERVICE_VERSION, NIC_REQUEST_LEAVE}, number_, is_failure ? 1U : 0U};
  has_left_ = send(port_.socket_.get(), &leave, sizeof leave, MSG_NOSIGNAL) == sizeof leave;
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
    char nothing = 0;
    if (recv(port_.socket_.get(), &nothing, sizeof nothing, MSG_DONTWAIT | MSG_PEEK) != 0) return Status::ok();
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
