# SPDX-License-Identifier: BSD-3-Clause
"""The version: CMakeLists.txt has it, and whatever else names it says the same. Tables: they have numbers."""

import re

from tree import Finding

HOME = "CMakeLists.txt"
# Where else it stands, and how, each time; a recipe that isn't there yet is none that could be wrong.
PLACES = {
    "CHANGELOG.md": r"^## (\d+\.\d+\.\d+) \((?:unreleased|\d{4}-\d\d-\d\d)\)$",
    "debian/changelog": r"^hocket \((\d+\.\d+\.\d+)(?:-[^)]*)?\) ",
    "packaging/spack/package.py": r"^    version\(\"(\d+\.\d+\.\d+)\"|/hocket-(\d+\.\d+\.\d+)-source\.tar\.gz",
    "packaging/conda/recipe.yaml": r"^  version: \"(\d+\.\d+\.\d+)\"$",
    "packaging/container/Containerfile": r"^ARG VERSION=(\d+\.\d+\.\d+)$",
    "packaging/action/action.yml": r"^    default: (\d+\.\d+\.\d+)$",
    "packaging/README.md": r"\bv(\d+\.\d+\.\d+)\b",
    "docs/get-it.md": r"\bhocket[ -](\d+\.\d+\.\d+)\b|@v(\d+\.\d+\.\d+)\b",
}
# Whose first is meant: they tell of earlier versions behind it.
HISTORIES = ("CHANGELOG.md", "debian/changelog")
NEEDED = ("CHANGELOG.md",)
TABLES = "bench/results/"
NO_NUMBER = "to be measured"
PUBLIC_HEADER = "include/hocket/hocket.h"


def _all(tree, path, pattern):
    """(line, what it names) of each match; one (1, None) where nothing matches."""
    text = tree.text(path)
    matches = re.finditer(pattern, text, re.MULTILINE)
    return [(text.count("\n", 0, match.start()) + 1, match[match.lastindex]) for match in matches] or [(1, None)]


def _first(tree, path, pattern):
    return _all(tree, path, pattern)[0]


def check_versions(tree):
    if not tree.exists(HOME):
        return
    _, version = _first(tree, HOME, r"^project\(\w+ VERSION (\d+\.\d+\.\d+)\b")
    if version is None:
        yield Finding("version", HOME, 1, "project() names no VERSION of three numbers")
        return
    for path, pattern in PLACES.items():
        if not tree.exists(path):
            if path in NEEDED:
                yield Finding("version", path, 1, "there is no such file")
            continue
        for line, found in _all(tree, path, pattern)[:1 if path in HISTORIES else None]:
            if found != version:
                yield Finding("version", path, line, f"the version is {found}, in {HOME} it is {version}")
    if tree.exists(PUBLIC_HEADER):
        for part, wanted in zip(("MAJOR", "MINOR", "PATCH"), version.split(".")):
            line, found = _first(tree, PUBLIC_HEADER, rf"^#define HOCKET_VERSION_{part} (\d+)$")
            if found != wanted:
                yield Finding("version", PUBLIC_HEADER, line,
                              f"HOCKET_VERSION_{part} is {found}, in {HOME} the version is {version}")


def check_measured(tree):
    for path in tree.paths:
        if not path.startswith(TABLES) or not path.endswith(".md"):
            continue
        for number, line in enumerate(tree.text(path).splitlines(), 1):
            if NO_NUMBER in line:
                yield Finding("measured", path, number, f"'{NO_NUMBER}' is not yet a number")
