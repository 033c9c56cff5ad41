// SPDX-License-Identifier: BSD-3-Clause
// What libbpf says when something fails: lines, and the verifier's log, of which the end belongs to the error.
//
// Thread safety: one thread at a time.
#pragma once

#include <string>

#include "base/status.h"

namespace hocket::bpf {

// From now on libbpf's words are kept and not printed; those of before are forgotten.
void keep_words();
// `what`, why (an errno, or its negative as libbpf gives it), and the last words.
Status failed(const std::string& what, int error);

}  // namespace hocket::bpf
