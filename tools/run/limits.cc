// SPDX-License-Identifier: BSD-3-Clause
#include "run/limits.h"

namespace hocket::command {
namespace {

// Standard streams, signals, the hub's and the launcher's sockets, what starting a rank and looking through /proc take
// for a moment, and a few that we were started with.
constexpr rlim_t kOwn = 32;

}  // namespace

std::string DescriptorLimit::raise(const RunOptions& options) {
  const rlim_t each = options.label ? 3 : 1;  // a connection, two pipes
  const rlim_t needed = kOwn + each * static_cast<rlim_t>(options.ranks);
  if (getrlimit(RLIMIT_NOFILE, &before_) != 0 || before_.rlim_cur == RLIM_INFINITY) return {};
  rlimit raised = before_;
  raised.rlim_cur = before_.rlim_max;
  is_raised_ = raised.rlim_cur > before_.rlim_cur && setrlimit(RLIMIT_NOFILE, &raised) == 0;
  const rlim_t allowed = is_raised_ ? raised.rlim_cur : before_.rlim_cur;
  if (allowed >= needed) return {};
  return std::to_string(options.ranks) + " ranks" + (options.label ? " with --label" : "") + " take " +
         std::to_string(needed) + " open files, and the limit is " + std::to_string(allowed) +
         "; raise it (`ulimit -n`, its hard limit)" + (options.label ? ", or run without --label" : "");
}

void DescriptorLimit::restore() const {
  if (is_raised_) setrlimit(RLIMIT_NOFILE, &before_);
}

}  // namespace hocket::command
