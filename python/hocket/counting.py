# SPDX-License-Identifier: BSD-3-Clause
"""What the library counts in this process, for tools that measure programs."""

from __future__ import annotations

from ._api import check, ffi, lib


def count_calls(enabled: bool = True) -> bool:
    """From the next call on, blocking calls of this process are counted, or not any more.

    Ranks that don't count are never seen as late by others: enable it on all.

    Args:
        enabled: False: not any more. What was counted stays.

    Returns:
        What held before.
    """
    return bool(lib.hocket_counters_enable(int(enabled)))


def counters() -> dict[str, int]:
    """What was counted so far: "calls", "bytes", "time_ns", "idle_ns", "late_ns", "waits".

    Returns:
        Numbers that only grow, by name: of all communicators and threads of this process. counter_descriptions() says
        what they are.
    """
    value = ffi.new("uint64_t *")
    found = {}
    for counter in range(lib.hocket_counter_count()):
        check(lib.hocket_counter_read(counter, value))
        found[ffi.string(lib.hocket_counter_name(counter)).decode()] = int(value[0])
    return found


def counter_descriptions() -> dict[str, str]:
    """What each counter is, in a few words, with its unit."""
    return {ffi.string(lib.hocket_counter_name(counter)).decode():
            ffi.string(lib.hocket_counter_description(counter)).decode()
            for counter in range(lib.hocket_counter_count())}
