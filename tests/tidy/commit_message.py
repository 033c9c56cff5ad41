#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What a commit message must have: a short first line, an empty one, and a body.

usage: commit_message.py FILE     as git writes it for an editor; for .githooks/commit-msg
"""

import pathlib
import re
import sys

SUBJECT_LIMIT = 72
_TRAILER = re.compile(r"[A-Z][A-Za-z]*(?:-[A-Za-z]+)+: ")  # Signed-off-by: and its like give no reason


def problems(message):
    lines = message.strip("\n").split("\n")
    subject, rest = lines[0], lines[1:]
    if len(subject) > SUBJECT_LIMIT:
        yield f"the first line has {len(subject)} columns, {SUBJECT_LIMIT} at most"
    if subject.endswith("."):
        yield "the first line ends with a full stop"
    if rest and rest[0].strip():
        yield "the second line is not empty"
    if not any(line.strip() and not _TRAILER.match(line) for line in rest):
        yield "no body says why"


def typed(text):
    """The message without git's comments and the difference that `commit --verbose` shows below them."""
    text = re.split(r"^# -+ >8 -+$", text, maxsplit=1, flags=re.MULTILINE)[0]
    return "\n".join(line for line in text.split("\n") if not line.startswith("#"))


def main(arguments):
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    message = typed(pathlib.Path(arguments[0]).read_text(encoding="utf-8", errors="replace"))
    # An empty message ends the commit anyway; the others are melted into another commit later.
    if not message.strip() or message.startswith(("fixup! ", "squash! ", "amend! ")):
        return 0
    found = list(problems(message))
    for problem in found:
        print(f"commit message: {problem} (CONTRIBUTING.md, Commits)", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
