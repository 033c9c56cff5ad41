// SPDX-License-Identifier: BSD-3-Clause
// Where ranks run.
//
// Thread safety: of a process with one thread.
#pragma once

namespace hocket::supervision {

// Binds the calling process to the `index`-th (modulo their number) of the cores it may use.
void bind_to_core(int index);

}  // namespace hocket::supervision
