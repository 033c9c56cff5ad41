// SPDX-License-Identifier: BSD-3-Clause
// What is asked of a driver of devices that the program has loaded: whose an address is, and to copy what a processor
// can't read or write. Found in the process, never loaded and never linked with; each of them in a file of its own.
//
// Thread safety: any thread. Errors are the driver's own numbers; 0 is success in all of them.
#pragma once

#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace hocket::interposer::device {

// Which processors can access what lies at an address.
enum class Reach : uint8_t {
  kAnybody,    // as far as the driver knows
  kProcessor,  // this process does, by loads and stores: memory that the driver gave out for the host or has
               // registered. Another that reads it by CMA may not: drivers map it as they map their registers.
  kDriver,     // a device's own memory. Managed memory, too: the processor would do, but CMA can't, nor can the
               // processor on every device while kernels run
};

struct Place {
  Reach reach = Reach::kAnybody;
  uintptr_t begin = 0;  // of the allocation
  size_t bytes = 0;     // of it; 0: not known
  void* context = nullptr;
  intptr_t device = 0;
};

// Pieces in equal distances, on the processor's side and on the device's.
struct Rows {
  unsigned char* host;
  size_t host_pitch;
  unsigned char* device;
  size_t device_pitch;  // no less than `bytes`
  size_t bytes;         // of each
  size_t number;
};

enum class Direction : uint8_t { kFromDevice, kToDevice };

class Driver {
 public:
  virtual ~Driver() = default;
  virtual const char* name() const = 0;
  virtual Place find(const void* address) = 0;
  // `place`: what find() said of rows.device. All of it has happened on return.
  virtual int copy(const Place& place, const Rows& rows, Direction direction) = 0;
  // How MPIs call the function that says whether they take pointers of this driver's; they have two names for one.
  struct MpiQueries {
    const char* name;
    const char* other_name;
  };
  virtual MpiQueries mpi_queries() const = 0;
};

template <typename Function>
bool read_function(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

// A driver library, and what its file name begins with. `library` is a handle of dlopen. nullptr: it lacks functions.
struct DriverLibrary {
  const char* file;
  std::unique_ptr<Driver> (*open)(void* library);
};
std::unique_ptr<Driver> open_cuda(void* library);
std::unique_ptr<Driver> open_hip(void* library);
std::unique_ptr<Driver> open_level_zero(void* library);

inline constexpr DriverLibrary kDriverLibraries[] = {
    {"libcuda.so", open_cuda}, {"libamdhip64.so", open_hip}, {"libze_loader.so", open_level_zero}};
inline constexpr size_t kDrivers = sizeof kDriverLibraries / sizeof *kDriverLibraries;

}  // namespace hocket::interposer::device
