// SPDX-License-Identifier: BSD-3-Clause
#include "nic/service.h"

#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <span>
#include <utility>

#include "base/clock.h"
#include "nic/join_request.h"
#include "nic/report.h"
#include "platform/bootstrap/passed_descriptors.h"
#include "platform/bootstrap/unix_socket.h"

namespace hocket::nic {
namespace {

using platform::Descriptor;

// Connections that are taken before the loop looks at anything else.
constexpr int kMostJobsAtOnce = 64;
constexpr size_t kMostDescriptors = 3;  // descriptors of one answer
// Messages of jobs may keep the loop so long from looking after the groups.
constexpr uint64_t kMostBetweenLooksNs = 2'000'000;

struct Job {
  Descriptor socket;
  ucred credentials{};
  Descriptor process;  // readable when it has ended; -1: has no group yet, or can't be seen from here
  bool may_enter = false;
  uint64_t doorbell_cookie = 0;  // of what was lent for all of its groups; 0: nothing
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
  if (code == Code::kInProgress) return EAGAIN;
  return code == Code::kNoMemory ? ENOMEM : code == Code::kInvalidArgument ? EINVAL : EOPNOTSUPP;
}

// The process that listens under a name: "process 7 of user 0"; "" if there is none, or it is unknown.
std::string owner_of(const std::string& name) {
  int descriptor = -1;
  const Result<platform::Progress> reached = platform::connect_abstract(name, &descriptor);
  const Descriptor socket(descriptor);
  if (!reached.is_ok() || reached.value() != platform::Progress::kDone) return "";
  const Result<platform::PeerCredentials> who = platform::peer_credentials(socket.get());
  if (!who.is_ok()) return "";
  const std::string process = who.value().process != 0 ? "process " + std::to_string(who.value().process) + " of " : "";
  return process + "user " + std::to_string(who.value().user);
}

Descriptor open_spare() { return Descriptor(open("/dev/null", O_RDONLY | O_CLOEXEC)); }

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
      : engine_(engine), listener_(listener), guests_(guests), request_(kLongestRequest + 1) {
    // What one user may take leaves others enough of what there is.
    constexpr rlim_t kShares = 4;
    rlimit files{};
    if (getrlimit(RLIMIT_NOFILE, &files) != 0) return;
    files.rlim_cur = files.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &files);
    most_connections_ = static_cast<uint32_t>(
        std::min<rlim_t>(guests.connections_per_user, std::max<rlim_t>(files.rlim_cur / kShares, 1)));
  }

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
      // No more than there are open files: the kernel refuses a longer list.
      for (const Job& job : jobs_)
        if (job.process.get() >= 0) watched.push_back({job.process.get(), POLLIN, 0});
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
      serve_all({watched.begin() + static_cast<ptrdiff_t>(first_job), watched.end()});
      if (watched[1].revents != 0) accept_jobs();
    }
    return Status::ok();
  }

 private:
  // `watched`: the sockets of all jobs, then the processes of those that have one.
  void serve_all(std::span<const pollfd> watched) {
    uint64_t looked_ns = now_ns();
    size_t process = watched.size();
    // From the last to the first, since those that end are taken out.
    for (size_t job = jobs_.size(); job-- > 0;) {
      const bool has_ended = jobs_[job].process.get() >= 0 && watched[--process].revents != 0;
      if (watched[job].revents != 0) {
        serve(job);
      } else if (has_ended) {
        // A child of the process's may have kept the connection.
        end(job);
      }
      if (now_ns() - looked_ns < kMostBetweenLooksNs) continue;
      (void)engine_.look(now_ns());
      looked_ns = now_ns();
    }
  }

  void end(size_t index) {
    for (const uint32_t group : jobs_[index].groups) engine_.abandon(group);
    jobs_.erase(jobs_.begin() + static_cast<ptrdiff_t>(index));
  }

  bool has_lost_interface(const Descriptor& interfaces) const {
    char news[8192];
    while (recv(interfaces.get(), news, sizeof news, MSG_DONTWAIT) > 0) continue;
    return if_nametoindex(engine_.interface().c_str()) == 0;
  }

  Descriptor accept_one() const {
    return Descriptor(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  }

  void accept_jobs() {
    for (int i = 0; i < kMostJobsAtOnce; ++i) {
      Descriptor socket = accept_one();
      if (socket.get() < 0 && (errno == EMFILE || errno == ENFILE)) {
        // Waiting connections are accepted and closed; otherwise the listener would stay readable.
        spare_.reset();
        (void)accept_one();
        spare_ = open_spare();
        return;
      }
      if (socket.get() < 0) return;
      Job job;
      socklen_t length = sizeof job.credentials;
      if (getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &job.credentials, &length) != 0) continue;
      job.socket = std::move(socket);
      job.may_enter = may_enter(job.credentials, job.socket.get(), guests_);
      if (job.credentials.uid != 0 && connections_of(job.credentials.uid) >= most_connections_) {
        nic_hello hello{};
        hello.answer = refusal(EMFILE, "user " + std::to_string(job.credentials.uid) + " has " +
                                           std::to_string(most_connections_) +
                                           " processes at the NIC engine, as many as one user may have");
        (void)send_answer(job, hello);
        continue;
      }
      jobs_.push_back(std::move(job));
    }
  }

  uint32_t connections_of(uid_t user) const {
    return static_cast<uint32_t>(
        std::count_if(jobs_.begin(), jobs_.end(), [&](const Job& job) { return job.credentials.uid == user; }));
  }

  void serve(size_t index) {
    Job& job = jobs_[index];
    const ssize_t length = recv(job.socket.get(), request_.data(), request_.size(), MSG_DONTWAIT);
    if (length < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (length > 0 && answer(job, static_cast<size_t>(length))) return;
    end(index);
  }

  // False: the job speaks another language, and is let go.
  bool answer(Job& job, size_t length) {
    nic_request request{};
    if (length < sizeof request) return false;
    std::memcpy(&request, request_.data(), sizeof request);
    // A client of another version may still end this service.
    if (request.version != NIC_SERVICE_VERSION && request.kind != NIC_REQUEST_DOWN)
      return send_answer(job,
                         refusal(EPROTONOSUPPORT, "this service speaks version " + std::to_string(NIC_SERVICE_VERSION) +
                                                      ", not " + std::to_string(request.version)));
    if (!job.may_enter) {
      nic_hello hello{};
      hello.answer = refusal(
          EACCES, "the NIC engine of " + engine_.interface() + " lets in root's jobs, its own user's and those " +
                      "of who is named by `hocket nic up --user`, not of user " + std::to_string(job.credentials.uid));
      return send_answer(job, hello) && false;
    }
    switch (request.kind) {
      case NIC_REQUEST_HELLO:
        return send_answer(job, greeting());
      case NIC_REQUEST_JOIN:
        return join(job, length);
      case NIC_REQUEST_LEAVE:
        return leave(job, length);
      case NIC_REQUEST_STATUS: {
        const uid_t user = job.credentials.uid;
        const std::string text = report_as_json(engine_, user == 0 || user == geteuid() ? nullptr : &user);
        return send(job.socket.get(), text.data(), text.size(), MSG_NOSIGNAL) >= 0;
      }
      case NIC_REQUEST_DOWN:
        if (job.credentials.uid != 0 && job.credentials.uid != geteuid())
          return send_answer(job, refusal(EPERM, "only root and the engine's own user may end it"));
        is_over_ = true;
        (void)send_answer(job, agreement());
        // Stays open until the process has ended: the client that asked then knows that nothing is left.
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

  // Whether the user has as much of the engine as one user may; root is not limited.
  Status check_share(const ucred& who, const nic_group& wanted) const {
    if (who.uid == 0) return Status::ok();
    uint32_t groups = 0;
    uint32_t members = wanted.size;
    uint32_t operands = uint32_t{NIC_WINDOW} * wanted.operands;
    for (const GroupReport& group : engine_.groups()) {
      if (group.user != who.uid) continue;
      ++groups;
      members += group.size;
      operands += group.operands;
    }
    const std::string user = "user " + std::to_string(who.uid) + " has ";
    if (groups >= guests_.groups_per_user)
      return {Code::kNoMemory, user + std::to_string(groups) + " groups of the NIC engine, those left lately among " +
                                   "them, and may have no more: `hocket nic up --groups-per-user`"};
    if (members > guests_.members_per_user)
      return {Code::kNoMemory, user + "groups of the NIC engine that would have " + std::to_string(members) +
                                   " members; all of a user's may have " + std::to_string(guests_.members_per_user)};
    if (operands > guests_.operands_per_user)
      return {Code::kNoMemory, user + "groups of the NIC engine that would keep " + std::to_string(operands) +
                                   " operands; all of a user's may keep " + std::to_string(guests_.operands_per_user)};
    return Status::ok();
  }

  bool join(Job& job, size_t length) {
    JoinRequest wanted;
    nic_joined joined{};
    wanted.user = job.credentials.uid;
    wanted.is_privileged = may_send_raw(job.credentials);
    Status status = read_join(std::span(request_).first(length), engine_.address(), wanted);
    if (status.is_ok()) status = check_share(job.credentials, wanted.group);
    if (!status.is_ok()) {
      joined.answer = refusal(error_of(status.code()), status.message());
      return send_answer(job, joined);
    }
    wanted.doorbell_cookie = wanted.has_doorbell ? job.doorbell_cookie : 0;
    Result<Lent> lent = engine_.join(wanted);
    if (!lent.is_ok()) {
      joined.answer = refusal(error_of(lent.status().code()), lent.status().message());
      return send_answer(job, joined);
    }
    const Lent& group = lent.value();
    joined.answer = agreement();
    joined.group = group.group;
    joined.doorbell_bytes = static_cast<uint16_t>(group.ring.size());
    joined.words_at = static_cast<uint16_t>(group.words_at);
    std::memcpy(joined.doorbell, group.ring.data(), std::min(group.ring.size(), sizeof joined.doorbell));
    job.groups.push_back(group.group);
    joined.is_shared = group.doorbell_cookie != 0;
    if (group.doorbell_cookie != 0) job.doorbell_cookie = group.doorbell_cookie;
    if (job.process.get() < 0) {
      const platform::PeerCredentials who = {job.credentials.uid, job.credentials.pid};
      job.process = Descriptor(platform::open_peer_process(job.socket.get(), who));
    }
    return give(job, joined, {group.page.get(), group.wakeup_socket.get(), group.doorbell.get()});
  }

  bool leave(Job& job, size_t length) {
    nic_leave leave{};
    if (length != sizeof leave) return false;
    std::memcpy(&leave, request_.data(), sizeof leave);
    const auto found = std::find(job.groups.begin(), job.groups.end(), leave.group);
    if (found == job.groups.end()) return false;
    job.groups.erase(found);
    leave.is_failure != 0 ? engine_.abandon(leave.group) : engine_.leave(leave.group);
    return true;
  }

  template <typename Answer>
  static bool send_answer(const Job& job, const Answer& answer) {
    return send(job.socket.get(), &answer, sizeof answer, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof answer);
  }

  // A last descriptor of -1 isn't given.
  static bool give(const Job& job, const nic_joined& joined, const std::array<int, kMostDescriptors>& descriptors) {
    platform::RoomForDescriptors<kMostDescriptors> room;
    iovec piece = {const_cast<nic_joined*>(&joined), sizeof joined};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    platform::attach_descriptors(
        message, room,
        std::span(descriptors).first(descriptors.back() >= 0 ? descriptors.size() : descriptors.size() - 1));
    return sendmsg(job.socket.get(), &message, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof joined);
  }

  Engine& engine_;
  const Descriptor& listener_;
  const Guests& guests_;
  std::vector<Job> jobs_;
  std::vector<char> request_;
  uint32_t most_connections_ = 1;
  Descriptor spare_ = open_spare();  // given up when no descriptor is left
  bool is_over_ = false;
};

}  // namespace

Result<Descriptor> open_service(const std::string& interface) {
  const std::string name = NIC_SERVICE_NAME + interface;
  Result<int> listener = platform::listen_abstract(name);
  if (listener.is_ok()) return Descriptor(listener.value());
  const std::string owner = owner_of(name);
  if (owner.empty()) return listener.take_status();
  return Status(listener.status().code(), "the NIC engine's name for " + interface + " is taken already by " + owner +
                                              "; if that is an engine, `hocket nic status " + interface +
                                              "` shows it and `hocket nic down " + interface + "` ends it");
}

Status run_service(Engine& engine, const Descriptor& listener, const Guests& guests) {
  return Service(engine, listener, guests).run();
}

}  // namespace hocket::nic
