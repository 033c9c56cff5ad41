// SPDX-License-Identifier: BSD-3-Clause
#include "platform/bootstrap/launch_place.h"

#include <charconv>
#include <cinttypes>
#include <cstdio>

namespace hocket::platform {
namespace {

constexpr size_t kDigits = 16;  // of a word

std::string hexadecimal(const uint64_t (&words)[2]) {
  char text[2 * kDigits + 1];
  std::snprintf(text, sizeof text, "%016" PRIx64 "%016" PRIx64, words[0], words[1]);
  return text;
}

template <typename T>
bool read_number(std::string_view text, int base, T& into) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), into, base);
  return error == std::errc() && end == text.data() + text.size();
}

bool read_words(std::string_view text, uint64_t (&into)[2]) {
  return text.size() == 2 * kDigits && read_number(text.substr(0, kDigits), 16, into[0]) &&
         read_number(text.substr(kDigits), 16, into[1]);
}

// What stands before `mark`, which is taken off `rest` too; nothing where there is no mark.
std::string_view take_until(char mark, std::string_view& rest) {
  const size_t length = rest.find(mark);
  if (length == std::string_view::npos) return {};
  const std::string_view part = rest.substr(0, length);
  rest.remove_prefix(length + 1);
  return part;
}

}  // namespace

std::string to_text(const LaunchPlace& place) {
  return std::to_string(place.rank) + "/" + std::to_string(place.size) + ":" + hexadecimal(place.socket) + ":" +
         hexadecimal(place.key);
}

Result<LaunchPlace> parse_launch_place(std::string_view text) {
  LaunchPlace place;
  std::string_view rest = text;
  const std::string_view rank = take_until('/', rest);
  const std::string_view size = take_until(':', rest);
  const std::string_view socket = take_until(':', rest);
  const bool understood = read_number(rank, 10, place.rank) && read_number(size, 10, place.size) &&
                          read_words(socket, place.socket) && read_words(rest, place.key);
  if (!understood || place.size > LaunchPlace::kMostRanks || place.rank >= place.size) {
    return Status(Code::kInvalidArgument, "HOCKET_RUN=" + std::string(text) +
                                              " can't be understood; `hocket run` sets it for the ranks it starts, as "
                                              "rank/size:socket:key: unset it where a program is started otherwise");
  }
  return place;
}

std::string launch_socket_name(const LaunchPlace& place) { return "hocket-run-" + hexadecimal(place.socket); }

}  // namespace hocket::platform
