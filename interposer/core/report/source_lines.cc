// SPDX-License-Identifier: BSD-3-Clause
#include "core/report/source_lines.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <iterator>
#include <string_view>

#include "base/clock.h"
#include "core/report/borrowed_process.h"

extern char** environ;  // NOLINT: declared by no header in standard C++

namespace hocket::interposer {
namespace {

constexpr const char* kPrograms[] = {"addr2line", "eu-addr2line", "llvm-addr2line"};
constexpr size_t kMostBytes = size_t{1} << 20;
// A millisecond each.
constexpr int kLooksAtKilled = 1000;

// Of this process's variables only what a program needs to be found and loaded: with all of them hocket would be loaded
// into it, and it would ask a server for debug information.
constexpr std::string_view kVariablesKept[] = {"PATH=", "LD_LIBRARY_PATH=", "HOME=", "TMPDIR="};

std::vector<char*> environment_of_child() {
  std::vector<char*> kept;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    if (std::any_of(std::begin(kVariablesKept), std::end(kVariablesKept),
                    [&](std::string_view start) { return text.starts_with(start); }))
      kept.push_back(*variable);
  }
  static char language[] = "LC_ALL=C";
  kept.push_back(language);
  kept.push_back(nullptr);
  return kept;
}

// Where what a program writes comes out.
class Pipe {
 public:
  Pipe() {
    if (pipe2(ends_, O_CLOEXEC) != 0) ends_[0] = ends_[1] = -1;
    if (is_open()) fcntl(ends_[0], F_SETFL, O_NONBLOCK);
  }
  ~Pipe() {
    for (const int end : ends_)
      if (end >= 0) close(end);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  bool is_open() const { return ends_[0] >= 0; }
  int reading() const { return ends_[0]; }
  int writing() const { return ends_[1]; }

 private:
  int ends_[2] = {-1, -1};
};

// How a program is to be started: with no signal blocked, and none ignored.
class Start {
 public:
  explicit Start(int output) {
    sigset_t none, every;
    sigemptyset(&none);
    sigfillset(&every);
    are_made_ = posix_spawn_file_actions_init(&actions_) == 0;
    if (are_made_ && posix_spawnattr_init(&attributes_) != 0) {
      posix_spawn_file_actions_destroy(&actions_);
      are_made_ = false;
    }
    is_ready_ = are_made_ && posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0) == 0 &&
                posix_spawn_file_actions_adddup2(&actions_, output, STDOUT_FILENO) == 0 &&
                posix_spawn_file_actions_addopen(&actions_, STDERR_FILENO, "/dev/null", O_WRONLY, 0) == 0 &&
                posix_spawnattr_setsigmask(&attributes_, &none) == 0 &&
                posix_spawnattr_setsigdefault(&attributes_, &every) == 0 &&
                posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF) == 0;
  }
  ~Start() {
    if (!are_made_) return;
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  Start(const Start&) = delete;
  Start& operator=(const Start&) = delete;
  bool is_ready() const { return is_ready_; }
  // 0: it can't be started.
  pid_t start(const char* program, char* const* arguments, char* const* environment) const {
    pid_t child = 0;
    return posix_spawnp(&child, program, &actions_, &attributes_, arguments, environment) == 0 ? child : 0;
  }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
  bool are_made_ = false;
  bool is_ready_ = false;
};

// What is asked of a program, in a process without memory of its own.
struct Question {
  const char* program;
  char* const* arguments;
  char* const* environment;
  const Start* start;
  int output;
  uint64_t end_ns;
  char* answer;      // has room for kMostBytes
  size_t bytes = 0;  // of the answer
  bool is_answered = false;
};

// Nobody else waits for it, so its number is no other's.
bool has_ended(pid_t child) { return waitpid(child, nullptr, WNOHANG) != 0; }

void take_output(Question& question) {
  while (question.bytes < kMostBytes) {
    const ssize_t bytes = read(question.output, question.answer + question.bytes, kMostBytes - question.bytes);
    if (bytes <= 0) return;
    question.bytes += static_cast<size_t>(bytes);
  }
}

constexpr timespec kPause{0, 1'000'000};

void answer(void* argument) {
  auto& question = *static_cast<Question*>(argument);
  const pid_t child = question.start->start(question.program, question.arguments, question.environment);
  if (child == 0) return;
  while (now_ns() < question.end_ns && question.bytes < kMostBytes) {
    const bool is_over = has_ended(child);
    take_output(question);
    if (is_over) {
      question.is_answered = true;
      return;
    }
    nanosleep(&kPause, nullptr);
  }
  kill(child, SIGKILL);
  // One that hangs in the system, as on a file server that doesn't answer, is left to the first process.
  for (int looks = 0; looks < kLooksAtKilled && !has_ended(child); ++looks) nanosleep(&kPause, nullptr);
}

// "" if it can't be had.
std::string output_of(const char* program, std::vector<std::string>& words, uint64_t end_ns) {
  const Pipe pipe;
  if (!pipe.is_open()) return {};
  const Start start(pipe.writing());
  if (!start.is_ready()) return {};
  std::vector<char*> arguments = {const_cast<char*>(program)};
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const std::vector<char*> environment = environment_of_child();
  std::string text(kMostBytes, '\0');
  Question question = {program, arguments.data(), environment.data(), &start, pipe.reading(), end_ns, text.data()};
  constexpr uint64_t kForKilledNs = 2'000'000'000;
  if (!run_in_borrowed_process(answer, &question, end_ns + kForKilledNs) || !question.is_answered) return {};
  text.resize(question.bytes);
  return text;
}

std::string_view take_line(std::string_view& text) {
  const size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  return line;
}

}  // namespace

SourceLine parse_source_line(std::string_view function, std::string_view place) {
  SourceLine found;
  if (function != "??" && !function.empty()) found.function = function;
  // "/src/solver.c:31 (discriminator 2)", elfutils' "/src/solver.c:31:5", "??:0", "??:?".
  place = place.substr(0, place.find(" ("));
  const size_t name_end = place.rfind('/') == std::string_view::npos ? 0 : place.rfind('/');
  const size_t colon = place.find(':', name_end);
  if (colon == std::string_view::npos || place.starts_with("??")) return found;
  const std::string_view number = place.substr(colon + 1);
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), found.line);
  if (error != std::errc() || found.line == 0) {
    found.line = 0;
    return found;
  }
  found.file = place.substr(0, colon);
  return found;
}

std::vector<SourceLine> source_lines(const std::string& object, std::span<const uint64_t> offsets, uint64_t end_ns) {
  std::vector<SourceLine> found(offsets.size());
  if (access(object.c_str(), R_OK) != 0) return found;
  std::vector<std::string> words = {"-C", "-f", "-e", object};
  for (const uint64_t offset : offsets) {
    char text[24];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(offset));
    words.emplace_back(text);
  }
  for (const char* program : kPrograms) {
    if (now_ns() >= end_ns) break;
    const std::string output = output_of(program, words, end_ns);
    if (output.empty()) continue;
    std::string_view rest = output;
    for (SourceLine& line : found) {
      const std::string_view function = take_line(rest);
      line = parse_source_line(function, take_line(rest));
    }
    break;
  }
  return found;
}

}  // namespace hocket::interposer
