// SPDX-License-Identifier: BSD-3-Clause
#include "platform/bootstrap/connector.h"

#include <poll.h>
#include <sys/auxv.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <string>
#include <utility>

#include "platform/bootstrap/connector_state.h"

namespace hocket::platform {
namespace {

Status fill_random(void* bytes, size_t length) {
  auto* at = static_cast<char*>(bytes);
  while (length > 0) {
    const ssize_t got = getrandom(at, length, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Status::system("Asking for random bytes", errno);
    at += got;
    length -= static_cast<size_t>(got);
  }
  return Status::ok();
}

uint64_t hash_of_boot() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  return hash_of(id);
}

uint64_t network_namespace() {
  struct stat about{};
  // A thread may have moved to another one than its process.
  for (const char* path : {"/proc/thread-self/ns/net", "/proc/self/ns/net"}) {
    if (stat(path, &about) == 0) return about.st_ino;
  }
  return 0;
}

// As the user namespace around this process's own has it: by that a container's ranks are told from those of another
// user, and not from those beside it.
uint32_t user_outside(uint32_t user) {
  std::ifstream map("/proc/self/uid_map");
  for (uint64_t inside = 0, outside = 0, count = 0; map >> inside >> outside >> count;) {
    if (user >= inside && user - inside < count) return static_cast<uint32_t>(outside + (user - inside));
  }
  return user;
}

}  // namespace

uint64_t hash_of(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

Address address_here(uint64_t node) {
  Address address;
  address.boot_hash = hash_of_boot();
  address.network_namespace = network_namespace();
  address.node = node;
  address.user = user_outside(geteuid());
  address.process = static_cast<uint32_t>(getpid());
  return address;
}

uint64_t label_of_node(const Address& address) {
  const uint64_t facts[] = {address.boot_hash, address.network_namespace, address.node, address.user};
  return hash_of({reinterpret_cast<const char*>(facts), sizeof facts});
}

const char* why_apart(const Address& one, const Address& other) {
  if (other.boot_hash != one.boot_hash) return "run on different machines";
  if (other.network_namespace != one.network_namespace) return "are in different network namespaces";
  if (other.node != one.node) return "were put on different nodes (HOCKET_NODE, or the context's options)";
  if (other.user != one.user) return "belong to different users";
  return nullptr;
}

std::string socket_name(const Identity& identity) {
  char name[48];
  std::snprintf(name, sizeof(name), "hocket-%016lx%016lx", identity[0], identity[1]);
  return name;
}

std::string farewell_name(const Identity& identity, uint64_t meeting) {
  char number[24];
  std::snprintf(number, sizeof(number), "-%016lx", meeting);
  return socket_name(identity) + number;
}

Peer::~Peer() {
  disconnect();
  if (socket_ >= 0) close(socket_);
  if (process_ >= 0) close(process_);
}

// The descriptor stays, so that is_alive in another thread never looks at a stranger's.
void Peer::disconnect() {
  if (socket_ >= 0 && creator_ == getpid()) shutdown(socket_, SHUT_RDWR);
}

bool Peer::is_alive() const {
  // Acquire pairs with the release in ~Connector: a thread that sees the end also sees what the context wrote before.
  if (context_alive_ != nullptr) return context_alive_->load(std::memory_order_acquire);
  // Nothing is sent after the greeting, so the socket has news only at its end; so has a pidfd.
  pollfd watched[2] = {{socket_, POLLRDHUP, 0}, {process_, POLLIN, 0}};
  while (poll(watched, 2, 0) < 0) {
    if (errno != EINTR) return true;  // nothing is known
  }
  return watched[0].revents == 0 && watched[1].revents == 0;
}

bool Peer::is_process_alive() const {
  pollfd watched = {process_, POLLIN, 0};
  return poll(&watched, 1, 0) <= 0;
}

Result<std::unique_ptr<Connector>> Connector::create(std::shared_ptr<SharedRegion> region, uint64_t node) {
  // It can't fail. Where a sandbox refuses it all the same, the C library gives the negated error for a user.
  const uint32_t user = geteuid();
  const auto refused = -static_cast<int64_t>(static_cast<int32_t>(user));
  if (refused > 0 && refused < 4096 && user != getauxval(AT_EUID))
    return Status::system_call("Asking whose process this is", "geteuid", static_cast<int>(refused));
  std::unique_ptr<Connector> made(new Connector);
  Address& address = made->address_;
  address = address_here(node);
  HOCKET_TRY(fill_random(address.identity, sizeof(address.identity)));
  HOCKET_TRY(fill_random(address.nonce, sizeof(address.nonce)));

  const Identity identity = identity_of(address);
  Result<int> listener = listen_abstract(socket_name(identity));
  if (!listener.is_ok()) return listener.take_status();
  made->state_ = std::make_unique<State>();
  State& state = *made->state_;
  state.listener = Descriptor(listener.value());
  state.region = std::move(region);
  state.alive = std::make_shared<std::atomic<bool>>(true);
  state.creator = getpid();
  state.user = user;
  add_local_context(identity, state.region, state.alive);
  return made;
}

Connector::~Connector() {
  if (state_ == nullptr || state_->creator != getpid()) return;  // a forked child only drops its copies
  remove_local_context(identity_of(address_));
  state_->alive->store(false, std::memory_order_release);  // partner: Peer::is_alive
  // A forked child that still has the sockets must not keep this context alive in the eyes of its peers.
  shutdown(state_->listener.get(), SHUT_RDWR);
  for (auto& [identity, peer] : state_->peers) peer->disconnect();
}

Result<Descriptor> Connector::prepare() {
  if (state_->spare.get() >= 0) return std::move(state_->spare);
  Result<int> spare = duplicate(state_->listener.get());
  if (!spare.is_ok()) return spare.take_status();
  return Descriptor(spare.value());
}

void Connector::keep(Descriptor reserve) {
  if (state_->spare.get() < 0) state_->spare = std::move(reserve);
}

Result<std::vector<std::shared_ptr<Peer>>> Connector::connect_all(const std::vector<Address>& others,
                                                                  int64_t timeout_ms, uint64_t meeting_number) {
  if (state_->creator != getpid()) {
    return Status(Code::kNotSupported, "A forked child can't use the connections of its parent");
  }
  const Identity own = identity_of(address_);
  Meeting meeting(address_, *state_, meeting_number);
  for (const Address& other : others) {
    const Identity identity = identity_of(other);
    if (identity == own) continue;
    if (const auto known = state_->peers.find(identity); known != state_->peers.end()) {
      if (known->second->is_alive()) continue;
      if (!known->second->is_process_alive())
        return Status(Code::kPeerFailed, "Process " + std::to_string(other.process) + " has ended");
      state_->peers.erase(known);  // it may only have forgotten this one, and connects again
    }
    if (const auto early = state_->early.find(identity); early != state_->early.end()) {
      std::shared_ptr<Peer> peer = std::move(early->second);
      state_->early.erase(early);
      if (peer->is_alive()) {
        peer->address_ = other;
        peer->meeting_ = meeting_number;
        state_->peers.emplace(identity, std::move(peer));
        continue;
      }
      // The peer has ended or given up; if it gave up, it connects again.
    }
    if (LocalContext local = find_local_context(identity); local.region != nullptr) {
      std::shared_ptr<Peer> peer(new Peer);
      peer->address_ = other;
      peer->meeting_ = meeting_number;
      peer->context_alive_ = std::move(local.alive);
      peer->region_ = MappedRegion::same_process(std::move(local.region));
      state_->peers.emplace(identity, std::move(peer));
      continue;
    }
    if (const char* why = why_apart(address_, other); why != nullptr) {
      return Status(Code::kNotSupported,
                    "Process " + std::to_string(other.process) + " and this one can't share memory: they " + why);
    }
    meeting.expect(other);
  }
  HOCKET_TRY(meeting.run(timeout_ms));
  std::vector<std::shared_ptr<Peer>> peers;
  peers.reserve(others.size());
  for (const Address& other : others) {
    const Identity identity = identity_of(other);
    peers.push_back(identity == own ? nullptr : state_->peers.at(identity));
  }
  // A job that starts others, one after the other, would keep the descriptors and mappings of all of them.
  std::erase_if(state_->peers,
                [](const auto& one) { return one.second.use_count() == 1 && !one.second->is_process_alive(); });
  return peers;
}

void Connector::forget(const std::vector<Address>& others, uint64_t meeting) {
  for (const Address& other : others) {
    const Identity identity = identity_of(other);
    state_->early.erase(identity);
    const auto known = state_->peers.find(identity);
    const bool is_new = known != state_->peers.end() && known->second->meeting_ == meeting;
    if (is_new && known->second.use_count() == 1) state_->peers.erase(known);
  }
}

std::optional<std::vector<std::shared_ptr<Peer>>> Connector::known(const std::vector<Address>& others) const {
  const Identity own = identity_of(address_);
  std::vector<std::shared_ptr<Peer>> peers;
  peers.reserve(others.size());
  for (const Address& other : others) {
    const Identity identity = identity_of(other);
    const auto found = state_->peers.find(identity);
    if (identity != own && found == state_->peers.end()) return std::nullopt;
    peers.push_back(identity == own ? nullptr : found->second);
  }
  return peers;
}

Descriptor Connector::give_up(uint64_t meeting, Descriptor reserve) {
  const std::string name = farewell_name(identity_of(address_), meeting);
  reserve.reset();
  Result<int> said = listen_abstract(name);
  if (!said.is_ok()) {
    state_->arrivals.clear();  // what strangers and members of later meetings have sent takes descriptors too
    said = listen_abstract(name);
  }
  return Descriptor(said.is_ok() ? said.value() : -1);
}

}  // namespace hocket::platform
