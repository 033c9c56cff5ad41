#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws what a command shows on a terminal, such as `hocket top`, as SVG:

  scripts/site/terminal_picture.py docs/figures/top.svg --size 104x22 --seconds 5 -- build/release/bin/hocket top

The command runs on a terminal of that size for so long, and its last picture is drawn. Of what terminals understand
this knows what hocket's commands write."""

import argparse
import fcntl
import html
import os
import pty
import re
import select
import signal
import struct
import termios
import time

SEQUENCE = re.compile(r"\033\[([0-9;?]*)([A-Za-z])")
LETTER_WIDTH, LINE_HEIGHT, MARGIN = 7.85, 17, 12
COLOURS = {"31": "#ff7b72", "32": "#7ee787", "33": "#e3b341"}
PLAIN, BACKGROUND, DIM = "#e6edf3", "#0d1117", "#8b949e"


def written(command, columns, lines, seconds):
    """What the command has written on a terminal within that time; then it is ended."""
    process, terminal = pty.fork()
    if process == 0:
        os.environ["TERM"] = "xterm-256color"
        os.environ.pop("NO_COLOR", None)
        os.execvp(command[0], command)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    output, end = b"", time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        if select.select([terminal], [], [], left)[0]:
            output += os.read(terminal, 65536)
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    os.close(terminal)
    return output.decode(errors="replace")


def last_picture(text):
    """The last whole one: from a way home to what clears the rest."""
    return text.rpartition("\033[J")[0].rpartition("\033[H")[2]


def spans(line):
    """(style, text) of a line, one after the other."""
    style, at = "", 0
    for sequence in SEQUENCE.finditer(line):
        yield style, line[at:sequence.start()]
        at = sequence.end()
        if sequence[2] == "m":
            style = "" if sequence[1] in ("", "0") else sequence[1]
    yield style, line[at:]


def attributes(style):
    words = style.split(";")
    colour = next((COLOURS[word] for word in words if word in COLOURS), DIM if "2" in words else PLAIN)
    return f'fill="{colour}"' + (' font-weight="bold"' if "1" in words else "")


def drawn(lines, columns):
    width, height = columns * LETTER_WIDTH + 2 * MARGIN, len(lines) * LINE_HEIGHT + 2 * MARGIN
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
             f'viewBox="0 0 {width:.0f} {height:.0f}">',
             f'<rect width="100%" height="100%" rx="8" fill="{BACKGROUND}"/>',
             "<g font-family=\"ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace\" font-size=\"13\">"]
    for number, line in enumerate(lines):
        column, base = 0, MARGIN + (number + 0.75) * LINE_HEIGHT
        for style, text in spans(line):
            if text.strip():
                lead = len(text) - len(text.lstrip())
                shown = text.strip().replace(" ", "\u00a0")  # or several would be one
                parts.append(f'<text x="{MARGIN + (column + lead) * LETTER_WIDTH:.1f}" y="{base:.1f}" '
                             f'textLength="{len(shown) * LETTER_WIDTH:.1f}" {attributes(style)}>'
                             f"{html.escape(shown, quote=False)}</text>")
            column += len(text)
    return "\n".join([*parts, "</g>", "</svg>", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("picture", help="the file to write")
    parser.add_argument("--size", default="100x24", help="columns and lines of the terminal (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=4, help="how long the command runs (default: %(default)s)")
    parser.add_argument("command", nargs="+")
    asked = parser.parse_args()
    columns, lines = (int(number) for number in asked.size.split("x"))
    picture = last_picture(written(asked.command, columns, lines, asked.seconds))
    if not picture.strip():
        parser.exit(1, f"terminal_picture.py: `{' '.join(asked.command)}` drew no whole picture in "
                       f"{asked.seconds:g} seconds\n")
    with open(asked.picture, "w", encoding="utf-8") as file:
        file.write(drawn(picture.replace("\r", "").split("\n"), columns))


if __name__ == "__main__":
    main()
