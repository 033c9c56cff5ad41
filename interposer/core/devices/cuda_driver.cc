// SPDX-License-Identifier: BSD-3-Clause
// The CUDA driver API, as far as it is needed: names and values from its documentation.
#include "core/devices/device_driver.h"

namespace hocket::interposer::device {
namespace {

using CudaAddress = unsigned long long;
using CudaContext = void*;

enum CudaAttribute : int { kCudaContext = 1, kCudaMemoryType = 2, kCudaIsManaged = 8, kCudaOrdinal = 9 };
enum CudaMemoryType : unsigned { kCudaHost = 1, kCudaDevice = 2, kCudaArray = 3, kCudaUnified = 4 };

struct CudaCopy2D {
  size_t from_x, from_y;
  unsigned from_type;
  const void* from_host;
  CudaAddress from;
  void* from_array;
  size_t from_pitch;
  size_t to_x, to_y;
  unsigned to_type;
  void* to_host;
  CudaAddress to;
  void* to_array;
  size_t to_pitch;
  size_t bytes, number;
};

struct CudaFunctions {
  int (*PointerGetAttributes)(unsigned, const int*, void**, CudaAddress);
  int (*PointerGetAttribute)(void*, int, CudaAddress);
  int (*MemGetAddressRange)(CudaAddress*, size_t*, CudaAddress);
  int (*Memcpy)(CudaAddress, CudaAddress, size_t);
  int (*Memcpy2D)(const CudaCopy2D*);
  int (*StreamSynchronize)(void*);
  int (*CtxGetCurrent)(CudaContext*);
  int (*CtxPushCurrent)(CudaContext);
  int (*CtxPopCurrent)(CudaContext*);
  int (*DevicePrimaryCtxRetain)(CudaContext*, int);
  int (*DevicePrimaryCtxRelease)(int);
};

// Where copies are made: in the context of the memory, whatever the calling thread has.
class InCudaContext {
 public:
  InCudaContext(const CudaFunctions& cuda, const Place& place) : cuda_(cuda) {
    CudaContext current = nullptr, wanted = place.context;
    if (cuda.CtxGetCurrent(&current) != 0) current = nullptr;
    // Memory of pools, and what is mapped by hand, belongs to a device and no context.
    if (wanted == nullptr && current == nullptr) {
      device_ = static_cast<int>(place.device);
      error_ = cuda.DevicePrimaryCtxRetain(&wanted, device_);
      is_retained_ = error_ == 0;
    }
    if (error_ != 0 || wanted == nullptr || wanted == current) return;
    error_ = cuda.CtxPushCurrent(wanted);
    is_pushed_ = error_ == 0;
  }
  ~InCudaContext() {
    CudaContext popped = nullptr;
    if (is_pushed_) cuda_.CtxPopCurrent(&popped);
    if (is_retained_) cuda_.DevicePrimaryCtxRelease(device_);
  }
  InCudaContext(const InCudaContext&) = delete;
  InCudaContext& operator=(const InCudaContext&) = delete;

  int error() const { return error_; }

 private:
  const CudaFunctions& cuda_;
  int device_ = 0;
  int error_ = 0;
  bool is_retained_ = false, is_pushed_ = false;
};

CudaAddress cuda_address(const void* pointer) { return static_cast<CudaAddress>(reinterpret_cast<uintptr_t>(pointer)); }

class Cuda final : public Driver {
 public:
  explicit Cuda(const CudaFunctions& functions) : cuda_(functions) {}
  const char* name() const override { return "CUDA"; }
  MpiQueries mpi_queries() const override { return {"MPIX_Query_cuda_support", "MPIX_Query_cuda_support"}; }

  Place find(const void* address) override {
    // Of an address that it doesn't know it says 0 to all of them.
    constexpr int kAsked[] = {kCudaMemoryType, kCudaIsManaged, kCudaContext};
    unsigned type = 0;
    int is_managed = 0;
    Place place;
    void* answers[] = {&type, &is_managed, &place.context};
    // So it is before cuInit().
    if (cuda_.PointerGetAttributes(3, kAsked, answers, cuda_address(address)) != 0) return {};
    if (is_managed == 0 && type == kCudaHost) place.reach = Reach::kProcessor;
    if (is_managed != 0 || type == kCudaDevice || type == kCudaArray || type == kCudaUnified)
      place.reach = Reach::kDriver;
    if (place.reach != Reach::kDriver) return place;
    if (int ordinal = 0; place.context == nullptr) {
      if (cuda_.PointerGetAttribute(&ordinal, kCudaOrdinal, cuda_address(address)) == 0) place.device = ordinal;
    }
    CudaAddress begin = 0;
    size_t bytes = 0;
    if (cuda_.MemGetAddressRange(&begin, &bytes, cuda_address(address)) == 0) {
      place.begin = static_cast<uintptr_t>(begin);
      place.bytes = bytes;
    }
    return place;
  }

  int copy(const Place& place, const Rows& rows, Direction direction) override {
    const InCudaContext entered(cuda_, place);
    if (entered.error() != 0) return entered.error();
    const bool is_to_device = direction == Direction::kToDevice;
    const CudaAddress host = cuda_address(rows.host), device = cuda_address(rows.device);
    const CudaAddress from = is_to_device ? host : device, to = is_to_device ? device : host;
    int error = 0;
    if (rows.number == 1) {
      error = cuda_.Memcpy(to, from, rows.bytes);
    } else {
      CudaCopy2D all{};
      all.from_type = all.to_type = kCudaUnified;
      all.from = from;
      all.to = to;
      all.from_pitch = is_to_device ? rows.host_pitch : rows.device_pitch;
      all.to_pitch = is_to_device ? rows.device_pitch : rows.host_pitch;
      all.bytes = rows.bytes;
      all.number = rows.number;
      error = cuda_.Memcpy2D(&all);
    }
    // From pageable memory it returns before all of it has arrived, and kernels of the program's on other streams
    // don't wait for that.
    return error == 0 && is_to_device ? cuda_.StreamSynchronize(nullptr) : error;
  }

 private:
  const CudaFunctions cuda_;
};

}  // namespace

std::unique_ptr<Driver> open_cuda(void* library) {
  CudaFunctions cuda{};
  const bool has_all = read_function(library, "cuPointerGetAttributes", cuda.PointerGetAttributes) &&
                       read_function(library, "cuPointerGetAttribute", cuda.PointerGetAttribute) &&
                       read_function(library, "cuMemGetAddressRange_v2", cuda.MemGetAddressRange) &&
                       read_function(library, "cuMemcpy", cuda.Memcpy) &&
                       read_function(library, "cuMemcpy2DUnaligned_v2", cuda.Memcpy2D) &&
                       read_function(library, "cuStreamSynchronize", cuda.StreamSynchronize) &&
                       read_function(library, "cuCtxGetCurrent", cuda.CtxGetCurrent) &&
                       read_function(library, "cuCtxPushCurrent_v2", cuda.CtxPushCurrent) &&
                       read_function(library, "cuCtxPopCurrent_v2", cuda.CtxPopCurrent) &&
                       read_function(library, "cuDevicePrimaryCtxRetain", cuda.DevicePrimaryCtxRetain) &&
                       read_function(library, "cuDevicePrimaryCtxRelease", cuda.DevicePrimaryCtxRelease);
  if (!has_all) return nullptr;
  return std::make_unique<Cuda>(cuda);
}

}  // namespace hocket::interposer::device
