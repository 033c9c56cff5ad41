// SPDX-License-Identifier: BSD-3-Clause
#include "run/supervisor.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "base/clock.h"
#include "platform/machine/process_tree.h"
#include "run/rank.h"
#include "supervision/exit_codes.h"
#include "words/say.h"

namespace hocket::command {
namespace {

using platform::Descriptor;

constexpr int64_t kKillAgainMs = 10;
// What can't be killed: in the kernel for good, or another user's.
constexpr int64_t kGiveUpMs = 10'000;

int64_t now_ms() { return static_cast<int64_t>(now_ns() / 1'000'000); }

int64_t to_ms(double seconds) { return static_cast<int64_t>(seconds * 1000); }

bool is_failure(int status) { return !WIFEXITED(status) || WEXITSTATUS(status) != 0; }

int code_of(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : supervision::kSignalled + WTERMSIG(status); }

std::string text_of(int status) {
  if (WIFEXITED(status)) return "has ended with exit code " + std::to_string(WEXITSTATUS(status));
  return "was ended by " + supervision::signal_text(WTERMSIG(status)) +
         (WCOREDUMP(status) ? ", and has left a core dump" : "");
}

// "[ 3] ", all of one width.
std::string label_of(int rank, int ranks) {
  const std::string number = std::to_string(rank);
  const std::string widest = std::to_string(ranks - 1);
  return "[" + std::string(widest.size() - number.size(), ' ') + number + "] ";
}

}  // namespace

int Supervisor::run() {
  if (const std::string trouble = prepare(); !trouble.empty()) return fail(kFailure, trouble);
  while (phase_ != Phase::kOver) {
    // One a turn, so that what happens to the first is seen while the last are still to come.
    if (is_starting()) start_next();
    turn();
  }
  return result_;
}

std::string Supervisor::prepare() {
  platform::adopt_orphans();  // where the kernel refuses, ranks still end with this process
  sigset_t received;
  sigemptyset(&received);
  sigaddset(&received, SIGCHLD);
  sigaddset(&received, SIGTERM);  // the terminal's signals come through the launcher
  signal_file_ = Descriptor(signalfd(-1, &received, SFD_CLOEXEC | SFD_NONBLOCK));
  if (signal_file_.get() < 0) return std::string("can't watch for signals: ") + std::strerror(errno);
  Result<std::unique_ptr<platform::LaunchHub>> hub = platform::LaunchHub::create(static_cast<uint32_t>(options_.ranks));
  if (!hub.is_ok()) return hub.status().message();
  hub_ = hub.take();
  if (options_.timeout_s > 0) timeout_at_ms_ = now_ms() + to_ms(options_.timeout_s);
  return {};
}

void Supervisor::start_next() {
  const int rank = next_rank_++;
  const auto cannot = [&](int error) {
    say("can't start rank " + std::to_string(rank) + ": " + std::strerror(error));
    end_all(kFailure, SIGTERM);
  };
  const Descriptor nothing(rank == 0 ? -1 : open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (rank != 0 && nothing.get() < 0) return cannot(errno);
  RankStreams streams;
  streams.input = nothing.get();
  Descriptor writes[2];
  for (int i = 0; options_.label && i < 2; ++i) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return cannot(errno);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    output_.add(Descriptor(ends[0]), i == 0 ? STDOUT_FILENO : STDERR_FILENO, label_of(rank, options_.ranks));
    writes[i] = Descriptor(ends[1]);
    (i == 0 ? streams.output : streams.error) = ends[1];
  }
  const std::string place = platform::to_text(hub_->place(static_cast<uint32_t>(rank)));
  const RankStart started = start_rank(options_, signals_, descriptors_, rank, place, streams);
  if (!started.trouble.empty()) {
    say(started.trouble);
    return end_all(started.exit_code, SIGTERM);
  }
  ranks_[started.process] = rank;
  hub_->rank_started(static_cast<uint32_t>(rank), started.process);
}

void Supervisor::turn() {
  std::vector<pollfd> watched;
  watched.push_back({signal_file_.get(), POLLIN, 0});
  if (control_.get() >= 0) watched.push_back({control_.get(), POLLIN, 0});
  hub_->watch(watched);
  output_.watch(watched);
  const int64_t now = now_ms();
  const int64_t pause = std::clamp<int64_t>(next_look_ms(now) - now, 0, 60'000);
  poll(watched.data(), watched.size(), static_cast<int>(pause));  // errors: all are asked again anyway
  receive_from_launcher();
  signalfd_siginfo news;
  while (read(signal_file_.get(), &news, sizeof news) == sizeof news) {
    if (news.ssi_signo == SIGTERM) interrupt({SIGTERM, false});
  }
  hub_->serve(now_ms());
  output_.pump();
  reap();
  step(now_ms());
}

int64_t Supervisor::next_look_ms(int64_t now) const {
  int64_t next = std::min(hub_->next_deadline_ms(), give_up_at_ms_);
  if (is_starting()) return now;
  if (phase_ == Phase::kRunning) next = std::min(next, timeout_at_ms_);
  if (phase_ == Phase::kEnding) next = std::min(next, kill_at_ms_);
  if (phase_ == Phase::kKilling) next = std::min(next, now + kKillAgainMs);
  return next;
}

void Supervisor::receive_from_launcher() {
  supervision::Interruption interruption;
  while (control_.get() >= 0) {
    const ssize_t received = recv(control_.get(), &interruption, sizeof interruption, MSG_DONTWAIT);
    if (received == sizeof interruption) {
      interrupt(interruption);
    } else if (received >= 0 || (errno != EAGAIN && errno != EINTR)) {
      // The launcher was killed: there is no reason left to be polite.
      control_.reset();
      result_ = kFailure;
      output_.drop();
      kill_all(now_ms());
    } else if (errno == EAGAIN) {
      return;
    }
  }
}

void Supervisor::interrupt(const supervision::Interruption& interruption) {
  if (phase_ == Phase::kDraining) return output_.drop();
  if (phase_ != Phase::kRunning) return kill_all(now_ms());  // the second time
  was_asked_ = true;
  say("interrupted by " + supervision::signal_text(interruption.signal) + "; ending the ranks");
  end_all(supervision::kSignalled + interruption.signal, interruption.from_terminal ? 0 : interruption.signal);
}

void Supervisor::reap() {
  std::vector<Ended> ended;
  int status = 0;
  pid_t process = 0;
  while ((process = waitpid(-1, &status, WNOHANG)) > 0) {
    const auto known = ranks_.find(process);
    if (known == ranks_.end()) continue;  // an orphan of a rank
    ended.push_back({known->second, process, status});
    ranks_.erase(known);
  }
  has_children_ = process == 0;
  if (!ended.empty()) report_ended(std::move(ended));
}

void Supervisor::report_ended(std::vector<Ended> ended) {
  output_.pump();  // what they have written last stands before what is said of them
  // Of those that have ended at about the same time, the ones that were killed are the cause, the rest noticed.
  std::sort(ended.begin(), ended.end(), [](const Ended& a, const Ended& b) {
    return std::pair(!WIFSIGNALED(a.status), a.rank) < std::pair(!WIFSIGNALED(b.status), b.rank);
  });
  int code = 0;
  for (const Ended& one : ended) {
    hub_->rank_ended(static_cast<uint32_t>(one.rank), text_of(one.status), now_ms());
    if (phase_ != Phase::kRunning || !is_failure(one.status)) continue;
    say("rank " + std::to_string(one.rank) + " (process " + std::to_string(one.process) + ") " + text_of(one.status));
    if (code == 0) code = code_of(one.status);
  }
  if (code == 0) return;
  if (!ranks_.empty()) {
    say("ending the " + std::to_string(ranks_.size()) + (ranks_.size() == 1 ? " rank" : " ranks") + " left");
  }
  end_all(code, SIGTERM);
}

void Supervisor::step(int64_t now) {
  if (output_.is_lost() && phase_ == Phase::kRunning) {
    say("nobody reads the output any more; ending the ranks");
    end_all(supervision::kSignalled + SIGPIPE, SIGTERM);
  }
  if (phase_ == Phase::kRunning && now >= timeout_at_ms_) {
    say("not done within --timeout; ending the " + std::to_string(ranks_.size()) + " ranks left");
    was_asked_ = true;
    end_all(supervision::kTimedOut, SIGTERM);
  }
  // All is well; what ranks have left behind ends with them.
  if (phase_ == Phase::kRunning && !is_starting() && ranks_.empty()) end_all(0, has_children_ ? SIGTERM : 0);
  if (phase_ == Phase::kEnding && now >= kill_at_ms_) {
    if (!ranks_.empty()) say(std::to_string(ranks_.size()) + " have not ended within the grace time; killing them");
    kill_all(now);
  }
  if (phase_ == Phase::kKilling && has_children_) {
    platform::signal_descendants(SIGKILL);
    for (const auto& [process, rank] : ranks_) kill(process, SIGKILL);  // also without /proc
  }
  const bool gave_up = phase_ == Phase::kKilling && now >= give_up_at_ms_;
  if (gave_up) say("some processes can't be ended");
  if ((phase_ == Phase::kEnding || phase_ == Phase::kKilling) && (!has_children_ || gave_up)) {
    output_.finish();
    phase_ = Phase::kDraining;
    // A job that was told to end doesn't wait for a reader that may never come.
    give_up_at_ms_ = was_asked_ ? now + to_ms(options_.grace_s) : INT64_MAX;
  }
  if (phase_ != Phase::kDraining) return;
  if (now >= give_up_at_ms_) output_.drop();
  if (output_.is_empty()) phase_ = Phase::kOver;
}

void Supervisor::end_all(int code, int signal) {
  if (phase_ != Phase::kRunning) return;
  phase_ = Phase::kEnding;
  result_ = code;
  kill_at_ms_ = now_ms() + to_ms(options_.grace_s);
  if (signal == 0) return;
  platform::signal_descendants(signal);
  platform::signal_descendants(SIGCONT);  // a stopped process hears of nothing else
}

void Supervisor::kill_all(int64_t now) {
  if (phase_ == Phase::kRunning) result_ = result_ == 0 ? kFailure : result_;
  if (phase_ == Phase::kKilling || phase_ == Phase::kDraining || phase_ == Phase::kOver) return;
  phase_ = Phase::kKilling;
  give_up_at_ms_ = now + kGiveUpMs;
}

void Supervisor::say(const std::string& text) { output_.say("hocket run: " + text); }

}  // namespace hocket::command
