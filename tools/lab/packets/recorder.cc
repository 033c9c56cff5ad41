// SPDX-License-Identifier: BSD-3-Clause
#include "lab/packets/recorder.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "lab/packets/events.h"
#include "lab/packets/impairment.h"
#include "lab/packets/recording.h"
#include "lab/packets/switch_programs.h"

namespace hocket::lab {
namespace {

using nlohmann::ordered_json;
using platform::Descriptor;

constexpr const char* kFormat = "hocket-recording 1";
constexpr int kPauseMs = 10;
// So much later than at its time a processor may tell of something.
constexpr uint64_t kLateNs = 20'000'000;
// How long a packet's fate is waited for, beside the time for which the lab holds it.
constexpr uint64_t kOnTheWayNs = 1'000'000'000;
// Of the process, to the one that has started it; behind it a text and a 0.
constexpr char kWell = '+';
constexpr char kFailed = '-';
constexpr char kStop = 's';

std::string lock_file_of_recorder(const Lab& lab) { return lab.directory() + "/recording"; }

struct flock all_of_it() {
  struct flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

// What is in force on a link, in words of the table.
ordered_json json_of(const LinkReport& link) {
  ordered_json one = {{"node", link.node},
                      {"direction", link.direction == LAB_FROM_NODE ? "from" : "to"},
                      {"seed", link.settings.seed}};
  for (const ImpairmentFacts& facts : kImpairments) {
    const uint64_t setting = link.settings.*facts.setting;
    if (setting == 0) continue;
    if (facts.measure == Measure::kTime)
      one[std::string(facts.name) + "_ns"] = setting;
    else if (facts.measure == Measure::kShare)
      one[facts.name] = static_cast<double>(setting) / static_cast<double>(kWhole);
    else
      one[facts.name] = true;
  }
  for (const FurtherTime& further : kFurtherTimes) {
    if (const uint64_t setting = link.settings.*further.setting; setting != 0)
      one[std::string(facts_of(further.kind).name) + "_" + (further.option + 2) + "_ns"] = setting;
  }
  if (link.settings.lose_multicast_only != 0) one["loses_multicast_only"] = true;
  return one;
}

uint64_t longest_held_ns(const std::vector<LinkReport>& links) {
  uint64_t longest_ns = 0;
  for (const LinkReport& link : links) {
    uint64_t held_ns = link.settings.delay_ns;
    for (const FurtherTime& further : kFurtherTimes) held_ns += link.settings.*further.setting;
    longest_ns = std::max(longest_ns, held_ns);
  }
  return longest_ns;
}

// Programs that nothing else needs: the redirect switch is made of them.
Status unload_unneeded(const Lab& lab) {
  if (lab.switch_kind != SwitchKind::kBridge || !has_programs(lab)) return Status::ok();
  const Result<Lock> labs = Lock::take();
  if (!labs.is_ok()) return {labs.status().code(), labs.status().message()};
  const Result<std::vector<LinkReport>> links = report_links(lab);
  if (!links.is_ok()) return {links.status().code(), links.status().message()};
  const bool is_needed =
      std::ranges::any_of(links.value(), [](const LinkReport& link) { return link.settings.is_active != 0; });
  return is_needed ? Status::ok() : unload_programs(lab);
}

// What the process does.
class RecorderLoop {
 public:
  RecorderLoop(const Lab& lab, std::string file) : lab_(lab), path_(std::move(file)) {}

  Status begin(const ordered_json& about) {
    lock_ = Descriptor(open(lock_file_of_recorder(lab_).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    struct flock whole = all_of_it();
    if (lock_.get() < 0) return Status::system("can't lock " + lock_file_of_recorder(lab_), errno);
    if (fcntl(lock_.get(), F_SETLK, &whole) != 0)
      return {Code::kInvalidArgument,
              "lab " + lab_.name + " is being recorded already, by process " + std::to_string(recording_process(lab_))};
    file_.reset(std::fopen(path_.c_str(), "we"));
    if (file_ == nullptr) return Status::system("can't write " + path_, errno);
    const Result<Lock> labs = Lock::take();
    if (!labs.is_ok()) return {labs.status().code(), labs.status().message()};
    was_without_programs_ = !has_programs(lab_);
    HOCKET_TRY(load_programs(lab_));
    const Result<std::vector<LinkReport>> links = report_links(lab_);
    if (!links.is_ok()) return {links.status().code(), links.status().message()};
    Result<std::unique_ptr<Events>> events = Events::listen(lab_);
    if (!events.is_ok()) return events.take_status();
    events_ = events.take();
    began_ns_ = now_ns();
    std::vector<MacAddress> addresses;
    for (int node = 0; node < lab_.nodes; ++node) addresses.push_back(lab_.mac_address(node));
    recording_.emplace(addresses, began_ns_, [this](std::string_view line) { write(line); });
    write_head(links.value(), about);
    (void)std::fflush(file_.get());
    return Status::ok();
  }

  // Until a word comes: whether it was the one to stop.
  bool follow(int control) {
    pollfd word = {control, POLLIN, 0};
    for (;;) {
      const int is_readable = poll(&word, 1, kPauseMs);
      look(now_ns());
      char said = 0;
      if (is_readable > 0) return read(control, &said, 1) == 1 && said == kStop;
    }
  }

  // Whoever has started it is gone.
  void give_up() {
    events_.reset();
    (void)clean_up().is_ok();
  }

  Status end() {
    const uint64_t ended_ns = now_ns();
    take_what_came();
    const uint64_t missed = events_->missed();
    const bool is_whole = events_->is_whole();
    events_.reset();
    pass_on(UINT64_MAX);
    recording_->settle(UINT64_MAX);
    write_end(ended_ns, missed, is_whole);
    HOCKET_TRY(clean_up());
    if (std::ferror(file_.get()) != 0 || std::fclose(file_.release()) != 0)
      return Status::system("can't write " + path_, errno);
    if (missed != 0)
      return {Code::kSystem, path_ + " lacks " + std::to_string(missed) +
                                 " events, which came faster than they were written: record a shorter or smaller run"};
    if (!is_whole)
      return {Code::kSystem, path_ + " ends early: the lab's programs were replaced, or a processor was added"};
    return Status::ok();
  }

 private:
  void write(std::string_view line) { (void)std::fwrite(line.data(), 1, line.size(), file_.get()); }

  void write_head(const std::vector<LinkReport>& links, const ordered_json& about) {
    ordered_json head = {{"record", "header"},
                         {"format", kFormat},
                         {"lab", lab_.name},
                         {"nodes", lab_.nodes},
                         {"switch", switch_name(lab_.switch_kind)},
                         {"began_ns", began_ns_},
                         {"has_doorbells", events_->has_doorbells()},
                         {"links", ordered_json::array()}};
    for (const LinkReport& link : links)
      if (link.settings.is_active != 0) head["links"].push_back(json_of(link));
    head.update(about);
    write(head.dump() + "\n");
  }

  void write_end(uint64_t ended_ns, uint64_t missed, bool is_whole) {
    const ordered_json end = {{"record", "end"},
                              {"ns", ended_ns - began_ns_},
                              {"packets", recording_->packets()},
                              {"doorbells", recording_->doorbells()},
                              {"missed", missed},
                              {"is_complete", missed == 0 && is_whole}};
    write(end.dump() + "\n");
  }

  void take_what_came() {
    came_.clear();
    events_->take(came_);
    for (const lab_event& event : came_) waiting_.emplace(event.time_ns, event);
  }
  // Those before that time, in their order.
  void pass_on(uint64_t before_ns) {
    const auto first_later = waiting_.lower_bound(before_ns);
    for (auto event = waiting_.begin(); event != first_later; ++event) recording_->take(event->second);
    waiting_.erase(waiting_.begin(), first_later);
  }

  void look(uint64_t at_ns) {
    take_what_came();
    pass_on(at_ns - kLateNs);
    // What is in force may change while it is recorded.
    if (at_ns < next_settling_ns_) return;
    const Result<std::vector<LinkReport>> links = report_links(lab_);
    if (links.is_ok()) held_ns_ = std::max(held_ns_, longest_held_ns(links.value()));
    const uint64_t age_ns = kLateNs + kOnTheWayNs + held_ns_;
    if (at_ns - began_ns_ > age_ns) recording_->settle(at_ns - age_ns);
    (void)std::fflush(file_.get());
    next_settling_ns_ = at_ns + kOnTheWayNs / 4;
  }

  Status clean_up() { return was_without_programs_ ? unload_unneeded(lab_) : Status::ok(); }

  const Lab& lab_;
  std::string path_;
  Descriptor lock_;
  std::unique_ptr<std::FILE, CloseFile> file_;
  std::unique_ptr<Events> events_;
  std::optional<Recording> recording_;
  std::vector<lab_event> came_;
  std::multimap<uint64_t, lab_event> waiting_;  // by time
  uint64_t began_ns_ = 0;
  uint64_t held_ns_ = 0;
  uint64_t next_settling_ns_ = 0;
  bool was_without_programs_ = false;
};

void answer(int control, const Status& status) {
  const std::string text = (status.is_ok() ? kWell : kFailed) + std::string(status.message());
  (void)!::write(control, text.c_str(), text.size() + 1);
}

[[noreturn]] void live_as_recorder(const Lab& lab, const std::string& file, const ordered_json& about, int control) {
  // What a terminal sends goes to the command that is recorded, too, and whoever waits for that says when to stop.
  for (const int signal : {SIGINT, SIGQUIT, SIGHUP, SIGPIPE}) std::signal(signal, SIG_IGN);
  prctl(PR_SET_NAME, "lab-record");
  RecorderLoop loop(lab, file);
  const Status started = loop.begin(about);
  answer(control, started);
  if (!started.is_ok()) _exit(1);
  if (!loop.follow(control)) {
    loop.give_up();
    _exit(1);
  }
  const Status ended = loop.end();
  answer(control, ended);
  _exit(ended.is_ok() ? 0 : 1);
}

Status hear(int control) {
  std::string text;
  for (char one = 0;;) {
    const ssize_t length = read(control, &one, 1);
    if (length < 0 && errno == EINTR) continue;
    if (length <= 0) return {Code::kSystem, "the process that records the lab has ended"};
    if (one == 0) break;
    text += one;
  }
  return text[0] == kWell ? Status::ok() : Status(Code::kSystem, text.substr(1));
}

}  // namespace

pid_t recording_process(const Lab& lab) {
  const Descriptor file(open(lock_file_of_recorder(lab).c_str(), O_RDWR | O_CLOEXEC));
  struct flock lock = all_of_it();
  if (file.get() < 0 || fcntl(file.get(), F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK) return 0;
  return lock.l_pid;
}

Result<Recorder> Recorder::start(const Lab& lab, const std::string& file, const ordered_json& about) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return Status::system("can't make a socket for a recording", errno);
  Descriptor own(ends[0]);
  Descriptor others(ends[1]);
  std::fflush(nullptr);
  const pid_t process = fork();
  if (process < 0) return Status::system("can't start a process for a recording", errno);
  if (process == 0) {
    own.reset();
    live_as_recorder(lab, file, about, others.get());
  }
  others.reset();
  Recorder recorder(lab, process, std::move(own));
  HOCKET_TRY(hear(recorder.control_.get()));
  return Result<Recorder>(std::move(recorder));
}

Status Recorder::stop() {
  const char word = kStop;
  Status status = send(control_.get(), &word, 1, MSG_NOSIGNAL) == 1
                      ? hear(control_.get())
                      : Status(Code::kSystem, "the process that records the lab has ended");
  end();
  return status;
}

void Recorder::end() {
  control_.reset();
  if (process_ == 0) return;
  int status = 0;
  while (waitpid(process_, &status, 0) < 0 && errno == EINTR) continue;
  process_ = 0;
  // It has left its programs where they were. If that fails, they go with the lab.
  if (WIFSIGNALED(status) && recording_process(lab_) == 0) (void)unload_unneeded(lab_).is_ok();
}

Recorder::~Recorder() { end(); }

}  // namespace hocket::lab
