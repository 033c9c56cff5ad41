# SPDX-License-Identifier: BSD-3-Clause
"""Bars for a terminal: times of several sides of several cases."""

import sys

WIDTH = 40
GREEN, PLAIN = "\033[32m", "\033[0m"


def bar(share, width=WIDTH, blocks="▏▎▍▌▋▊▉█"):
    """A bar of `share` of the width, at least a trace; in eighths of a column, or of # where there are no blocks."""
    if not blocks:
        return "#" * max(1, round(share * width))
    eighths = max(1, round(share * width * len(blocks)))
    whole, rest = divmod(eighths, len(blocks))
    return blocks[-1] * whole + (blocks[rest - 1] if rest else "")


def chart(cases, out=None):
    """`cases`: [(title, [(side, seconds)])]. Each case has a scale of its own; the shortest bar of it is green on a
    terminal."""
    out = out or sys.stdout
    blocks = "▏▎▍▌▋▊▉█" if (out.encoding or "").lower().startswith("utf") else ""
    lines = []
    for title, sides in cases:
        longest, shortest = max(seconds for _, seconds in sides), min(seconds for _, seconds in sides)
        lines.append(title)
        for side, seconds in sides:
            drawn = bar(seconds / longest if longest else 0, blocks=blocks)
            text = f"  {side:<14} {drawn:<{WIDTH}} {seconds:9.3f} s"
            lines.append(GREEN + text + PLAIN if seconds == shortest and out.isatty() else text)
    return "\n".join(lines) + "\n"
