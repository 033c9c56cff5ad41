# SPDX-License-Identifier: BSD-3-Clause
"""What the house watches without a limit: sizes, and in how many files a thing of one kind is known. To be compared
before and after a change of the order of things."""

import collections
import pathlib
import re
import statistics

from rules_classes import classes, functions_of, is_record
from rules_glossary import words_of
from rules_size import functions_of_file
from tree import split_comments

# One of each kind stands for all: a word that means nothing else, where it counts, and what of that is the thing's own.
TOUCHED = (
    ("a collective (exscan) outside src/algorithms", r"\bexscan\b", ("",), ("src/algorithms/",)),
    ("a function of MPI that is caught (Win_test)", r"\bwin test\b", ("interposer/",), ()),
    ("an engine (nic) in the library, outside its own files", r"\bnic(?!s? key)s?\b", ("src/", "interposer/"),
     ("src/engines/nic/", "src/carriers/nic_")),
    ("an impairment of the lab (reorder)", r"\breorder(?:ed)?\b", ("",), ()),
)
_NO_PROGRAM = (".md", ".svg", ".json", ".png", ".txt")


def touched(tree, word, within, own):
    """Files, tests and pages aside, whose code or messages have the word; what only comments say doesn't count."""
    pattern = re.compile(word)
    return [path for path in tree.paths
            if path.startswith(within) and not path.startswith(("tests/", "docs/", *own))
            and not path.endswith(_NO_PROGRAM)
            and pattern.search(words_of(path + "\n" + split_comments(path, tree.text(path))[0]))]


def counts(tree):
    """(what, its count) of each."""
    folders = collections.Counter(str(pathlib.PurePath(path).parent) for path in tree.sources())
    yield "largest folders", ", ".join(f"{folder} {count} sources" for folder, count in folders.most_common(3))
    lines, path = max((len(tree.lines(path)), path) for path in tree.sources())
    yield "longest file", f"{path} {lines} lines"
    lengths = sorted(count for path in tree.sources() for _, _, count in functions_of_file(tree, path))
    if lengths:
        yield f"lines of {len(lengths)} functions", (f"median {statistics.median_low(lengths)}, "
                                                     f"p99 {lengths[len(lengths) * 99 // 100]}, most {lengths[-1]}")
    sizes = [(0 if is_record(made) else len(made.members), len(functions_of(made)), made.name)
             for _, made in classes(tree)]
    if sizes:
        members, functions = max(sizes), max(sizes, key=lambda size: size[1])
        yield "largest classes", f"{members[2]} {members[0]} data members, {functions[2]} {functions[1]} functions"
    for what, word, within, own in TOUCHED:
        yield f"files that know of {what}", str(len(touched(tree, word, within, own)))
