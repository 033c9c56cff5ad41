// SPDX-License-Identifier: BSD-3-Clause
#include "nic/service.h"

#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "base/clock.h"
#include "nic/report.h"
#include "platform/unix_socket.h"

namespace hocket::nic {
namespace {

using platform::Descriptor;

constexpr size_t kLongestRequest =
    sizeof(nic_join) + NIC_MOST_PROGRAMS * sizeof(nic_program) + NIC_MOST_MEMBERS * sizeof(nic_peer);

struct Job {
  Descriptor socket;
  ucred credentials{};
  bool may_enter = false;
  std::vector<uint32_t> groups;
};

nic_answer refusal(int error, const std::string& why) {
  nic_answer answer{};
  answer.version = NIC_SERVICE_VERSION;
  answer.error = error;
  const size_t length = std::min(why.size(), sizeof answer.text - 1);
  std::memcpy(answer.text, why.data(), length);
  return answer;
}

nic_answer agreement() { return refusal(0, ""); }

int error_of(Code code) {
  return code == Code::kNoMemory ? ENOMEM : code == Code::kInvalidArgument ? EINVAL : EOPNOTSUPP;
}

bool may_enter(const ucred& who, int socket, const Guests& guests) {
  if (who.uid == 0 || who.uid == geteuid() || guests.everybody) return true;
  if (std::find(guests.users.begin(), guests.users.end(), who.uid) != guests.users.end()) return true;
  std::array<gid_t, 256> groups{};
  socklen_t length = sizeof groups;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &length) != 0) length = 0;
  std::vector<gid_t> all(groups.begin(), groups.begin() + length / sizeof(gid_t));
  all.push_back(who.gid);
  return std::any_of(all.begin(), all.end(), [&](gid_t group) {
    return std::find(guests.groups.begin(), guests.groups.end(), group) != guests.groups.end();
  });
}

// What is wrong with a program, as far as it could lead the engine astray; "": nothing.
std::string flaw_of(const nic_program& program, uint32_t size) {
  if (program.stages > NIC_MOST_STAGES || program.sends > NIC_MOST_SENDS || program.arrivals > NIC_MOST_ARRIVALS)
    return "more stages, sends or arrivals than there can be";
  for (uint32_t i = 0; i < program.stages; ++i) {
    if (program.end_send[i] > program.sends || (i != 0 && program.end_send[i] < program.end_send[i - 1]))
      return "a stage whose messages are out of order";
    if ((program.need[i] & NIC_STARTED) == 0 || (program.need[i] & ~program.all) != 0)
      return "a stage that is never reached, or before the host starts";
    if (i != 0 && (program.need[i - 1] & ~program.need[i]) != 0) return "stages that don't follow one another";
  }
  const uint64_t known = NIC_STARTED | ((uint64_t{1} << program.arrivals) - 1);
  if ((program.all & ~known) != 0 || (program.all & NIC_STARTED) == 0) return "a mask of arrivals that it hasn't";
  for (uint32_t i = 0; i < program.sends; ++i)
    if (program.send[i].member >= size) return "a message to nobody";
  for (uint32_t i = 0; i < program.arrivals; ++i)
    if (program.arrival[i].member >= size) return "a message from nobody";
  return "";
}

// Tells of changes to interfaces.
Result<Descriptor> watch_interfaces() {
  Descriptor socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE));
  sockaddr_nl address{};
  address.nl_family = AF_NETLINK;
  address.nl_groups = RTMGRP_LINK;
  if (socket.get() < 0 || bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return Status::system("can't watch the interface", errno);
  return socket;
}

class Service {
 public:
  Service(Engine& engine, const Descriptor& listener, const Guests& guests)
      : engine_(engine), listener_(listener), guests_(guests), request_(kLongestRequest + 1) {}

  Status run() {
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGINT);
    const Descriptor signals(signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK));
    if (signals.get() < 0) return Status::system("can't wait for signals", errno);
    const Result<Descriptor> interfaces = watch_interfaces();
    if (!interfaces.is_ok()) return {interfaces.status().code(), interfaces.status().message()};
    while (!is_over_) {
      std::vector<pollfd> watched = {
          {signals.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}, {interfaces.value().get(), POLLIN, 0}};
      const size_t first_source = watched.size();
      for (const int source : engine_.sources()) watched.push_back({source, POLLIN, 0});
      const size_t first_job = watched.size();
      for (const Job& job : jobs_) watched.push_back({job.socket.get(), POLLIN, 0});
      const int64_t wait_ns = engine_.look(now_ns());
      const timespec wait = {wait_ns / 1'000'000'000, wait_ns % 1'000'000'000};
      const int ready = ppoll(watched.data(), watched.size(), wait_ns < 0 ? nullptr : &wait, nullptr);
      if (ready < 0 && errno != EINTR) return Status::system("can't wait for jobs", errno);
      if (ready <= 0) continue;
      if (watched[0].revents != 0) return Status::ok();
      if (watched[2].revents != 0 && has_lost_interface(interfaces.value())) return Status::ok();
      for (size_t i = first_source; i < first_job; ++i) {
        if (watched[i].revents == 0) continue;
        engine_.work();
        break;
      }
      // From the last to the first, since those that end are taken out.
      for (size_t i = watched.size(); i-- > first_job;) {
        if (watched[i].revents != 0) serve(i - first_job);
      }
      if (watched[1].revents != 0) accept_jobs();
    }
    return Status::ok();
  }

 private:
  bool has_lost_interface(const Descriptor& interfaces) const {
    char news[8192];
    while (recv(interfaces.get(), news, sizeof news, MSG_DONTWAIT) > 0) continue;
    return if_nametoindex(engine_.interface().c_str()) == 0;
  }

  void accept_jobs() {
    for (;;) {
      Descriptor socket(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (socket.get() < 0) return;
      Job job;
      socklen_t length = sizeof job.credentials;
      if (getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &job.credentials, &length) != 0) continue;
      job.socket = std::move(socket);
      job.may_enter = may_enter(job.credentials, job.socket.get(), guests_);
      jobs_.push_back(std::move(job));
    }
  }

  void serve(size_t index) {
    Job& job = jobs_[index];
    const ssize_t length = recv(job.socket.get(), request_.data(), request_.size(), MSG_DONTWAIT);
    if (length < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (length > 0 && answer(job, static_cast<size_t>(length))) return;
    for (const uint32_t group : job.groups) engine_.abandon(group);
    jobs_.erase(jobs_.begin() + static_cast<ptrdiff_t>(index));
  }

  // False: the job speaks another language, and is let go.
  bool answer(Job& job, size_t length) {
    nic_request request{};
    if (length < sizeof request) return false;
    std::memcpy(&request, request_.data(), sizeof request);
    if (request.version != NIC_SERVICE_VERSION)
      return tell(job, refusal(EPROTONOSUPPORT, "this service is of another version of hocket"));
    if (!job.may_enter) {
      nic_hello hello{};
      hello.answer = refusal(EACCES, "the NIC engine lets in root's jobs and those of `hocket nic up --user` only");
      return tell(job, hello) && false;
    }
    switch (request.kind) {
      case NIC_REQUEST_HELLO:
        return tell(job, greeting());
      case NIC_REQUEST_JOIN:
        return join(job, length);
      case NIC_REQUEST_LEAVE:
        return leave(job, length);
      case NIC_REQUEST_STATUS: {
        const std::string text = report_as_json(engine_);
        return send(job.socket.get(), text.data(), text.size(), MSG_NOSIGNAL) >= 0;
      }
      case NIC_REQUEST_DOWN:
        if (job.credentials.uid != 0 && job.credentials.uid != geteuid())
          return tell(job, refusal(EPERM, "only root and the engine's own user may end it"));
        is_over_ = true;
        (void)tell(job, agreement());
        // Stays open until the process has ended: whoever asked then knows that nothing is left.
        (void)fcntl(job.socket.get(), F_DUPFD_CLOEXEC, 0);
        return true;
      default:
        return false;
    }
  }

  nic_hello greeting() const {
    nic_hello hello{};
    hello.answer = agreement();
    std::strncpy(hello.engine, engine_.kind(), sizeof hello.engine - 1);
    std::strncpy(hello.interface, engine_.interface().c_str(), sizeof hello.interface - 1);
    hello.ip = engine_.address().ip;
    hello.port = engine_.address().port;
    hello.most_members = NIC_MOST_MEMBERS;
    hello.free_groups = engine_.free_groups();
    return hello;
  }

  Status read_join(size_t length, const ucred& who, JoinRequest& wanted) const {
    nic_join join{};
    if (length < sizeof join) return {Code::kInvalidArgument, "the request is too short"};
    std::memcpy(&join, request_.data(), sizeof join);
    const size_t programs = join.programs * sizeof(nic_program);
    if (join.programs == 0 || join.programs > NIC_MOST_PROGRAMS || join.size < 2 || join.size > NIC_MOST_MEMBERS ||
        join.self >= join.size || length != sizeof join + programs + join.size * sizeof(nic_peer))
      return {Code::kInvalidArgument, "a group has 2 to " + std::to_string(NIC_MOST_MEMBERS) + " members and 1 to " +
                                          std::to_string(NIC_MOST_PROGRAMS) + " programs"};
    wanted.group.id = join.id;
    wanted.group.key = join.key;
    wanted.group.self = join.self;
    wanted.group.size = join.size;
    wanted.group.programs = join.programs;
    wanted.silence_ns = join.silence_ns;
    wanted.user = who.uid;
    wanted.is_privileged = who.uid == 0;
    std::memcpy(wanted.group.program, request_.data() + sizeof join, programs);
    for (uint32_t i = 0; i < join.programs; ++i) {
      const std::string flaw = flaw_of(wanted.group.program[i], join.size);
      if (!flaw.empty()) return {Code::kInvalidArgument, "program " + std::to_string(i) + " has " + flaw};
    }
    wanted.members.resize(join.size);
    std::memcpy(wanted.members.data(), request_.data() + sizeof join + programs, join.size * sizeof(nic_peer));
    const nic_peer own = engine_.address();
    if (wanted.members[join.self].ip != own.ip || wanted.members[join.self].port != own.port)
      return {Code::kInvalidArgument, "the member that is to be here has another address"};
    return Status::ok();
  }

  bool join(Job& job, size_t length) {
    JoinRequest wanted;
    nic_joined joined{};
    Status status = read_join(length, job.credentials, wanted);
    if (!status.is_ok()) {
      joined.answer = refusal(error_of(status.code()), status.message());
      return tell(job, joined);
    }
    Result<Lent> lent = engine_.join(wanted);
    if (!lent.is_ok()) {
      joined.answer = refusal(error_of(lent.status().code()), lent.status().message());
      return tell(job, joined);
    }
    const Lent& group = lent.value();
    joined.answer = agreement();
    joined.group = group.group;
    joined.bell_bytes = static_cast<uint16_t>(group.ring.size());
    joined.words_at = static_cast<uint16_t>(group.words_at);
    std::memcpy(joined.bell, group.ring.data(), std::min(group.ring.size(), sizeof joined.bell));
    job.groups.push_back(group.group);
    return give(job, joined, {group.page.get(), group.bell.get(), group.ear.get()});
  }

  bool leave(Job& job, size_t length) {
    nic_leave leave{};
    if (length != sizeof leave) return false;
    std::memcpy(&leave, request_.data(), sizeof leave);
    const auto found = std::find(job.groups.begin(), job.groups.end(), leave.group);
    if (found == job.groups.end()) return false;
    job.groups.erase(found);
    engine_.leave(leave.group);
    return true;
  }

  template <typename Answer>
  static bool tell(const Job& job, const Answer& answer) {
    return send(job.socket.get(), &answer, sizeof answer, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof answer);
  }

  static bool give(const Job& job, const nic_joined& joined, const std::array<int, 3>& gifts) {
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof gifts)> control{};
    iovec piece = {const_cast<nic_joined*>(&joined), sizeof joined};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* c = CMSG_FIRSTHDR(&message);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof gifts);
    std::memcpy(CMSG_DATA(c), gifts.data(), sizeof gifts);
    return sendmsg(job.socket.get(), &message, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof joined);
  }

  Engine& engine_;
  const Descriptor& listener_;
  const Guests& guests_;
  std::vector<Job> jobs_;
  std::vector<char> request_;
  bool is_over_ = false;
};

}  // namespace

Result<Descriptor> open_service(const std::string& interface) {
  Result<int> listener = platform::listen_abstract(NIC_SERVICE_NAME + interface);
  if (!listener.is_ok()) return listener.take_status();
  return Descriptor(listener.value());
}

Status run_service(Engine& engine, const Descriptor& listener, const Guests& guests) {
  return Service(engine, listener, guests).run();
}

}  // namespace hocket::nic
