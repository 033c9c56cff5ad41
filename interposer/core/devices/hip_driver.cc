// SPDX-License-Identifier: BSD-3-Clause
// HIP's runtime, as far as it is needed: names and values from its documentation, those of release 5 and from 6 on.
#include "core/devices/device_driver.h"

namespace hocket::interposer::device {
namespace {

// The same bytes in all releases.
struct HipAttributes {
  unsigned type;
  int device;
  void* device_pointer;
  void* host_pointer;
  int is_managed;
  unsigned flags;
};

constexpr int kFirstOfHip6 = 60000000;
constexpr int kHipCopyDefault = 4;  // hipMemcpyDefault: both sides are found out

struct HipFunctions {
  int (*RuntimeGetVersion)(int*);
  int (*PointerGetAttributes)(HipAttributes*, const void*);
  int (*MemGetAddressRange)(void**, size_t*, void*);
  int (*Memcpy)(void*, const void*, size_t, int);
  int (*Memcpy2D)(void*, size_t, const void*, size_t, size_t, size_t, int);
  int (*StreamSynchronize)(void*);
  int (*GetLastError)();
};

class Hip final : public Driver {
 public:
  explicit Hip(const HipFunctions& functions) : hip_(functions) {
    int version = 0;
    if (hip_.RuntimeGetVersion(&version) == 0) host_type_ = version >= kFirstOfHip6 ? 1 : 0;
  }
  const char* name() const override { return "HIP"; }
  MpiQueries mpi_queries() const override { return {"MPIX_Query_hip_support", "MPIX_Query_rocm_support"}; }

  Place find(const void* address) override {
    HipAttributes attributes{};
    if (hip_.PointerGetAttributes(&attributes, address) != 0) {
      // Memory that it doesn't know, as a rule; the program must not find that among its own errors.
      hip_.GetLastError();
      return {};
    }
    Place place;
    // Type 0 means memory that isn't known from release 6 on, and the host's before.
    const bool is_unknown = host_type_ == 1 && attributes.type == 0;
    if (is_unknown && attributes.is_managed == 0) return {};
    const bool is_host = attributes.type == host_type_ && attributes.is_managed == 0;
    place.reach = is_host ? Reach::kProcessor : Reach::kDriver;
    void* begin = nullptr;
    if (!is_host && hip_.MemGetAddressRange(&begin, &place.bytes, const_cast<void*>(address)) == 0) {
      place.begin = reinterpret_cast<uintptr_t>(begin);
    } else if (!is_host) {
      hip_.GetLastError();
      place.bytes = 0;
    }
    return place;
  }

  int copy(const Place&, const Rows& rows, Direction direction) override {
    const bool is_to_device = direction == Direction::kToDevice;
    const void* from = is_to_device ? rows.host : rows.device;
    void* to = is_to_device ? rows.device : rows.host;
    const size_t from_pitch = is_to_device ? rows.host_pitch : rows.device_pitch;
    const size_t to_pitch = is_to_device ? rows.device_pitch : rows.host_pitch;
    const int error = rows.number == 1
                          ? hip_.Memcpy(to, from, rows.bytes, kHipCopyDefault)
                          : hip_.Memcpy2D(to, to_pitch, from, from_pitch, rows.bytes, rows.number, kHipCopyDefault);
    // It may return before all of it has arrived, and the program's kernels on other streams don't wait for that.
    return error == 0 && is_to_device ? hip_.StreamSynchronize(nullptr) : error;
  }

 private:
  const HipFunctions hip_;
  unsigned host_type_ = 1;
};

}  // namespace

std::unique_ptr<Driver> open_hip(void* library) {
  HipFunctions hip{};
  const bool has_all = read_function(library, "hipRuntimeGetVersion", hip.RuntimeGetVersion) &&
                       read_function(library, "hipPointerGetAttributes", hip.PointerGetAttributes) &&
                       read_function(library, "hipMemGetAddressRange", hip.MemGetAddressRange) &&
                       read_function(library, "hipMemcpy", hip.Memcpy) &&
                       read_function(library, "hipMemcpy2D", hip.Memcpy2D) &&
                       read_function(library, "hipStreamSynchronize", hip.StreamSynchronize) &&
                       read_function(library, "hipGetLastError", hip.GetLastError);
  if (!has_all) return nullptr;
  return std::make_unique<Hip>(hip);
}

}  // namespace hocket::interposer::device
