// SPDX-License-Identifier: BSD-3-Clause
// HOCKET_THREAD_SANITIZER is defined where the thread sanitizer watches: it knows no fences and few addresses.
#pragma once

#if defined(__SANITIZE_THREAD__)
#define HOCKET_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HOCKET_THREAD_SANITIZER 1
#endif
#endif
