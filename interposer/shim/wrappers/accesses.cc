// SPDX-License-Identifier: BSD-3-Clause
// One-sided accesses: a target that waits is rung, as it may have to poll before they can go on. They leave no record,
// which would take as long as a store into a window that is mapped.
#include <climits>
#include <cstdint>
#include <type_traits>

#include "shim/requests/waits.h"
#include "shim/wrappers/wrappers.h"

namespace interposer = hocket::interposer;

#define HOCKET_ACCESS_ANY(name, parameters, arguments)              \
  HOCKET_WRAP_IN(static_cast<void>(0), name, parameters, arguments, \
                 (interposer::ring_window(window, rank), interposer::wait_in_mpi(pass_through, pass_on)))

#define HOCKET_COUNT int
#define HOCKET_MPI_ACCESS HOCKET_ACCESS_ANY
#define HOCKET_MPI_ACCESS_ONE HOCKET_ACCESS_ANY
#include "shim/underneath/accesses.def"
#undef HOCKET_COUNT

#if HOCKET_HAS_COUNT_FUNCTIONS
namespace {

template <typename Narrow, typename Wide>
bool fits(Wide value) {
  if constexpr (std::is_same_v<Narrow, int> && std::is_integral_v<Wide>)
    return value >= INT_MIN && value <= INT_MAX;
  else
    return true;
}

// By the function with int, for an MPI that is older than those with MPI_Count (narrow.h).
template <typename... Narrow, typename... Wide>
int call_narrowed(int (*function)(Narrow...), Wide... values) {
  return (fits<Narrow>(values) && ...) ? function(static_cast<Narrow>(values)...) : MPI_ERR_COUNT;
}

}  // namespace

#define HOCKET_ACCESS_COUNT(prefix, next, name, parameters, arguments)                                       \
  HOCKET_EXPORT int prefix##name##_c parameters {                                                            \
    interposer::ring_window(window, rank);                                                                   \
    return interposer::wait_in_mpi([&] {                                                                     \
      if (const auto function = interposer::next().name##_c; function != nullptr) return function arguments; \
      return call_narrowed(interposer::next().name, HOCKET_UNPACKED arguments);                              \
    });                                                                                                      \
  }
#define HOCKET_COUNT MPI_Count
#define HOCKET_MPI_ACCESS(...)                     \
  HOCKET_ACCESS_COUNT(MPI_, next_mpi, __VA_ARGS__) \
  HOCKET_ACCESS_COUNT(PMPI_, next_pmpi, __VA_ARGS__)
#include "shim/underneath/accesses.def"
#undef HOCKET_COUNT
#endif
