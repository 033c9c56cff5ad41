// SPDX-License-Identifier: BSD-3-Clause
#include "c_api/internal/windows.h"

#include "c_api/handles.h"

namespace hocket::c_api {
namespace {

platform::CommonFiles& files_of(const hocket_context_t* context) { return context->context->region().common_files(); }

}  // namespace

void window_comes(hocket_context_t* context, uint64_t window, const void* memory, size_t bytes) {
  files_of(context).come(window, memory, bytes);
}

void window_closes(hocket_context_t* context, uint64_t window) { files_of(context).close(window); }
void window_stays(hocket_context_t* context, uint64_t window) { files_of(context).reopen(window); }
void window_goes(hocket_context_t* context, uint64_t window) { files_of(context).go(window); }

WindowUses window_uses(const hocket_context_t* context) {
  const platform::CommonFiles& files = files_of(context);
  return {files.times_in_place(), files.times_copied()};
}

}  // namespace hocket::c_api
