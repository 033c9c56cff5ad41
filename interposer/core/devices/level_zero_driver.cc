// SPDX-License-Identifier: BSD-3-Clause
// Level Zero, as far as it is needed: names and values from its specification. It knows memory by context, and the
// program's contexts are not to be had; but a context of one's own is told of memory of the same driver's others, on
// which other libraries of communication rely as well.
#include <map>
#include <mutex>
#include <vector>

#include "core/devices/device_driver.h"

namespace hocket::interposer::device {
namespace {

using ZeHandle = void*;

enum ZeStructure : unsigned { kZeContext = 0xd, kZeQueue = 0xe, kZeMemory = 0x17 };
enum ZeMemoryType : unsigned { kZeUnknown = 0, kZeHost = 1, kZeDevice = 2, kZeShared = 3 };
constexpr unsigned kZeSynchronous = 1;

struct ZeContextDescription {
  unsigned stype = kZeContext;
  const void* next = nullptr;
  unsigned flags = 0;
};
struct ZeQueueDescription {
  unsigned stype = kZeQueue;
  const void* next = nullptr;
  unsigned ordinal = 0, index = 0, flags = 0, mode = kZeSynchronous, priority = 0;
};
struct ZeMemoryProperties {
  unsigned stype = kZeMemory;
  void* next = nullptr;
  unsigned type = kZeUnknown;
  uint64_t id = 0;
  uint64_t page_size = 0;
};

struct ZeFunctions {
  int (*DriverGet)(unsigned*, ZeHandle*);
  int (*ContextCreate)(ZeHandle, const ZeContextDescription*, ZeHandle*);
  int (*MemGetAllocProperties)(ZeHandle, const void*, ZeMemoryProperties*, ZeHandle*);
  int (*MemGetAddressRange)(ZeHandle, const void*, void**, size_t*);
  int (*CommandListCreateImmediate)(ZeHandle, ZeHandle, const ZeQueueDescription*, ZeHandle*);
  int (*CommandListAppendMemoryCopy)(ZeHandle, void*, const void*, size_t, ZeHandle, unsigned, ZeHandle*);
};

class LevelZero final : public Driver {
 public:
  explicit LevelZero(const ZeFunctions& functions) : ze_(functions) {}
  const char* name() const override { return "Level Zero"; }
  MpiQueries mpi_queries() const override { return {"MPIX_Query_ze_support", "MPIX_Query_ze_support"}; }

  Place find(const void* address) override {
    const std::lock_guard lock(mutex_);
    if (contexts_.empty()) make_contexts();
    for (ZeHandle context : contexts_) {
      ZeMemoryProperties properties;
      ZeHandle device = nullptr;
      if (ze_.MemGetAllocProperties(context, address, &properties, &device) != 0) continue;
      if (properties.type == kZeHost) return {Reach::kProcessor};
      if (properties.type != kZeDevice && properties.type != kZeShared) continue;
      Place place{Reach::kDriver, 0, 0, context, reinterpret_cast<intptr_t>(device)};
      void* begin = nullptr;
      if (ze_.MemGetAddressRange(context, address, &begin, &place.bytes) != 0) place.bytes = 0;
      place.begin = reinterpret_cast<uintptr_t>(begin);
      return place;
    }
    return {};
  }

  int copy(const Place& place, const Rows& rows, Direction direction) override {
    const std::lock_guard lock(mutex_);
    const auto device = reinterpret_cast<ZeHandle>(place.device);
    ZeHandle& list = lists_[device];
    const ZeQueueDescription queue;
    if (list == nullptr) {
      const int error = ze_.CommandListCreateImmediate(place.context, device, &queue, &list);
      if (error != 0) return error;
    }
    const bool is_to_device = direction == Direction::kToDevice;
    for (size_t i = 0; i < rows.number; ++i) {
      unsigned char* const host = rows.host + i * rows.host_pitch;
      unsigned char* const there = rows.device + i * rows.device_pitch;
      const int error = ze_.CommandListAppendMemoryCopy(list, is_to_device ? there : host, is_to_device ? host : there,
                                                        rows.bytes, nullptr, 0, nullptr);
      if (error != 0) return error;
    }
    return 0;
  }

 private:
  // There are none before the program has initialised the driver, which is not for others to do.
  void make_contexts() {
    unsigned number = 0;
    if (ze_.DriverGet(&number, nullptr) != 0 || number == 0) return;
    std::vector<ZeHandle> drivers(number);
    if (ze_.DriverGet(&number, drivers.data()) != 0) return;
    const ZeContextDescription description;
    for (ZeHandle driver : drivers) {
      ZeHandle context = nullptr;
      if (ze_.ContextCreate(driver, &description, &context) == 0) contexts_.push_back(context);
    }
  }

  const ZeFunctions ze_;
  std::mutex mutex_;
  std::vector<ZeHandle> contexts_;
  std::map<ZeHandle, ZeHandle> lists_;  // of devices
};

}  // namespace

std::unique_ptr<Driver> open_level_zero(void* library) {
  ZeFunctions ze{};
  const bool has_all = read_function(library, "zeDriverGet", ze.DriverGet) &&
                       read_function(library, "zeContextCreate", ze.ContextCreate) &&
                       read_function(library, "zeMemGetAllocProperties", ze.MemGetAllocProperties) &&
                       read_function(library, "zeMemGetAddressRange", ze.MemGetAddressRange) &&
                       read_function(library, "zeCommandListCreateImmediate", ze.CommandListCreateImmediate) &&
                       read_function(library, "zeCommandListAppendMemoryCopy", ze.CommandListAppendMemoryCopy);
  if (!has_all) return nullptr;
  return std::make_unique<LevelZero>(ze);
}

}  // namespace hocket::interposer::device
