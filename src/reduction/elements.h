// SPDX-License-Identifier: BSD-3-Clause
// Element types that C++ has no name for.
//
// Thread safety: values.
#pragma once

namespace hocket::reduction {

// What MINLOC and MAXLOC take, laid out as the C struct that MPI describes: the compiler's padding included.
template <typename Value, typename Index>
struct Pair {
  Value value;
  Index index;
};

// Two numbers one after the other, as C's _Complex, std::complex and Fortran's COMPLEX are.
template <typename Part>
struct Complex {
  Part real;
  Part imaginary;
};

}  // namespace hocket::reduction
