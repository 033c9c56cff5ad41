#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The collectives of src/base/collectives.def, for scripts.

    scripts/collectives.py messages      those with one message for all, vector versions aside
    scripts/collectives.py blocks        those with a block for each rank
    scripts/collectives.py names LIST    those of a list, by the table's names, whichever the list has
"""
import difflib
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


def find(word):
    """The table's name of what people may call broadcast, bcast or MPI_Bcast, as the command does; else ValueError."""
    plain = word.lower().replace("-", "_").removeprefix("mpi_")
    known = dict(zip(names(), names())) | {"bcast": "broadcast"}
    if plain in known:
        return known[plain]
    nearest = difflib.get_close_matches(plain, known, 1)
    question = f"did you mean {known[nearest[0]]}? " if nearest else ""
    raise ValueError(f"`{word}` is not a collective: {question}there are {', '.join(names())}")


def find_all(text, others=()):
    """Of a list, `all` being all; `others` are what its reader knows besides."""
    found = []
    for word in text.split(","):
        found += names() if word == "all" else [word if word in others else find(word)]
    return list(dict.fromkeys(found))


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "names":
        try:
            print(",".join(find_all(sys.argv[2], ("wait",))))
        except ValueError as error:
            sys.exit(str(error))
        sys.exit(0)
    if sys.argv[1:] not in (["messages"], ["blocks"]):
        sys.exit(__doc__)
    print(",".join(name for name, has_blocks, is_vector in rows()
                   if not is_vector and has_blocks == (sys.argv[1] == "blocks")))
