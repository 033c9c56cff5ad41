// SPDX-License-Identifier: BSD-3-Clause
#include "core/report/source_lines.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <string_view>

#include "base/clock.h"

extern char** environ;  // NOLINT: declared by no header in standard C++

namespace hocket::interposer {
namespace {

constexpr const char* kPrograms[] = {"addr2line", "eu-addr2line", "llvm-addr2line"};
constexpr size_t kMostBytes = size_t{1} << 20;

// Without what would load hocket into it, or have it ask a server for debug information.
std::vector<char*> environment_of_child() {
  std::vector<char*> kept;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    if (!text.starts_with("LD_PRELOAD=") && !text.starts_with("DEBUGINFOD_URLS=")) kept.push_back(*variable);
  }
  kept.push_back(nullptr);
  return kept;
}

class Pipe {
 public:
  Pipe() {
    if (pipe2(ends_, O_CLOEXEC) != 0) ends_[0] = ends_[1] = -1;
  }
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  bool is_open() const { return ends_[0] >= 0; }
  int reading() const { return ends_[0]; }
  int writing() const { return ends_[1]; }
  void close_writing() { close_end(1); }

 private:
  void close_end(int end) {
    if (ends_[end] >= 0) close(ends_[end]);
    ends_[end] = -1;
  }
  int ends_[2] = {-1, -1};
};

// 0: it can't be started.
pid_t start(const char* program, std::vector<std::string>& words, int output) {
  std::vector<char*> arguments = {const_cast<char*>(program)};
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  if (posix_spawn_file_actions_init(&actions) != 0) return 0;
  pid_t child = 0;
  const bool is_set = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0) == 0 &&
                      posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO) == 0 &&
                      posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0) == 0;
  if (!is_set || posix_spawnp(&child, program, &actions, nullptr, arguments.data(), environment_of_child().data()) != 0)
    child = 0;
  posix_spawn_file_actions_destroy(&actions);
  return child;
}

// False: it took too long, or says too much.
bool read_all(int descriptor, uint64_t end_ns, std::string& text) {
  for (;;) {
    const uint64_t now = now_ns();
    if (now >= end_ns || text.size() > kMostBytes) return false;
    pollfd waiting = {descriptor, POLLIN, 0};
    const int ready = poll(&waiting, 1, static_cast<int>((end_ns - now) / 1'000'000) + 1);
    if (ready < 0 && errno != EINTR) return false;
    if (ready <= 0) continue;
    char part[4096];
    const ssize_t bytes = read(descriptor, part, sizeof part);
    if (bytes == 0) return true;
    if (bytes < 0 && errno != EINTR) return false;
    if (bytes > 0) text.append(part, static_cast<size_t>(bytes));
  }
}

// "" if it can't be had.
std::string output_of(const char* program, std::vector<std::string>& words, uint64_t end_ns) {
  Pipe pipe;
  if (!pipe.is_open()) return {};
  const pid_t child = start(program, words, pipe.writing());
  if (child == 0) return {};
  pipe.close_writing();
  std::string text;
  // One that has the pipe open yet has not ended, so its number is no other's.
  const bool is_whole = read_all(pipe.reading(), end_ns, text);
  if (!is_whole) kill(child, SIGKILL);
  // A program that ignores its children, or waits for any, leaves none to wait for.
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) continue;
  return is_whole ? text : std::string();
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

std::vector<SourceLine> source_lines(const std::string& object, std::span<const uint64_t> offsets, int timeout_ms) {
  std::vector<SourceLine> found(offsets.size());
  if (access(object.c_str(), R_OK) != 0) return found;
  const uint64_t end_ns = now_ns() + static_cast<uint64_t>(timeout_ms) * 1'000'000;
  std::vector<std::string> words = {"-C", "-f", "-e", object};
  for (const uint64_t offset : offsets) {
    char text[24];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(offset));
    words.emplace_back(text);
  }
  for (const char* program : kPrograms) {
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
