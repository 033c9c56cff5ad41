// SPDX-License-Identifier: BSD-3-Clause
// Where in the program a call comes from. What returns to the MPI's own code, as all calls of Fortran do, comes from
// whoever called that; there the stack is walked, which takes some hundred nanoseconds.
//
// Thread safety: any thread.
#pragma once

#include <string_view>

namespace hocket::interposer {

// `address`: to which the call returns. The first on the stack that belongs neither to an MPI nor to hocket; `address`
// itself where there is none.
const void* caller_in_program(const void* address);

// Of a library's file: of an MPI, its Fortran bindings, or hocket.
bool is_mpis_file(std::string_view path);

}  // namespace hocket::interposer
