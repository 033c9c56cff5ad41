// SPDX-License-Identifier: BSD-3-Clause
#include "last_words.h"

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>

namespace conformance {
namespace {

unsigned limit = 0;
char words[1000];

void speak(int signal) {
  const char* what = signal == SIGALRM ? "FAILED: stuck in " : "FAILED: crashed in ";
  if (write(STDERR_FILENO, what, std::strlen(what)) < 0 || write(STDERR_FILENO, words, std::strlen(words)) < 0) {
    _exit(4);
  }
  if (signal == SIGALRM) _exit(4);
  std::signal(signal, SIG_DFL);
  raise(signal);
}

}  // namespace

void prepare_last_words(unsigned limit_seconds) {
  limit = limit_seconds;
  for (const int signal : {SIGALRM, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) std::signal(signal, speak);
}

void announce(const std::string& description, int rank) {
  std::snprintf(words, sizeof words, "%s on rank %d\n", description.c_str(), rank);
  alarm(limit);
}

}  // namespace conformance
