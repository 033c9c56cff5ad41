// SPDX-License-Identifier: BSD-3-Clause
#include "platform/bootstrap/launch_hub.h"

#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "platform/bootstrap/launch_wire.h"
#include "platform/bootstrap/unix_socket.h"

namespace hocket::platform {
namespace {

using launch_wire::Head;
using launch_wire::Join;
using launch_wire::Kind;
using launch_wire::kMostMessageBytes;
using launch_wire::kPieceBytes;

constexpr int64_t kLongestTimeoutMs = int64_t{1000} * 86'400 * 366;

// The most connections that have not identified themselves; beyond that, the oldest is closed.
constexpr size_t kMostStrangers = 1024;

Status fill_random(uint64_t (&words)[2]) {
  // A message this short arrives whole or not at all.
  while (getrandom(words, sizeof words, 0) != sizeof words) {
    if (errno != EINTR) return Status::system("Asking for random bytes", errno);
  }
  return Status::ok();
}

std::shared_ptr<const std::vector<std::byte>> make_message(Kind kind, int code, std::span<const std::byte> data) {
  Head head;
  head.kind = kind;
  head.code = code;
  head.bytes = data.size();
  auto message = std::make_shared<std::vector<std::byte>>(sizeof head + data.size());
  std::memcpy(message->data(), &head, sizeof head);
  std::copy(data.begin(), data.end(), message->begin() + sizeof head);
  return message;
}

std::shared_ptr<const std::vector<std::byte>> make_message(const Status& failure) {
  const std::span<const char> text(failure.message(), std::strlen(failure.message()));
  return make_message(Kind::kFailed, static_cast<int>(failure.code()),
                      std::as_bytes(text.first(std::min(text.size(), launch_wire::kMostTextBytes))));
}

}  // namespace

Result<std::unique_ptr<LaunchHub>> LaunchHub::create(uint32_t ranks) {
  std::unique_ptr<LaunchHub> hub(new LaunchHub(ranks));
  hub->place_.size = ranks;
  HOCKET_TRY(fill_random(hub->place_.socket));
  HOCKET_TRY(fill_random(hub->place_.key));
  Result<int> listener = listen_abstract(launch_socket_name(hub->place_));
  if (!listener.is_ok()) return listener.take_status();
  hub->listener_ = Descriptor(listener.value());
  hub->user_ = geteuid();
  return hub;
}

LaunchPlace LaunchHub::place(uint32_t rank) const {
  LaunchPlace place = place_;
  place.rank = rank;
  return place;
}

void LaunchHub::watch(std::vector<pollfd>& watched) const {
  watched.push_back({listener_.get(), POLLIN, 0});
  for (const Guest& guest : guests_) {
    // The hub reads nothing more from a connection that it has refused.
    const int events = (guest.is_refused ? 0 : POLLIN) | (guest.out.empty() ? 0 : POLLOUT);
    watched.push_back({guest.socket.get(), static_cast<short>(events), 0});
  }
}

int64_t LaunchHub::next_deadline_ms() const {
  int64_t next = kNever;
  for (const auto& [number, meeting] : meetings_) next = std::min(next, meeting.deadline_ms);
  return next;
}

void LaunchHub::serve(int64_t now_ms) {
  accept_guests();
  for (Guest& guest : guests_) serve_guest(guest, now_ms);
  fail_overdue(now_ms);
  for (Guest& guest : guests_) flush(guest);
  for (Guest& guest : guests_) {
    if (guest.has_gone) leave(guest);
  }
  guests_.remove_if([](const Guest& guest) { return guest.has_gone || (guest.is_refused && guest.out.empty()); });
}

void LaunchHub::accept_guests() {
  for (;;) {
    int socket = -1;
    Result<Progress> accepted = accept_connection(listener_.get(), &socket);
    // For example, there are no descriptors left: waiting connections stay in the queue until there are.
    if (!accepted.is_ok() || accepted.value() != Progress::kDone) return;
    const auto is_stranger = [](const Guest& guest) { return !guest.has_joined; };
    if (static_cast<size_t>(std::count_if(guests_.begin(), guests_.end(), is_stranger)) >= kMostStrangers) {
      guests_.erase(std::find_if(guests_.begin(), guests_.end(), is_stranger));
    }
    Guest& guest = guests_.emplace_back();
    guest.socket = Descriptor(socket);
    Result<PeerCredentials> credentials = peer_credentials(socket);
    if (!credentials.is_ok()) {
      refuse(guest, credentials.status());
    } else if (credentials.value().user != user_) {
      refuse(guest, Status(Code::kNotSupported, "`hocket run` belongs to user " + std::to_string(user_) +
                                                    ", this rank to user " + std::to_string(credentials.value().user) +
                                                    "; hocket serves ranks of one user"));
    }
  }
}

void LaunchHub::serve_guest(Guest& guest, int64_t now_ms) {
  std::byte buffer[kMostMessageBytes];
  while (!guest.has_gone && !guest.is_refused) {
    const ssize_t received = recv(guest.socket.get(), buffer, sizeof buffer, MSG_DONTWAIT | MSG_TRUNC);
    if (received > 0) {
      const auto length = static_cast<size_t>(received);
      if (length > sizeof buffer) return refuse(guest, Status(Code::kMismatch, "a message that is too long"));
      receive(guest, std::span(buffer).first(length), now_ms);
    } else if (received == 0 || (errno != EINTR && errno != EAGAIN)) {
      guest.has_gone = true;
    } else if (errno == EAGAIN) {
      return;
    }
  }
}

void LaunchHub::receive(Guest& guest, std::span<const std::byte> message, int64_t now_ms) {
  if (!guest.has_joined) return welcome(guest, message);
  Head head;
  if (message.size() < sizeof head) return refuse(guest, Status(Code::kMismatch, "a message that is too short"));
  std::memcpy(&head, message.data(), sizeof head);
  const auto data = message.subspan(sizeof head);
  if (head.kind != Kind::kPart || head.bytes != data.size() || data.empty() || data.size() > kPieceBytes) {
    return refuse(guest, Status(Code::kMismatch, "a message that makes no sense"));
  }
  take_part(guest, data, now_ms);
}

void LaunchHub::welcome(Guest& guest, std::span<const std::byte> message) {
  Join join;
  const bool fits = message.size() == sizeof join;
  if (fits) std::memcpy(&join, message.data(), sizeof join);
  if (!fits || join.magic != launch_wire::kMagic || join.version != launch_wire::kVersion) {
    return refuse(guest, Status(Code::kMismatch, "`hocket run` and the program's libhocket are of different versions"));
  }
  if (!std::equal(std::begin(join.key), std::end(join.key), std::begin(place_.key)) || join.rank >= place_.size ||
      join.timeout_ms <= 0 || join.timeout_ms > kLongestTimeoutMs) {
    return refuse(guest, Status(Code::kInvalidArgument, "HOCKET_RUN is not what `hocket run` has given its ranks"));
  }
  guest.has_joined = true;
  guest.rank = join.rank;
  guest.timeout_ms = join.timeout_ms;
  guest.meeting = ranks_[join.rank].meetings++;
  Meeting& meeting = meetings_[guest.meeting];
  if (meeting.seats.empty()) meeting.seats.resize(place_.size);
  Seat& seat = meeting.seats[guest.rank];
  seat.guest = &guest;
  seat.has_come = true;
  if (!meeting.failure.is_ok()) guest.out.push_back(make_message(meeting.failure));
}

void LaunchHub::take_part(Guest& guest, std::span<const std::byte> data, int64_t now_ms) {
  Meeting& meeting = meetings_.at(guest.meeting);
  if (!meeting.failure.is_ok()) return;  // it has been told
  Seat& seat = meeting.seats[guest.rank];
  if (seat.has_given) return refuse(guest, Status(Code::kMismatch, "a rank gave twice in one round"));
  const auto differs = [&](const Seat& other) { return other.has_given && other.data.size() != data.size(); };
  if (std::any_of(meeting.seats.begin(), meeting.seats.end(), differs)) {
    return fail(meeting, Status(Code::kMismatch, "ranks give different amounts: is libhocket the same for all?"));
  }
  seat.data.assign(data.begin(), data.end());
  seat.has_given = true;
  if (++meeting.given == place_.size) return finish_round(meeting);
  if (const std::string lost = who_is_lost(meeting); !lost.empty()) {
    return fail(meeting, Status(Code::kPeerFailed, lost));
  }
  if (now_ms + guest.timeout_ms < meeting.deadline_ms) {
    meeting.deadline_ms = now_ms + guest.timeout_ms;
    meeting.timeout_ms = guest.timeout_ms;
  }
}

void LaunchHub::finish_round(Meeting& meeting) {
  std::vector<std::byte> all;
  for (Seat& seat : meeting.seats) {
    all.insert(all.end(), seat.data.begin(), seat.data.end());
    seat.has_given = false;
  }
  meeting.given = 0;
  meeting.deadline_ms = kNever;
  for (size_t begin = 0; begin < all.size(); begin += kPieceBytes) {
    const Message part = make_message(
        Kind::kPart, 0, std::span<const std::byte>(all).subspan(begin, std::min(kPieceBytes, all.size() - begin)));
    for (Seat& seat : meeting.seats) {
      if (seat.guest != nullptr) seat.guest->out.push_back(part);
    }
  }
}

std::string LaunchHub::name_of(uint32_t rank) const {
  return "rank " + std::to_string(rank) + " (process " + std::to_string(ranks_[rank].process) + ")";
}

std::string LaunchHub::who_is_lost(const Meeting& meeting) const {
  for (uint32_t rank = 0; rank < place_.size; ++rank) {
    const Seat& seat = meeting.seats[rank];
    if (seat.has_given || seat.guest != nullptr) continue;
    const bool has_left = seat.has_come;
    const std::string& how = ranks_[rank].ended;
    if (!has_left && how.empty()) continue;
    return name_of(rank) + " " + (how.empty() ? "has left" : how) + " while others wait for it in hocket_comm_world";
  }
  return "";
}

void LaunchHub::leave(Guest& guest) {
  if (!guest.has_joined) return;
  guest.has_joined = false;
  Meeting& meeting = meetings_.at(guest.meeting);
  meeting.seats[guest.rank].guest = nullptr;
  ++meeting.gone;
  if (meeting.failure.is_ok() && meeting.given > 0) {
    if (const std::string lost = who_is_lost(meeting); !lost.empty()) {
      fail(meeting, Status(Code::kPeerFailed, lost));
    }
  }
  if (meeting.gone == place_.size) meetings_.erase(guest.meeting);
}

void LaunchHub::rank_ended(uint32_t rank, std::string how, int64_t now_ms) {
  serve(now_ms);  // what it has said last
  ranks_[rank].ended = std::move(how);
  // A process that it has left behind may keep its connection open.
  for (Guest& guest : guests_) {
    if (guest.has_joined && guest.rank == rank) guest.has_gone = true;
  }
  for (auto& [number, meeting] : meetings_) {
    if (!meeting.failure.is_ok() || meeting.given == 0) continue;
    if (const std::string lost = who_is_lost(meeting); !lost.empty()) {
      fail(meeting, Status(Code::kPeerFailed, lost));
    }
  }
  serve(now_ms);
}

void LaunchHub::refuse(Guest& guest, const Status& why) {
  guest.out.push_back(make_message(why));
  guest.is_refused = true;
  leave(guest);
}

void LaunchHub::fail(Meeting& meeting, Status why) {
  meeting.failure = std::move(why);
  meeting.deadline_ms = kNever;
  const Message message = make_message(meeting.failure);
  for (Seat& seat : meeting.seats) {
    seat.data.clear();
    if (seat.guest != nullptr) seat.guest->out.push_back(message);
  }
}

void LaunchHub::fail_overdue(int64_t now_ms) {
  for (auto& [number, meeting] : meetings_) {
    if (meeting.deadline_ms > now_ms) continue;
    std::string first;
    size_t missing = 0;
    for (uint32_t rank = 0; rank < place_.size; ++rank) {
      if (meeting.seats[rank].has_given) continue;
      if (first.empty()) first = name_of(rank);
      ++missing;
    }
    std::string text = first + " did not come to hocket_comm_world within " +
                       std::to_string(meeting.timeout_ms / 1000) + " s (HOCKET_SETUP_TIMEOUT_S)";
    if (missing > 1) text += ", nor did " + std::to_string(missing - 1) + " more";
    fail(meeting, Status(Code::kTimeout, text));
  }
}

void LaunchHub::flush(Guest& guest) {
  while (!guest.out.empty()) {
    const std::vector<std::byte>& message = *guest.out.front();
    const ssize_t sent = send(guest.socket.get(), message.data(), message.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0) {
      if (errno == EINTR) continue;
      if (errno == EAGAIN || errno == ENOBUFS) return;
      guest.out.clear();
      if (guest.has_joined) guest.has_gone = true;
      return;
    }
    guest.out.pop_front();
  }
}

}  // namespace hocket::platform
