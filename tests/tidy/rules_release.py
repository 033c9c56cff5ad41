# SPDX-License-Identifier: BSD-3-Clause
"""The version: CMakeLists.txt has it, and whatever else names it says the same."""

import re

from tree import Finding

HOME = "CMakeLists.txt"
# Where else it stands, and how; a recipe that isn't there yet is none that could be wrong.
PLACES = {
    "CHANGELOG.md": r"^## (\d+\.\d+\.\d+) \((?:unreleased|\d{4}-\d\d-\d\d)\)$",
    "debian/changelog": r"^hocket \((\d+\.\d+\.\d+)(?:-[^)]*)?\) ",
}
NEEDED = ("CHANGELOG.md",)
PUBLIC_HEADER = "include/hocket/hocket.h"


def _first(tree, path, pattern):
    """(line, what the first match names); (1, None) where nothing matches."""
    match = re.search(pattern, tree.text(path), re.MULTILINE)
    return (tree.text(path).count("\n", 0, match.start()) + 1, match.group(1)) if match else (1, None)


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
        line, found = _first(tree, path, pattern)
        if found != version:
            yield Finding("version", path, line, f"the first version is {found}, in {HOME} it is {version}")
    if tree.exists(PUBLIC_HEADER):
        for part, wanted in zip(("MAJOR", "MINOR", "PATCH"), version.split(".")):
            line, found = _first(tree, PUBLIC_HEADER, rf"^#define HOCKET_VERSION_{part} (\d+)$")
            if found != wanted:
                yield Finding("version", PUBLIC_HEADER, line,
                              f"HOCKET_VERSION_{part} is {found}, in {HOME} the version is {version}")
