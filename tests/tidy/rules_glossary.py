# SPDX-License-Identifier: BSD-3-Clause
"""Words that this house does not use, each with what it says instead. A word is found however it is written: of
`spin_count` also spinCount, kSpinCount, SPIN_COUNT, spin-count and `spin count`. What is renamed leaves its old name
here, so that it doesn't come back."""

import pathlib
import re

from tree import Finding

CODE, DOCS, BOTH = "code", "docs", "both"

# Word or words -> what to say instead, and where this holds: in code with its comments and messages, in pages, in both.
GLOSSARY = {
    "begun": ("started, or pending", BOTH),
    "bell": ("doorbell", BOTH),
    "dst": ("destination", DOCS),
    "ear": ("wake-up socket", BOTH),
    "elems": ("elements", BOTH),
    "fixme": ("a mend, or a sentence about what is not served", BOTH),
    "func": ("function", BOTH),
    "gifts": ("descriptors", BOTH),
    "handed on": ("passed through, or passed on", BOTH),
    "hands on": ("passes through, or passes on", BOTH),
    "helper": ("what it does", BOTH),
    "idx": ("index", BOTH),
    "impl": ("what sets it apart from others", BOTH),
    "mcast": ("multicast", DOCS),
    "mgr": ("what it does", BOTH),
    "nap": ("poll interval, or pause", BOTH),
    "naps": ("poll interval, or pause", BOTH),
    "nbytes": ("bytes", BOTH),
    "num procs": ("size, or ranks", BOTH),
    "patience": ("backoff, or limit", BOTH),
    "rdv": ("rendezvous", BOTH),
    "rndv": ("rendezvous", BOTH),
    "stash": ("unexpected queue", BOTH),
    "todo": ("a mend, or a sentence about what is not served", BOTH),
    "utils": ("what its parts have in common", BOTH),
    "whitelist": ("what is allowed", BOTH),
}


def words_of(text):
    """The text in small words with one blank between them: `kSpinCount, SPIN_COUNT` is `k spin count, spin count`."""
    text = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[_-]+", " ", text)
    return re.sub(r"[ \t]+", " ", text).lower()


def words_in(scope):
    return [word for word, (_, where) in GLOSSARY.items() if where in (scope, BOTH)]


def check_glossary(tree):
    sources = set(tree.sources())
    scopes = {scope: re.compile(r"\b(" + "|".join(words_in(scope)) + r")\b") for scope in (CODE, DOCS)}
    for path in tree.paths:
        scope = DOCS if path.endswith(".md") else CODE
        # The table itself and its tests name what they look for.
        if (scope == CODE and path not in sources) or str(pathlib.PurePath(path).parent) == "tests/tidy":
            continue
        for number, line in enumerate(words_of(tree.text(path)).split("\n"), 1):
            for word in scopes[scope].findall(line):
                yield Finding("glossary", path, number, f"`{word}`: here one says {GLOSSARY[word][0]}")
