// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/context.h"

#include <unistd.h>

#include "base/environment.h"
#include "base/log.h"
#include "platform/parking.h"

namespace hocket::communicator {
namespace {

constexpr int64_t kMillisecondsPerSecond = 1000;

template <typename T>
Status read(Result<T> setting, T& into) {
  if (!setting.is_ok()) return setting.take_status();
  into = setting.take();
  return Status::ok();
}

}  // namespace

Result<std::unique_ptr<Context>> Context::create(const ContextOptions& options) {
  for (const std::string& problem : environment::problems()) HOCKET_LOG_WARN("%s", problem.c_str());
  std::unique_ptr<Context> context(new Context);
  context->options_ = options;
  int wait_mode = 0;
  int64_t timeout_s = 0;
  HOCKET_TRY(read(environment::get_enum("HOCKET_WAIT"), wait_mode));
  HOCKET_TRY(read(environment::get_flag("HOCKET_CHECK"), context->checks_arguments_));
  HOCKET_TRY(read(environment::get_integer("HOCKET_SETUP_TIMEOUT_S"), timeout_s));
  context->wait_mode_ = static_cast<platform::WaitMode>(wait_mode);
  context->setup_timeout_ms_ = timeout_s * kMillisecondsPerSecond;
  HOCKET_TRY(read(platform::SharedRegion::create(options.memory_limit), context->region_));
  HOCKET_TRY(read(platform::Rendezvous::create(context->region_), context->rendezvous_));
  context->cpus_ = platform::read_cpu_budget();
  context->asymmetric_barrier_ = platform::register_asymmetric_barrier();
  context->process_ = getpid();
  return context;
}

bool Context::is_owner() const { return getpid() == process_; }

}  // namespace hocket::communicator
