// SPDX-License-Identifier: BSD-3-Clause
#include "core/endpoint.h"

#include <algorithm>
#include <mutex>
#include <unordered_set>
#include <vector>

#include "base/log.h"
#include "c_api/internal/attention.h"
#include "c_api/internal/job_size.h"
#include "c_api/internal/vocabulary.h"
#include "core/awaited_progress.h"
#include "core/wake.h"

namespace hocket::interposer {
namespace {

struct WindowPart {
  uint64_t window = 0;  // by its handle
  uint64_t number = 0;  // which no other window has had
  bool is_closing = false;
  const void* memory = nullptr;
  size_t bytes = 0;
};

struct Endpoint {
  std::mutex mutex;
  bool tried = false;
  hocket_context_t* context = nullptr;
  hocket_context_options_t options{};
  bool mpi_spins = false;
  int job_size = 1;
  uint32_t job_number = 0;
  const char* mpi_name = "";
  std::unordered_set<void*> given_out;
  std::vector<WindowPart> windows;
  uint64_t window_numbers = 0;
};

// Never destroyed: threads of the program may outlive static destruction.
Endpoint& the_endpoint() {
  static auto* endpoint = new Endpoint;
  return *endpoint;
}

hocket_context_t* make_context(Endpoint& self) {
  if (self.tried) return self.context;
  self.tried = true;
  self.options.struct_size = sizeof self.options;
  const hocket_status_t status = hocket_context_create(&self.options, &self.context);
  if (status != HOCKET_OK) {
    self.context = nullptr;
    HOCKET_LOG_WARN("all calls are passed through to the MPI: %s", hocket_error_text());
  } else {
    c_api::speak_of_mpi(self.context, self.mpi_name);
    c_api::expect_ranks(self.context, static_cast<uint32_t>(self.job_size), self.job_number);
    c_api::attend(self.context, {awaited_progress.number(), self.mpi_spins, wake_board()});
    for (const WindowPart& part : self.windows) c_api::window_comes(self.context, part.number, part.memory, part.bytes);
  }
  return self.context;
}

}  // namespace

void set_progress(void (*progress)(void*), void* user, bool mpi_spins) {
  the_endpoint().mpi_spins = mpi_spins;
  the_endpoint().options.progress = progress;
  the_endpoint().options.progress_user = user;
}

void set_job(int ranks, uint32_t number) {
  the_endpoint().job_size = ranks;
  the_endpoint().job_number = number;
}
void set_mpi_name(const char* name) { the_endpoint().mpi_name = name; }
void set_wire(const hocket_wire_t* wire) { the_endpoint().options.wire = wire; }
bool has_wire() { return the_endpoint().options.wire != nullptr; }

hocket_context_t* endpoint() {
  Endpoint& self = the_endpoint();
  const std::lock_guard lock(self.mutex);
  return make_context(self);
}

void* shared_allocate(size_t bytes) {
  Endpoint& self = the_endpoint();
  const std::lock_guard lock(self.mutex);
  hocket_context_t* context = make_context(self);
  void* memory = nullptr;
  if (context == nullptr || hocket_alloc(context, bytes, &memory) != HOCKET_OK) return nullptr;
  self.given_out.insert(memory);
  return memory;
}

bool shared_free(void* memory) {
  Endpoint& self = the_endpoint();
  const std::lock_guard lock(self.mutex);
  if (self.given_out.erase(memory) == 0) return false;
  if (hocket_free(self.context, memory) != HOCKET_OK) HOCKET_LOG_WARN("MPI_Free_mem: %s", hocket_error_text());
  return true;
}

void window_comes(uint64_t window, const void* memory, size_t bytes) {
  Endpoint& self = the_endpoint();
  const std::lock_guard lock(self.mutex);
  const WindowPart part{window, ++self.window_numbers, false, memory, bytes};
  self.windows.push_back(part);
  if (self.context != nullptr) c_api::window_comes(self.context, part.number, memory, bytes);
}

uint64_t window_closes(uint64_t window) {
  Endpoint& self = the_endpoint();
  const std::lock_guard lock(self.mutex);
  const auto part = std::find_if(self.windows.begin(), self.windows.end(),
                                 [&](const WindowPart& one) { return one.window == window && !one.is_closing; });
  if (part == self.windows.end()) return 0;
  part->is_closing = true;
  if (self.context != nullptr) c_api::window_closes(self.context, part->number);
  return part->number;
}

void window_closed(uint64_t number, bool has_gone) {
  Endpoint& self = the_endpoint();
  const std::lock_guard lock(self.mutex);
  if (self.context != nullptr)
    has_gone ? c_api::window_goes(self.context, number) : c_api::window_stays(self.context, number);
  const auto part = std::find_if(self.windows.begin(), self.windows.end(),
                                 [&](const WindowPart& one) { return one.number == number; });
  if (part == self.windows.end()) return;
  part->is_closing = false;
  if (has_gone) self.windows.erase(part);
}

c_api::WindowUses window_uses() {
  Endpoint& self = the_endpoint();
  const std::lock_guard lock(self.mutex);
  return self.context == nullptr ? c_api::WindowUses{} : c_api::window_uses(self.context);
}

void close_endpoint() {
  Endpoint& self = the_endpoint();
  const std::lock_guard lock(self.mutex);
  if (self.context != nullptr && hocket_context_destroy(self.context) != HOCKET_OK) {
    HOCKET_LOG_INFO("closing: %s", hocket_error_text());
  }
  self.context = nullptr;
  self.tried = true;
  self.given_out.clear();
  self.windows.clear();
}

}  // namespace hocket::interposer
