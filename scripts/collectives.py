#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The collectives of src/base/collectives.def, for scripts.

    scripts/collectives.py messages      those with one message for all, vector versions aside
    scripts/collectives.py blocks        those with a block for each rank
"""
import pathlib
import re
import sys

TABLE = pathlib.Path(__file__).resolve().parent.parent / "src/base/collectives.def"


def rows():
    """(name, whether it has a block for each rank, whether it is a vector version) of each, in the table's order."""
    found = []
    for columns in re.findall(r"^HOCKET_COLLECTIVE\((\w+, [^)]*)\)", TABLE.read_text(encoding="utf-8"), re.MULTILINE):
        constant, name, _, _, _, base, taken, given = [column.strip() for column in columns.split(",")][:8]
        found.append((name, "kBlockARank" in taken + given, base != constant))
    return found


def names():
    return tuple(name for name, _, _ in rows())


if __name__ == "__main__":
    if sys.argv[1:] not in (["messages"], ["blocks"]):
        sys.exit(__doc__)
    print(",".join(name for name, has_blocks, is_vector in rows()
                   if not is_vector and has_blocks == (sys.argv[1] == "blocks")))
