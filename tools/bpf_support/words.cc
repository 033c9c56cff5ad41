// SPDX-License-Identifier: BSD-3-Clause
#include "bpf_support/words.h"

#include <bpf/libbpf.h>

#include <algorithm>
#include <cstdio>

namespace hocket::bpf {
namespace {

std::string& last_words() {
  static std::string words;
  return words;
}

int keep(libbpf_print_level level, const char* format, va_list arguments) {
  if (level == LIBBPF_DEBUG) return 0;
  // The verifier's log is one line to libbpf, and its end says what is wrong.
  std::string text(256 << 10, '\0');
  const int length = std::vsnprintf(text.data(), text.size(), format, arguments);
  text.resize(std::min(static_cast<size_t>(std::max(length, 0)), text.size() - 1));
  constexpr size_t kMost = 2000;
  last_words() += text;
  if (last_words().size() > kMost) last_words().erase(0, last_words().size() - kMost);
  return 0;
}

}  // namespace

void keep_words() {
  last_words().clear();
  libbpf_set_print(keep);
}

Status failed(const std::string& what, int error) {
  Status status = Status::system(what, error < 0 ? -error : error);
  if (last_words().empty()) return status;
  return {Code::kSystem, std::string(status.message()) + "\n" + last_words()};
}

}  // namespace hocket::bpf
