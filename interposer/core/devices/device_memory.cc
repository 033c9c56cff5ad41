// SPDX-License-Identifier: BSD-3-Clause
#include "core/devices/device_memory.h"

#include <dlfcn.h>
#include <pthread.h>

#include <array>
#include <cstring>
#include <mutex>

#include "base/log.h"
#include "core/devices/loaded_libraries.h"

namespace hocket::interposer::device {
namespace {

const void* const nothing = nullptr;
const void* const always = &nothing;

struct State {
  std::mutex mutex;  // of all but `drivers`
  Wish wish = Wish::kAutomatic;
  void* (*find_object)(const char*) = nullptr;
  LoadedLibraries libraries;
  std::array<bool, kDrivers> tried{};
  // Each is set once, and stays. Release, with the acquire in for_drivers(): a thread that sees a driver sees what it
  // holds.
  std::array<std::atomic<Driver*>, kDrivers> drivers{};
  // What LoadedLibraries has given; read in every question where a driver is, as internal::watched is elsewhere.
  std::atomic<const void* const*> next_library{&nothing};
};

// Never destroyed: threads of the program may outlive static destruction.
State& state() {
  static auto* state = new State;
  return *state;
}

template <typename Visit>
void for_drivers(const Visit& visit) {
  for (const std::atomic<Driver*>& one : state().drivers) {
    Driver* const driver = one.load(std::memory_order_acquire);
    if (driver != nullptr && !visit(*driver)) return;
  }
}

bool has_driver() {
  bool has = false;
  for_drivers([&](Driver&) {
    has = true;
    return false;
  });
  return has;
}

void open_driver(State& self, size_t index) {
  const char* const path = self.libraries.find(kDriverLibraries[index].file);
  if (path == nullptr || self.tried[index]) return;
  // Held from here on: a driver that goes would take its functions with it.
  void* const library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return;
  self.tried[index] = true;
  Driver* const driver = kDriverLibraries[index].open(library).release();
  if (driver == nullptr) {
    HOCKET_LOG_WARN("%s lacks functions that hocket needs: calls with pointers to its devices' memory will fail", path);
    dlclose(library);
    return;
  }
  HOCKET_LOG_DEBUG("%s is in the process: %s", driver->name(), path);
  self.drivers[index].store(driver, std::memory_order_release);
}

void look(State& self) {
  for (;;) {
    const void* const* const next = self.libraries.look();
    self.next_library.store(next, std::memory_order_release);
    for (size_t i = 0; i < kDrivers; ++i) open_driver(self, i);
    internal::watched.store(has_driver() ? &always : next, std::memory_order_release);
    if (__atomic_load_n(next, __ATOMIC_RELAXED) == nullptr) return;
  }
}

void look_if_changed() {
  State& self = state();
  const void* const* const next = self.next_library.load(std::memory_order_acquire);
  if (__atomic_load_n(next, __ATOMIC_RELAXED) == nullptr) [[likely]]
    return;
  const std::lock_guard lock(self.mutex);
  look(self);
}

// The ranges that this thread asked for last.
struct Known {
  Driver* driver = nullptr;
  Place place;

  bool has(uintptr_t address) const { return address - place.begin < place.bytes; }
};
constexpr size_t kRemembered = 4;
thread_local std::array<Known, kRemembered> remembered;
thread_local size_t next_remembered = 0;
thread_local uint64_t copies = 0;

Known ask(const void* address) {
  Known known;
  for_drivers([&](Driver& driver) {
    const Place place = driver.find(address);
    if (place.reach > known.place.reach) known = {&driver, place};
    return place.reach != Reach::kDriver;
  });
  if (known.place.reach == Reach::kDriver && known.has(reinterpret_cast<uintptr_t>(address))) {
    remembered[next_remembered++ % kRemembered] = known;
  }
  return known;
}

Known find(const void* address) {
  look_if_changed();
  for (const Known& known : remembered) {
    if (known.has(reinterpret_cast<uintptr_t>(address))) return known;
  }
  return ask(address);
}

// Bounds of the calling thread's stack, of which the part in use can't be a device's. Empty where it isn't told.
struct Stack {
  uintptr_t lowest = 0, end = 0;
};

Stack read_stack() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return {};
  void* lowest = nullptr;
  size_t bytes = 0;
  const bool is_known = pthread_attr_getstack(&attributes, &lowest, &bytes) == 0;
  pthread_attr_destroy(&attributes);
  const auto begin = reinterpret_cast<uintptr_t>(lowest);
  return is_known ? Stack{begin, begin + bytes} : Stack{};
}

bool is_on_stack(const void* address) {
  static thread_local const Stack stack = read_stack();
  const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  const auto wanted = reinterpret_cast<uintptr_t>(address);
  // A thread may run on another stack than its own.
  return here >= stack.lowest && here < stack.end && wanted >= here && wanted < stack.end;
}

void copy_by_processor(const Rows& rows, Direction direction) {
  for (size_t i = 0; i < rows.number; ++i) {
    unsigned char* const host = rows.host + i * rows.host_pitch;
    unsigned char* const there = rows.device + i * rows.device_pitch;
    const bool is_to_device = direction == Direction::kToDevice;
    std::memcpy(is_to_device ? there : host, is_to_device ? host : there, rows.bytes);
  }
}

// By the driver, but for memory that no driver claims.
int copy_once(const Known& known, const Rows& rows, Direction direction) {
  if (known.place.reach != Reach::kDriver) {
    copy_by_processor(rows, direction);
    return 0;
  }
  ++copies;
  return known.driver->copy(known.place, rows, direction);
}

// Whether the MPI says that it takes pointers of the drivers that are here.
bool is_mpi_aware(State& self) {
  using Query = int (*)();
  bool is_aware = self.find_object != nullptr;
  for_drivers([&](Driver& driver) {
    const Driver::MpiQueries queries = driver.mpi_queries();
    auto query = is_aware ? reinterpret_cast<Query>(self.find_object(queries.name)) : nullptr;
    if (is_aware && query == nullptr) query = reinterpret_cast<Query>(self.find_object(queries.other_name));
    is_aware = query != nullptr && query() == 1;
    return is_aware;
  });
  return is_aware;
}

}  // namespace

std::atomic<const void* const*> internal::watched{&nothing};

Reach internal::reach_of(const void* address) {
  look_if_changed();
  if (!has_driver() || is_on_stack(address)) return Reach::kAnybody;
  return find(address).place.reach;
}

bool internal::must_be_staged(const void* address, size_t bytes) {
  // Shorter pieces are never read by CMA (engines/executor).
  constexpr size_t kLeastByCma = size_t{32} << 10;
  const Reach reach = reach_of(address);
  return reach == Reach::kDriver || (reach == Reach::kProcessor && bytes >= kLeastByCma);
}

bool copy(const Rows& rows, Direction direction) {
  int error = copy_once(find(rows.device), rows, direction);
  if (error == 0) [[likely]]
    return true;
  // What is remembered may be gone.
  remembered.fill(Known{});
  const Known known = ask(rows.device);
  error = copy_once(known, rows, direction);
  if (error == 0) return true;
  HOCKET_LOG_ERROR("%s can't copy %zu bytes %s %p: error %d", known.driver->name(), rows.bytes * rows.number,
                   direction == Direction::kToDevice ? "to" : "from", static_cast<void*>(rows.device), error);
  return false;
}

void begin(Wish wish, void* (*find_object)(const char*)) {
  State& self = state();
  const std::lock_guard lock(self.mutex);
  self.wish = wish;
  self.find_object = find_object;
  look(self);
}

void end() {
  State& self = state();
  const std::lock_guard lock(self.mutex);
  internal::watched.store(&nothing, std::memory_order_release);
  self.next_library.store(&nothing, std::memory_order_release);
  self.libraries.let_go();
}

DeviceOffer offer() {
  look_if_changed();
  State& self = state();
  const std::lock_guard lock(self.mutex);
  if (self.wish == Wish::kStage || !has_driver()) return DeviceOffer::kStage;
  if (self.wish == Wish::kPassThrough) return DeviceOffer::kPassThrough;
  return is_mpi_aware(self) ? DeviceOffer::kEither : DeviceOffer::kStage;
}

uint64_t copies_so_far() { return copies; }

}  // namespace hocket::interposer::device
